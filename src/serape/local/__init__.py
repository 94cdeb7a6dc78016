"""Blankets and neighbourhoods of one target, one file an algorithm or family."""
