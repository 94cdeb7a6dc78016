"""Experiments of the papers, repeated: `serape study NAME`. docs/papers.md has a row for each."""

from serape.studies import (
    dos2011,
    fastiamb2005,
    hpc2010_accuracy,
    hpc2010_scaling,
    pena2005_table4,
    pena2005_table5,
)
from serape.studies.study import Study, StudyOutcome, StudySettings, page_of, run

STUDIES: dict[str, Study] = {
    study.name: study
    for module in (pena2005_table4, pena2005_table5, hpc2010_accuracy, hpc2010_scaling, fastiamb2005, dos2011)
    for study in module.STUDIES
}  # fmt: skip

__all__ = ["STUDIES", "Study", "StudyOutcome", "StudySettings", "page_of", "run"]
