"""The G² (likelihood ratio) test, G² = 2 Σ n_xyz ln(n_xyz n_z / (n_xz n_yz))."""

from serape.independence.contingency import IN_TABLES, ContingencyTest


class G2(ContingencyTest):
    """G² against the chi-square distribution."""

    name = "g2"
    statistic = "g2"
    likelihood_ratio = True
    core_answers = IN_TABLES | {"all pairs"}
    kept_on_device = "planes"
    made_again_from = ("dof", "reliability", "minimum")
