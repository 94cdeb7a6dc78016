"""Write a report: one HTML file that opens offline and shows how to reproduce the result.

python examples/write_report.py
"""

from __future__ import annotations

from pathlib import Path

import serape
from serape.data.example import clinic


def main() -> None:
    """Write a report about the blanket of heart disease."""
    found = serape.markov_blanket(clinic(5000), "HeartDisease", algorithm="hiton-mb", alpha=0.01)
    found.report("heart.html")
    text = Path("heart.html").read_text(encoding="utf-8")
    print("opens offline:", "http://" not in text.replace("http://www.w3.org", "") and "<script src" not in text)
    print("smaller than 100 kB:", len(text) < 100_000)
    print("contains the fingerprint of the data:", serape.Table(clinic(5000)).provenance.fingerprint in text)


if __name__ == "__main__":
    main()
