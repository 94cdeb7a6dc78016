"""The G² (likelihood ratio) test, G² = 2 Σ n_xyz ln(n_xyz n_z / (n_xz n_yz))."""

from serape.independence.contingency import ContingencyTest


class G2(ContingencyTest):
    """G² against the chi-square distribution."""

    name = "g2"
    statistic = "g2"
    likelihood_ratio = True
