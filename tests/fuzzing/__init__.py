"""The parts of `make fuzz`: each has `attack(seed)`, which says what became of one random input."""
