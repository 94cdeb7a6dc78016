"""Time, tests and memory as variables, rows and threads grow."""

from benchmarks.common.command import Command, Part
from benchmarks.scaling import cores, growth, packing, skeletons

COMMAND = Command(
    {
        "growth": Part(growth.run, growth.options, "up to 10,000 variables and 100,000 rows"),
        "cores": Part(cores.run, cores.options, "small tables alone"),
        "packing": Part(packing.run, packing.options, "2,000 rows"),
        "skeletons": Part(skeletons.run, skeletons.options, "the first of the data alone"),
    },
    default="growth",
)
