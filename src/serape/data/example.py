"""A small made-up data set with a known answer, for the demonstration and the documentation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx

ARCS = (
    ("Age", "BloodPressure"),
    ("Age", "HeartDisease"),
    ("Age", "Exercise"),
    ("Exercise", "Weight"),
    ("Weight", "BloodPressure"),
    ("Weight", "Diabetes"),
    ("Smoking", "HeartDisease"),
    ("BloodPressure", "HeartDisease"),
    ("BloodPressure", "Medication"),
    ("HeartDisease", "ECG"),
    ("HeartDisease", "ChestPain"),
    ("Anxiety", "ChestPain"),
)
LogOdds = NDArray[np.floating[Any]] | float
UNRELATED = ("Ward", "Weekday", "Parking")


def clinic_graph() -> nx.DiGraph[Any]:
    """Return the graph from which the data are drawn."""
    import networkx as nx

    graph: nx.DiGraph[Any] = nx.DiGraph(ARCS)
    graph.add_nodes_from(UNRELATED)
    return graph


def clinic(rows: int = 5000, seed: int = 0) -> dict[str, NDArray[np.str_]]:
    """Draw patients of an imaginary heart clinic: 14 columns, of which six are the blanket of HeartDisease."""
    random = np.random.default_rng(seed)

    def yes(log_odds: LogOdds) -> NDArray[np.bool_]:
        chance = 1 / (1 + np.exp(-np.broadcast_to(np.asarray(log_odds, np.float64), rows)))
        truth: NDArray[np.bool_] = random.random(rows) < chance
        return truth

    def graded(score: LogOdds) -> NDArray[np.int64]:
        """Return grades from 0 to 2, higher for a higher score."""
        return yes(np.asarray(score)).astype(np.int64) + yes(np.asarray(score) - 0.5)

    age = random.choice(3, rows, p=[0.35, 0.4, 0.25])
    smoking = yes(-0.9)
    anxiety = yes(-0.7)
    exercise = yes(0.9 - 0.8 * age)
    weight = graded(0.8 - 1.6 * exercise)
    pressure = graded(-2.0 + 0.9 * age + 0.9 * weight)
    disease = yes(-4.2 + 1.0 * age + 1.6 * smoking + 1.2 * pressure)
    columns: dict[str, NDArray[np.str_]] = {
        "Age": np.array(["under 40", "40 to 60", "over 60"])[age],
        "Smoking": _words(smoking),
        "Exercise": _words(exercise),
        "Weight": np.array(["normal", "over", "obese"])[weight],
        "Diabetes": _words(yes(-2.6 + 1.2 * weight)),
        "BloodPressure": np.array(["normal", "raised", "high"])[pressure],
        "Medication": _words(yes(-2.5 + 1.8 * pressure)),
        "Anxiety": _words(anxiety),
        "HeartDisease": _words(disease),
        "ECG": np.array(["normal", "abnormal"])[yes(-2.2 + 3.2 * disease).astype(int)],
        "ChestPain": _words(yes(-2.4 + 2.4 * disease + 2.0 * anxiety)),
        "Ward": np.array(["A", "B", "C", "D"])[random.integers(4, size=rows)],
        "Weekday": np.array(["Mon", "Tue", "Wed", "Thu", "Fri"])[random.integers(5, size=rows)],
        "Parking": _words(yes(0.2)),
    }
    return columns


def _words(truth: NDArray[np.bool_]) -> NDArray[np.str_]:
    words: NDArray[np.str_] = np.array(["no", "yes"])[truth.astype(int)]
    return words
