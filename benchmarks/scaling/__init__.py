"""Time, tests and memory as variables, rows and threads grow."""

from benchmarks.common.command import Command, Part
from benchmarks.scaling import growth, skeletons

COMMAND = Command(
    {
        "growth": Part(growth.run, growth.options, "up to 10,000 variables and 100,000 rows"),
        "skeletons": Part(skeletons.run, skeletons.options, "the first of the data alone"),
    },
    default="growth",
)
