"""Measurements of serape, as commands: `python -m benchmarks` lists them, docs/benchmarks.md explains them."""
