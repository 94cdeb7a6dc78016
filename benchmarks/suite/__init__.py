"""Questions and searches beside other packages: seconds, distance to the truth, memory.

`--peers` makes an environment for each package under .venv-peers, with the versions in benchmarks/peers; a package that
cannot be installed is reported and left out. `--python` names an environment that has some of them.
"""

from benchmarks.common.command import Command, Part
from benchmarks.suite import (
    default,
    gaussian,
    networks,
    packed,
    published,
    questions,
    reading,
    searches,
    structures,
    tests,
)

COMMAND = Command(
    {
        "questions": Part(questions.run, questions.options, "serape alone, three frames of 500 rows, once"),
        "tests": Part(tests.run, tests.options, "two frames of 500 rows, once"),
        "searches": Part(searches.run, searches.options, "serape alone, 500 rows of Alarm, 10 wide targets, once"),
        "default": Part(default.run, default.options, "60 columns, once"),
        "networks": Part(networks.run, networks.options, "serape alone, asia, 500 rows, once"),
        "reading": Part(reading.run, reading.options, "2,000 rows, once"),
        "packed": Part(packed.run, packed.options, "2,000 rows and 500 columns"),
        "published": Part(published.run, published.options, "serape alone, three cells, 300 rows, once"),
        "structures": Part(structures.run, structures.options, "serape alone, 10 variables, 200 rows"),
        "gaussian": Part(gaussian.run, gaussian.options, "serape alone, 50 variables"),
    },
    default="questions",
)
