"""Skeletons: which variables are adjacent, and the sets that separate those that are not."""
