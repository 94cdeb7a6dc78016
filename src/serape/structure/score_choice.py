"""The scores by name, and which of them suits the columns of a table."""

from __future__ import annotations

from collections.abc import Mapping

from serape.data.table import Table
from serape.structure.block_score import BlockScore
from serape.structure.gaussian_score import BGe, GaussianBIC, GaussianEBIC, GaussianScore
from serape.structure.mixed_score import ConditionalGaussianBIC, ConditionalGaussianEBIC

NUMBER_SCORES: Mapping[str, type[GaussianScore | ConditionalGaussianBIC | BlockScore]] = {
    score.name: score
    for score in (GaussianBIC, GaussianEBIC, BGe, ConditionalGaussianBIC, ConditionalGaussianEBIC, BlockScore)
}
"""The scores that take columns of numbers."""


def automatic_score(table: Table, categorical: str) -> str:
    """Return the meaning of `score="auto"`: `categorical` is that of an algorithm on columns of categories."""
    numbers = set(table.continuous).intersection(table.searched)
    return BlockScore.name if numbers else categorical
