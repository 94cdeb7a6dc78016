"""The questions a user asks: one file for each."""
