"""Questions answered on a GPU: the same integers as in the core, so the same answers."""
