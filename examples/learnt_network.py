"""Learn a network from data, compare it with the true one, and use it.

python examples/learnt_network.py
"""

from __future__ import annotations

import serape


def main() -> None:
    """Learn Alarm in three ways, and examine one of the networks."""
    truth = serape.load_network("alarm")
    rows = truth.sample(2000, seed=1)
    found = {algorithm: serape.network(rows, algorithm) for algorithm in ("pc-stable", "ges", "mmhc")}
    for algorithm, network in found.items():
        print(f"{algorithm}: {network.compare(truth)}")

    learnt = found["mmhc"]
    print(f"\n{learnt.title}; not decided:", ", ".join(f"{a} – {b}" for a, b in learnt.reversible))
    print("evidence for an edge:", learnt.evidence[0])
    serape.write_bif(learnt.fit(), "alarm-learnt.bif")  # with probabilities estimated from the rows
    again = serape.read_bif("alarm-learnt.bif")
    print("\nblanket of HR in the learnt network:", ", ".join(sorted(again.markov_blanket("HR"))))
    print("blanket of HR in the true network:  ", ", ".join(sorted(truth.markov_blanket("HR"))))


if __name__ == "__main__":
    main()
