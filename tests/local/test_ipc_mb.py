"""IPC-MB: the order in which candidates are tested."""

from __future__ import annotations

import serape
from serape.data.example import clinic


def test_order_of_ipc_mb_changes_the_number_of_tests_only() -> None:
    data = clinic(4000)
    answers = [
        serape.parents_children(data, "HeartDisease", algorithm="ipc-mb", order=o) for o in ("strength", "table")
    ]
    assert answers[0].members == answers[1].members
