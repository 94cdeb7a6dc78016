"""From local to global: structure among several variables."""
