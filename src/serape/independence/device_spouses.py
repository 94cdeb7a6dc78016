"""HPC's search for spouses on a device; children that it leaves open are answered by the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from serape.engines.gpu.pairs import DeviceRules
from serape.engines.gpu.planes import DevicePlanes
from serape.engines.gpu.spouses import DeviceSpouses, SpousesOfChild
from serape.independence.device_separations import DeviceSeparationResult
from serape.independence.outcomes import Poll, Tally
from serape.independence.screens import CandidateGroups

if TYPE_CHECKING:
    from serape.independence.contingency import ContingencyTest, Spouses


def find_spouses_on_device(
    test: ContingencyTest,
    planes: DevicePlanes,
    target: int,
    groups: CandidateGroups,
    children: Sequence[int],
    log_alpha: float,
    *,
    as_written: bool = False,
    max_size: int | None = None,
    threads: int = 1,
    poll: Poll | None = None,
) -> list[Spouses] | None:
    """Do as `ContingencyTest.find_spouses`, in the order of strength; None if the core must."""
    assert not as_written
    rules = DeviceRules(test.dof, test.reliability, test.minimum)
    if not DeviceSpouses.can_search(planes, rules, target, groups.all, children):
        return None
    found = DeviceSpouses(planes, rules, target, groups.all, log_alpha).find(children, poll)
    left = [child for child, one in zip(children, found, strict=True) if one is None]
    core = iter(test.find_spouses(target, groups, left, log_alpha, max_size=max_size, threads=threads, poll=poll))
    return [
        next(core) if one is None else _as_core(one, int(child), planes, test.rows, log_alpha)
        for child, one in zip(children, found, strict=True)
    ]


def _as_core(one: SpousesOfChild, child: int, planes: DevicePlanes, rows: int | None, log_alpha: float) -> Spouses:
    screened, separated = Tally(), Tally()
    for size, (tests, skipped) in one.screened.items():
        screened.add(size, tests, skipped)
    separated.add(2, *one.separated.tests)
    answers = DeviceSeparationResult(one.separated, (child,), planes, rows, log_alpha)
    return one.separated.pool, screened, answers, separated
