"""Searches that come back to a set they had left."""

import networkx as nx

import serape


class Scripted(serape.IndependenceTest):
    """Dependence as a rule of one's own: (x, y, given) -> dependent?"""

    def __init__(self, count: int, rule: object) -> None:
        self.variables = tuple("tabcdefgh"[:count])
        self.rule = rule

    def test(self, x: int, y: int, given: object = ()) -> serape.Outcome:
        names = frozenset(self.variables[z] for z in given)  # type: ignore[attr-defined]
        dependent = self.rule(self.variables[x], self.variables[y], names)  # type: ignore[operator]
        return serape.Outcome(float(dependent), 1, -50.0 if dependent else -0.1, reliable=True)


class TestCycles:
    """A test no data could obey for ever: what is let in by one set is put out by the next."""

    @staticmethod
    def rule(x: str, y: str, given: frozenset[str]) -> bool:
        """A enters an empty set, b enters beside a, a leaves beside b, b leaves an empty set."""
        del y
        return {"a": not given & {"b"}, "b": bool(given & {"a"})}.get(x, False)

    def test_inter_iamb_stops_and_says_so(self) -> None:
        found = serape.markov_blanket(Scripted(4, self.rule), "t", algorithm="inter-iamb")
        assert any("a set of members repeated" in note for note in found.notes)

    def test_fast_iamb_stops_and_says_so(self) -> None:
        def rule(x: str, y: str, given: frozenset[str]) -> bool:
            del y
            return x in "ab" and not given & ({"a", "b"} - {x})

        found = serape.markov_blanket(Scripted(4, rule), "t", algorithm="fast-iamb")
        assert found.complete
        found = serape.markov_blanket(Scripted(4, self.rule), "t", algorithm="fast-iamb")
        assert any("a set of members repeated" in note for note in found.notes)

    def test_no_note_without_a_cycle(self) -> None:
        for algorithm in ("inter-iamb", "fast-iamb", "inter-iamb-npc"):
            found = serape.markov_blanket(serape.DSeparation(nx.DiGraph([("a", "t")])), "t", algorithm=algorithm)
            assert found.notes == ()
