"""`serape algorithms`, `sample`, `study` and `demo`: commands about the package itself."""

from __future__ import annotations

import os
import shlex
import sys
from importlib.util import find_spec
from pathlib import Path
from shutil import which
from typing import Annotated

import typer
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bar

import serape
from serape.checks import thread_count
from serape.cli.base import command
from serape.cli.completion import complete_network
from serape.cli.options import AsJson, Jobs, check_files, read_network
from serape.cli.show import console, print_grid, print_json, print_line, show_result
from serape.data.example import clinic, clinic_graph
from serape.data.writing import write_csv, write_table
from serape.errors import DataError, OptionError
from serape.names import match, unknown
from serape.networks import bundled_networks


@command("algorithms", "serape algorithms", "serape algorithms --json")
def algorithms(as_json: AsJson = False) -> None:
    """List the algorithms: what each finds, and whether it is sound (right with perfect tests)."""
    table = serape.algorithms()
    if as_json:
        print_json(list(table))
        return
    print_grid(
        table.columns,
        (["yes" if v is True else "no" if v is False else str(v) for v in row.values()] for row in table),
    )


@command(
    "sample",
    "serape sample alarm --rows 5000 --seed 1 -o alarm.csv",
    "serape sample alarm --copies 10 --rows 1000 > wide.csv",
    "serape sample --list",
)
def sample(
    network: Annotated[
        str,
        typer.Argument(
            help="A bundled network (see --list), or a .bif or .bif.gz file.", autocompletion=complete_network
        ),
    ] = "",
    rows: Annotated[int, typer.Option(help="Number of rows to draw.", min=2)] = 1000,
    seed: Annotated[int | None, typer.Option(help="Seed of the draw.", min=0)] = None,
    copies: Annotated[int, typer.Option(help="Number of copies of the network to connect before drawing.", min=1)] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .csv, .csv.gz, .csv.xz or .parquet file; CSV on standard output if not given."
        ),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the bundled networks.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the list as JSON.")] = False,
) -> None:
    """Draw rows from a Bayesian network.

    The rows go to standard output as CSV, or to a file.
    """
    if show_list or not network:
        _list_networks(as_json)
        if not show_list:
            raise OptionError("name a network of this list, or a .bif file, for example: serape sample alarm")
        return
    if as_json:
        raise OptionError("--json is for --list only; rows are written as CSV or Parquet")
    model = read_network(network)
    if copies > 1:
        model = model.tile(copies, seed)
    table = model.sample(rows, seed)
    if output is None:
        write_csv(table, sys.stdout)
    else:
        write_table(table, output)
        console(stderr=True).print(f"{rows:,} rows of {len(table.names):,} columns in {output}", markup=False)


def _list_networks(as_json: bool) -> None:
    if as_json:
        print_json(list(bundled_networks()))
        return
    print_grid(
        ("name", "variables", "arcs", "parameters"),
        (
            [str(entry["name"]), *(f"{entry[key]:,}" for key in ("nodes", "arcs", "parameters"))]
            for entry in bundled_networks()
        ),
    )


def _complete_study(incomplete: str) -> list[str]:
    from serape import studies

    return [name for name in studies.STUDIES if name.startswith(incomplete)]


@command(
    "study",
    "serape study",
    "serape study pena2005-table4 --quick",
)
def study(
    name: Annotated[
        str, typer.Argument(help="The name of a study; all are listed if not given.", autocompletion=_complete_study)
    ] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer samples and sizes: less than a minute.")] = False,
    data: Annotated[
        Path | None, typer.Option(help="File or folder with data that are not bundled, for studies that need them.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the tables, answers, picture and page.")] = Path("studies"),
    jobs: Jobs = 1,
    as_json: AsJson = False,
) -> None:
    """Repeat an experiment of a paper, or continue one that was stopped, and compare its numbers with ours.

    Prints the tables; they and all answers, a picture and a page are kept in a folder.
    """
    from serape import studies

    if not name:
        listed = [{"study": one.name, "paper": one.paper, "about": one.about} for one in studies.STUDIES.values()]
        if as_json:
            print_json(listed)
        else:
            print_grid(("study", "paper", "about"), (list(row.values()) for row in listed))
        return
    chosen = match(name, studies.STUDIES)
    if chosen is None:
        raise OptionError(unknown("study", name, studies.STUDIES))
    name = chosen
    settings = studies.StudySettings(quick, data, thread_count(jobs))
    with Bar(*Bar.get_default_columns(), MofNCompleteColumn(), console=console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        outcome = studies.run(
            studies.STUDIES[name],
            settings,
            out,
            lambda done, total, key: bar.update(task, completed=done, total=total, description=key or name),
        )
    if as_json:
        print_json({"study": name, "tables": outcome.tables, "files": [str(path) for path in outcome.files]})
        return
    for title, rows in outcome.tables.items():
        if rows:
            print_grid(list(rows[0]), (list(map(str, row.values())) for row in rows), title, 170)
    print_line("written: " + ", ".join(str(path) for path in outcome.files))
    if not any(path.suffix == ".png" for path in outcome.files):
        print_line("no picture: matplotlib is missing; install it with: pip install 'serape[plots]'")


@command("demo", "serape demo", "serape demo --rows 500 --out demo")
def demo(
    rows: Annotated[int, typer.Option(help="Number of patients to draw.", min=2)] = 5000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.", min=0)] = 0,
    out: Annotated[Path, typer.Option(help="Folder for the data, the picture and the report.")] = Path("serape-demo"),
    report: Annotated[Path | None, typer.Option(help="Write the report to this .html file instead.")] = None,
) -> None:
    """Draw data with a known answer, find it again, and leave the data, a picture and a report in a folder."""
    target = "HeartDisease"
    data, picture, report = out / "patients.csv", out / "heart.png", report or out / "heart.html"
    _make_folder(out)
    check_files(report=report)
    patients = serape.Table(clinic(rows, seed))
    truth = serape.markov_blanket(serape.DSeparation(clinic_graph()), target).blanket
    print_line(
        f"{rows:,} patients of an imaginary heart clinic, {len(patients.names)} columns: {', '.join(patients.names)}.\n"
        f"Which columns are in the Markov blanket of {target}?\n"
    )
    found = serape.markov_blanket(patients, target, alpha=0.01)
    show_result(found)
    outside = next((name for name in ("Weight", "Diabetes") if name not in found.blanket), None)
    inside = next((name for name in ("Anxiety", "Smoking") if name in found.blanket), None)
    for name in (inside, outside):
        if name is not None:
            print_line(f"\n{found.explain(name)}")
    missed, extra = sorted(set(truth) - set(found.blanket)), sorted(set(found.blanket) - set(truth))
    if missed or extra:
        print_line(f"\nIn the graph behind the data the blanket is {', '.join(truth)}:")
        print_line(f"missed {', '.join(missed) or 'none'}, extra {', '.join(extra) or 'none'}.")
    else:
        print_line(f"\nThis is exactly the blanket in the graph behind the data: {', '.join(truth)}.")
    write_table(patients, data)
    found.report(report)
    if find_spec("matplotlib") is None:
        print_line("\nThere is no picture: matplotlib is missing; install it with: pip install 'serape[plots]'")
    else:
        found.plot(picture)
        print_line(f"\nThe picture is in {picture}.")
    print_line(f"The report is in {report}: open it in a browser.")
    print_line("Find the blanket of another column:\n")
    typer.echo(f"  {_this_program()} blanket {shlex.quote(str(data))} --target ChestPain --explain Smoking\n")
    print_line("For a file of your own, put its name and the name of a column there.")


def _make_folder(path: Path) -> None:
    """Make a folder, unless it is there."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(
            f"the folder {path} cannot be created: {error.strerror or error}; name another with --out"
        ) from None


def _this_program() -> str:
    """Return the command that runs this program again, from this folder."""
    if Path(sys.argv[0]).name == "__main__.py":
        return f"{shlex.quote(sys.executable)} -m serape"
    called = Path(sys.argv[0])
    on_path = which("serape")
    if called.name != "serape" or (on_path is not None and Path(on_path).resolve() == called.resolve()):
        return "serape"
    return shlex.quote(os.path.relpath(called))
