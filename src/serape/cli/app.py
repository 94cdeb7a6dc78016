"""`serape blanket`, `neighbours`, `algorithms`, `sample`, `study`, `demo`.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 bad data, 2 bad use, 130
interrupted.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Literal, NoReturn

import typer
from rich.console import Console
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid
from rich.text import Text

import serape
from serape.api import thread_count
from serape.data.example import clinic, clinic_graph
from serape.data.writing import write_csv, write_table
from serape.errors import Interrupted, OptionError, SerapeError, suggestion
from serape.files import write_whole
from serape.independence import TESTS
from serape.networks import bundled_networks
from serape.results.explanation import p_text
from serape.results.result import Result, json_text

app = typer.Typer(
    name="serape",
    help="Find the Markov blanket of a variable: the smallest set of columns that tells all there is to know about it.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
)
BAD_DATA, BAD_USE, INTERRUPTED = 1, 2, 130


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    try:
        app(args=arguments)
    except OptionError as error:
        _fail(str(error), BAD_USE)
    except SerapeError as error:
        _fail(str(error), BAD_DATA)
    except KeyboardInterrupt:
        _fail("interrupted", INTERRUPTED)
    sys.exit(0)


def _fail(sentence: str, code: int) -> NoReturn:
    print(f"serape: {sentence}", file=sys.stderr)  # noqa: T201
    sys.exit(code)


def _version(asked: bool) -> None:
    if asked:
        typer.echo(f"serape {serape.__version__}")
        raise typer.Exit


@app.callback()
def _top(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


@app.command(
    "neighbours",
    help="Find the parents and children of a column.",
    epilog="Example: serape neighbours patients.csv --target HeartDisease --alpha 0.01 --explain Anxiety",
)
@app.command(
    "blanket",
    help="Find the Markov blanket of a column.",
    epilog="Example: serape blanket patients.csv --target HeartDisease --alpha 0.01 --explain Weight",
)
def ask(
    context: typer.Context,
    data: Annotated[
        Path, typer.Argument(help="A .csv, .csv.gz, .csv.xz or .parquet file whose first line names the columns.")
    ],
    target: Annotated[str, typer.Option("--target", "-t", help="The column whose blanket is wanted.")],
    algorithm: Annotated[str, typer.Option(help="A name that `serape algorithms` lists, or auto.")] = "auto",
    test: Annotated[str, typer.Option(help=f"Independence test: auto, {', '.join(TESTS)}.")] = "auto",
    alpha: Annotated[float, typer.Option(help="Significance level.")] = 0.05,
    max_conditioning: Annotated[int | None, typer.Option(help="Largest conditioning set.")] = None,
    reliability: Annotated[
        Literal["auto", "dof", "cells", "none"],
        typer.Option(help="Trust a test with 5 rows a degree of freedom, 5 rows a cell, or always."),
    ] = "auto",
    dof: Annotated[Literal["auto", "full", "adjusted"], typer.Option(help="Degrees of freedom.")] = "auto",
    missing: Annotated[
        Literal["error", "drop", "level"],
        typer.Option(help="Missing values: refuse, drop such rows, or make them a level."),
    ] = "error",
    kind: Annotated[
        list[str] | None, typer.Option(help="Kind of a column, as NAME=categorical or NAME=continuous; repeatable.")
    ] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="Leave this column out; repeatable.")] = None,
    explain: Annotated[list[str] | None, typer.Option(help="Tell why this column is in or out; repeatable.")] = None,
    seed: Annotated[int | None, typer.Option(help="Break exact ties at random with this seed.")] = None,
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all.")] = 1,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Also save the result as JSON to this file.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the result as JSON.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")] = False,
) -> None:
    """Ask for what the name of the command says."""
    question = serape.parents_children if context.info_name == "neighbours" else serape.markov_blanket
    kinds = dict(_kind(entry) for entry in kind or ())
    table = serape.Table(data, kinds=kinds or None, missing=missing, ignore=ignore or ())
    interrupted = False
    try:
        found = question(
            table,
            target,
            algorithm=algorithm,
            test=test,
            alpha=alpha,
            max_conditioning=max_conditioning,
            reliability=None if reliability == "none" else reliability,
            dof=dof,
            random_state=seed,
            n_jobs=jobs,
            progress=False if quiet else None,
        )
    except Interrupted as stop:
        found, interrupted = stop.found, True
    _show(found, explain or [], as_json)
    if output is not None:
        write_whole(output, json_text(found))
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _kind(entry: str) -> tuple[str, str]:
    name, equals, value = entry.rpartition("=")
    if not equals:
        raise OptionError(f"--kind {entry!r} must be NAME=categorical or NAME=continuous")
    return name, value


def _show(found: Result, explain: list[str], as_json: bool) -> None:
    explanations = [found.explain(name) for name in explain]
    if as_json:
        typer.echo(json_text(found), nl=False)
        return
    console = Console(highlight=False)
    count = len(found.members)
    console.print(Text(f"{found.title}: {count} {'variable' if count == 1 else 'variables'}"))
    if found.members:
        grid = Grid("variable", "statistic", "dof", "p", "given")
        for name in found.members:
            why = found.explain(name)
            given = ", ".join(why.given) if why.given else "nothing" if why.given == () else "not tested"
            grid.add_row(Text(name), f"{why.statistic:.5g}", f"{why.dof:g}", p_text(why.log_p), Text(given))
        console.print(grid)
    for line in str(found).splitlines()[1:]:
        console.print(Text(line.strip()))
    for explanation in explanations:
        console.print(Text(f"\n{explanation}"))


@app.command()
def algorithms(
    as_json: Annotated[bool, typer.Option("--json", help="Print the table as JSON.")] = False,
) -> None:
    """List the algorithms: what each finds, and whether it is provably right given perfect tests."""
    table = serape.algorithms()
    if as_json:
        typer.echo(json.dumps(list(table), indent=1))
        return
    grid = Grid(*table.columns)
    for row in table:
        grid.add_row(*("yes" if v is True else "no" if v is False else str(v) for v in row.values()))
    Console(highlight=False).print(grid)


@app.command(epilog="Example: serape sample alarm --rows 5000 --seed 1 -o alarm.csv")
def sample(
    network: Annotated[str, typer.Argument(help="A bundled network (see --list), or a .bif or .bif.gz file.")] = "",
    rows: Annotated[int, typer.Option(help="Number of rows to draw.", min=2)] = 1000,
    seed: Annotated[int | None, typer.Option(help="Seed of the draw.", min=0)] = None,
    copies: Annotated[int, typer.Option(help="Join so many copies of the network first.", min=1)] = 1,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="A .csv, .csv.gz, .csv.xz or .parquet file; if none, CSV on standard output."
        ),
    ] = None,
    show_list: Annotated[bool, typer.Option("--list", help="List the bundled networks.")] = False,
) -> None:
    """Draw rows from a Bayesian network."""
    if show_list or not network:
        grid = Grid("name", "variables", "arcs", "parameters")
        for entry in bundled_networks():
            grid.add_row(entry["name"], *(f"{entry[key]:,}" for key in ("nodes", "arcs", "parameters")))
        Console(highlight=False).print(grid)
        if not show_list:
            raise OptionError("name a network of this list, or a .bif file")
        return
    known = Path(network)
    model = serape.read_bif(known) if known.suffix in (".bif", ".gz") else serape.load_network(network)
    if copies > 1:
        model = model.tile(copies, seed)
    table = model.sample(rows, seed)
    if output is None:
        write_csv(table, sys.stdout)
    else:
        write_table(table, output)
        Console(stderr=True, highlight=False).print(f"{rows:,} rows of {len(table.names):,} columns in {output}")


@app.command(epilog="Example: serape study pena2005-table4 --quick")
def study(
    name: Annotated[str, typer.Argument(help="A study; none lists them.")] = "",
    quick: Annotated[bool, typer.Option("--quick", help="Fewer samples and sizes: under a minute.")] = False,
    data: Annotated[Path | None, typer.Option(help="Data that are not bundled, for studies that want them.")] = None,
    out: Annotated[Path, typer.Option(help="Folder for tables, answers and picture.")] = Path("studies"),
    jobs: Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all.")] = 1,
) -> None:
    """Rerun an experiment of a paper, or go on with one that was stopped, and set its numbers beside ours."""
    from serape import studies

    console = Console(highlight=False)
    if not name:
        grid = Grid("study", "paper", "about")
        for one in studies.STUDIES.values():
            grid.add_row(one.name, one.paper, one.about)
        console.print(grid)
        return
    if name not in studies.STUDIES:
        known = list(studies.STUDIES)
        raise OptionError(f"there is no study {name!r}.{suggestion(name, known)} There are {', '.join(known)}.")
    settings = studies.Settings(quick, data, thread_count(jobs))
    with Bar(*Bar.get_default_columns(), MofNCompleteColumn(), console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=None)
        outcome = studies.run(
            studies.STUDIES[name],
            settings,
            out,
            lambda done, total, key: bar.update(task, completed=done, total=total, description=key or name),
        )
    console = Console(highlight=False, width=max(console.width, 170))
    for title, rows in outcome.tables.items():
        if rows:
            grid = Grid(*rows[0], title=title)
            for row in rows:
                grid.add_row(*map(str, row.values()))
            console.print(grid)
    console.print("written: " + ", ".join(str(path) for path in outcome.files))
    if not any(path.suffix == ".png" for path in outcome.files):
        console.print("no picture: it needs matplotlib; install it with: pip install 'serape[plots]'")


@app.command()
def demo(
    rows: Annotated[int, typer.Option(help="Number of patients to draw.", min=2)] = 5000,
    seed: Annotated[int, typer.Option(help="Seed of the draw.")] = 0,
) -> None:
    """Draw data with a known answer and find it again."""
    target = "HeartDisease"
    patients = serape.Table(clinic(rows, seed))
    truth = serape.markov_blanket(serape.DSeparation(clinic_graph()), target).blanket
    console = Console(highlight=False)
    console.print(
        f"{rows:,} patients of an imaginary heart clinic, {len(patients.names)} columns: {', '.join(patients.names)}.\n"
        f"Which columns tell all there is to know about {target}?\n"
    )
    found = serape.markov_blanket(patients, target, alpha=0.01)
    _show(found, [], as_json=False)
    outside = next((name for name in ("Weight", "Diabetes") if name not in found.blanket), None)
    inside = next((name for name in ("Anxiety", "Smoking") if name in found.blanket), None)
    for name in (inside, outside):
        if name is not None:
            console.print(Text(f"\n{found.explain(name)}"))
    missed, extra = sorted(set(truth) - set(found.blanket)), sorted(set(found.blanket) - set(truth))
    if missed or extra:
        console.print(f"\nThe graph the data were drawn from says {', '.join(truth)}:")
        console.print(f"missed {', '.join(missed) or 'none'}, extra {', '.join(extra) or 'none'}.")
    else:
        console.print(f"\nThis is exactly the blanket in the graph the data were drawn from: {', '.join(truth)}.")
    console.print("Try it on your own file: serape blanket FILE.csv --target COLUMN")
