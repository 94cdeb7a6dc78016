"""Pearson's X² test, X² = Σ (n_xyz − e_xyz)² / e_xyz with e_xyz = n_xz n_yz / n_z."""

from serape.independence.contingency import IN_TABLES, ContingencyTest


class X2(ContingencyTest):
    """Pearson's X² against the chi-square distribution; no continuity correction."""

    name = "x2"
    statistic = "x2"
    core_answers = IN_TABLES
    made_again_from = ("dof", "reliability", "minimum")
