"""Time, tests and memory as variables, rows and threads grow."""

from benchmarks.common.command import Command, Part
from benchmarks.scaling import cluster, cores, gpu, growth, packing, skeletons, wide

COMMAND = Command(
    {
        "growth": Part(growth.run, growth.options, "up to 10,000 variables and 100,000 rows"),
        "cores": Part(cores.run, cores.options, "small tables alone"),
        "cluster": Part(cluster.run, cluster.options, "small tables alone"),
        "gpu": Part(gpu.run, gpu.options, "small tables alone"),
        "wide": Part(wide.run, wide.options, "999 variables"),
        "packing": Part(packing.run, packing.options, "2,000 rows"),
        "skeletons": Part(skeletons.run, skeletons.options, "the first of the data alone"),
    },
    default="growth",
)
