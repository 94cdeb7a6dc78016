"""The parts of `kills.py`."""
