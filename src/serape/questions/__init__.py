"""The questions a user asks: one file each."""
