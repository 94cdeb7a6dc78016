"""What the commands share: data, timing, output, how a command is made, and the internals of serape in one place."""
