"""Experiments of the papers, repeated: `serape study NAME`."""

from serape.studies import dos2011, fastiamb2005, hpc2010, pena2005
from serape.studies.study import Outcome, Settings, Study, run

STUDIES: dict[str, Study] = {
    study.name: study
    for module in (pena2005, hpc2010, fastiamb2005, dos2011)
    for study in module.STUDIES
}  # fmt: skip

__all__ = ["STUDIES", "Outcome", "Settings", "Study", "run"]
