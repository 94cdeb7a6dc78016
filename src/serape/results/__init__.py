"""Results: blankets, structures, paths and stabilities, with their explanations, pictures and reports."""
