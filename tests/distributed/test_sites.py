"""Sites that keep their rows give the answers of all rows, and refuse tables of small counts."""

from __future__ import annotations

import numpy as np
import pytest

import serape
from serape.sites import Answers, Site, SitesTest


@pytest.fixture(scope="module")
def asia() -> serape.Table:
    return serape.load_network("asia").sample(1000, 2)


def sites_of(table: serape.Table, min_count: int) -> list[Site]:
    rows = np.array_split(np.arange(table.rows), 3)
    return [Site(table.part(range(len(table.names)), own), min_count) for own in rows]


@pytest.mark.parametrize("algorithm", ["iamb", "fbed", "hiton-mb", "hpc", "pcmb"])
def test_without_refusals_the_answer_is_that_of_all_rows(asia: serape.Table, algorithm: str) -> None:
    for statistic, test in (("g2", serape.independence.G2), ("x2", serape.independence.X2)):
        expected = serape.markov_blanket(test(asia), "bronc", algorithm)
        found = serape.markov_blanket(SitesTest(sites_of(asia, 1), statistic), "bronc", algorithm)  # type: ignore[arg-type]
        assert (found.blanket, found.tests, found.skipped) == (expected.blanket, expected.tests, expected.skipped)


def test_no_count_below_the_least_leaves_a_site(asia: serape.Table) -> None:
    site = Site(asia, 7)
    every = tuple(range(8))
    for target in every:
        others = tuple(x for x in every if x != target)
        for given in ((), ((target + 1) % 8,)):
            asked = tuple(x for x in others if x not in given)
            found = site.counts(target, asked, given)
            kept = set(found.places)
            for k, x in enumerate(asked):
                frame = asia.to_pandas()
                columns = [asia.names[v] for v in (*given, target, x)]
                smallest = frame.groupby(columns, observed=True).size().min()
                assert (k in kept) == (smallest >= 7)
            if found.counts is not None:
                assert found.counts.cells[:, 3].min() >= 7


def test_a_refused_table_makes_a_test_unreliable(asia: serape.Table) -> None:
    class Refusing(Site):
        def counts(self, target: int, candidates: tuple[int, ...], given: tuple[int, ...]) -> Answers:
            del target, candidates, given
            return Answers((), None)

    test = SitesTest([Site(asia, 1), Refusing(asia, 1)])
    assert not test.test(0, 1).reliable
    assert not test.screen(0, [1, 2]).reliable.any()
    with pytest.raises(serape.DataError, match="a site refuses"):
        test.engine.counts(0, [1])


def test_sites_that_do_not_fit_together_are_refused(asia: serape.Table) -> None:
    with pytest.raises(serape.OptionError, match="no sites"):
        SitesTest([])
    with pytest.raises(serape.DataError, match="other columns"):
        SitesTest([Site(asia), Site(asia.part(range(4)))])
    one, other = ({"x": ["a", "b", "a"], "y": ["u", "v", last]} for last in ("v", "w"))
    with pytest.raises(serape.DataError, match=r"column 'y' has the levels .* at site 1 .*declare the same"):
        SitesTest([Site(one), Site(other)])
    with pytest.raises(serape.OptionError, match="min_count must be"):
        Site(asia, 0)
    with pytest.raises(serape.DataError, match="continuous"):
        Site({"x": [0.5, 1.25, 2.75], "y": ["a", "b", "a"]})
