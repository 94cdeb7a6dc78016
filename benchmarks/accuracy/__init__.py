"""Distance to the truth by algorithm, rows and settings."""

from benchmarks.accuracy import (
    automatic,
    blankets,
    blocks,
    calibration,
    causes,
    choosing,
    contexts,
    covariance,
    discoveries,
    dof,
    few_rows,
    knockoffs,
    knowledge,
    networks,
    probes,
    recovery,
    selector,
    small_tables,
    soundness,
    stability,
    structures,
)
from benchmarks.common.command import Command, Part

COMMAND = Command(
    {
        "automatic": Part(automatic.run, automatic.options),
        "blankets": Part(blankets.run, blankets.options),
        "blocks": Part(blocks.run, blocks.options),
        "calibration": Part(calibration.run, calibration.options),
        "causes": Part(causes.run, causes.options),
        "hidden": Part(causes.run_hidden, causes.options),
        "choosing": Part(choosing.run, choosing.options),
        "contexts": Part(contexts.run, contexts.options),
        "covariance": Part(covariance.run, covariance.options),
        "discoveries": Part(discoveries.run, discoveries.options),
        "recovery": Part(recovery.run, recovery.options),
        "selector": Part(selector.run, selector.options),
        "dof": Part(dof.run, dof.options),
        "few-rows": Part(few_rows.run, few_rows.options),
        "small-tables": Part(small_tables.run, small_tables.options),
        "ldecc": Part(causes.run_ldecc, causes.options),
        "knockoffs": Part(knockoffs.run, knockoffs.options),
        "knowledge": Part(knowledge.run, knowledge.options),
        "networks": Part(networks.run, networks.options),
        "probes": Part(probes.run, probes.options),
        "soundness": Part(soundness.run, soundness.options),
        "stability": Part(stability.run),
        "structures": Part(structures.run, structures.options),
    }
)
