"""The parts of `mutants.py`: small changes of the code, and whether the tests notice them."""
