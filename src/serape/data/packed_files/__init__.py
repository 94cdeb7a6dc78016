"""Packed files: the columns of a table as the core uses them, in a file that is mapped into memory.

`layout` is the format, `descriptions` the kinds and levels of columns in it. `opened` maps a file and `writing` writes
one. docs/packed.md describes the format byte by byte.
"""
