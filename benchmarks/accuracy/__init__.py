"""Distance to the truth by algorithm, rows and settings."""

from benchmarks.accuracy import choosing, defaults, dof, networks, recovery, stability
from benchmarks.common.command import Command, Part

COMMAND = Command(
    {
        "choosing": Part(choosing.run, choosing.options),
        "defaults": Part(defaults.run, defaults.options),
        "recovery": Part(recovery.run, recovery.options),
        "dof": Part(dof.run, dof.options),
        "networks": Part(networks.run, networks.options),
        "stability": Part(stability.run),
    }
)
