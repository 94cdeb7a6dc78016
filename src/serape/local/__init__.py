"""Blankets and neighbourhoods of one target, one file for each algorithm or family."""
