"""Other packages: how each is run, in an environment of its own, and the versions that are compared."""
