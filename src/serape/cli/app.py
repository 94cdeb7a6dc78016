"""`serape blanket`, `neighbours`, `region`, `skeleton`, `network`, `algorithms`, `sample`, `study`, `demo`.

Results go to standard output, progress and errors to standard error. Exit codes: 0 done, 1 bad data, 2 bad use, 130
interrupted.
"""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, Any, Literal, NoReturn

import typer
import typer.core
from rich.console import Console
from rich.progress import MofNCompleteColumn
from rich.progress import Progress as Bar
from rich.table import Table as Grid
from rich.text import Text

import serape
from serape.api import thread_count
from serape.data.example import clinic, clinic_graph
from serape.data.writing import write_csv, write_table
from serape.errors import DataError, Interrupted, OptionError, SerapeError, suggestion
from serape.files import write_whole
from serape.independence import TESTS
from serape.networks import bundled_networks
from serape.results import pictures
from serape.results.explanation import p_text
from serape.results.result import Result, finite, json_text

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
    sys.exit(0)


class _Command(typer.core.TyperCommand):
    """A command that says so when it is interrupted, and leaves."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)


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


# --- options that several commands have -----------------------------------------------------------------------------

Data = Annotated[
    Path, typer.Argument(help="A .csv, .csv.gz, .csv.xz or .parquet file whose first line names the columns.")
]
Algorithm = Annotated[str, typer.Option(help="A name that `serape algorithms` lists, or auto.")]
Test = Annotated[str, typer.Option(help=f"Independence test: auto, {', '.join(TESTS)}.")]
Alpha = Annotated[float, typer.Option(help="Significance level.")]
MaxConditioning = Annotated[int | None, typer.Option(help="Largest conditioning set.")]
MaxSubset = Annotated[str, typer.Option(help="Largest conditioning set: a number, none, or auto.")]
Reliability = Annotated[
    Literal["auto", "dof", "cells", "none"],
    typer.Option(help="Trust a test with 5 rows a degree of freedom, 5 rows a cell, or always."),
]
Dof = Annotated[Literal["auto", "full", "adjusted"], typer.Option(help="Degrees of freedom.")]
Missing = Annotated[
    Literal["error", "drop", "level", "pairwise"],
    typer.Option(
        help="Missing values: refuse, drop such rows, make them a level, or use for each test the rows it has."
    ),
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether the first line names the columns; if unsaid, judged."),
]
Na = Annotated[list[str] | None, typer.Option(help="A word that stands for a missing value; repeatable.")]
Kind = Annotated[
    list[str] | None, typer.Option(help="Kind of a column, as NAME=categorical or NAME=continuous; repeatable.")
]
Ignore = Annotated[list[str] | None, typer.Option(help="Leave this column out; repeatable.")]
Known = Annotated[
    Path | None,
    typer.Option(
        help="A JSON file of what is known: pairs of names under required, forbidden (arcs, from and to) and "
        "forbidden_pairs, and lists of names, earlier to later, under tiers."
    ),
]
Seed = Annotated[int | None, typer.Option(help="Break exact ties at random with this seed.")]
Jobs = Annotated[int, typer.Option("--jobs", "-j", help="Threads; -1 for all.")]
Output = Annotated[Path | None, typer.Option("--output", "-o", help="Also save the result as JSON to this file.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]
Picture = Annotated[Path | None, typer.Option(help="Draw the graph into this .png, .svg or .pdf file.")]
Checkpoint = Annotated[
    Path | None, typer.Option(help="Keep neighbourhoods in this file as they are found, and go on from it.")
]


def _table(
    data: Path,
    kind: list[str] | None,
    missing: Literal["error", "drop", "level", "pairwise"],
    ignore: list[str] | None,
    header: bool | None,
    na: list[str] | None,
) -> serape.Table:
    kinds = dict(_kind(entry) for entry in kind or ())
    return serape.Table(
        data,
        kinds=kinds or None,
        missing=missing,
        ignore=ignore or (),
        header=header,
        na_values=tuple(na or ()),
    )


@app.command(
    "neighbours",
    cls=_Command,
    help="Find the parents and children of a column.",
    epilog="Example: serape neighbours patients.csv --target HeartDisease --alpha 0.01 --explain Anxiety",
)
@app.command(
    "blanket",
    cls=_Command,
    help="Find the Markov blanket of a column.",
    epilog="Example: serape blanket patients.csv --target HeartDisease --alpha 0.01 --explain Weight",
)
def ask(
    context: typer.Context,
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", help="The column whose blanket is wanted.")],
    algorithm: Algorithm = "auto",
    test: Test = "auto",
    alpha: Alpha = 0.05,
    max_conditioning: MaxConditioning = None,
    reliability: Reliability = "auto",
    dof: Dof = "auto",
    missing: Missing = "error",
    kind: Kind = None,
    ignore: Ignore = None,
    header: Header = None,
    na: Na = None,
    explain: Annotated[list[str] | None, typer.Option(help="Tell why this column is in or out; repeatable.")] = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Ask for what the name of the command says."""
    question = serape.parents_children if context.info_name == "neighbours" else serape.markov_blanket
    table = _table(data, kind, missing, ignore, header, na)
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


@app.command(
    cls=_Command, epilog="Example: serape region patients.csv --target HeartDisease --depth 2 --picture region.png"
)
def region(
    data: Data,
    target: Annotated[str, typer.Option("--target", "-t", help="The column in the middle.")],
    depth: Annotated[int, typer.Option(help="How many edges away from it.")] = 2,
    algorithm: Algorithm = "auto",
    test: Test = "auto",
    alpha: Alpha = 0.05,
    max_conditioning: MaxSubset = "auto",
    reliability: Reliability = "auto",
    dof: Dof = "auto",
    missing: Missing = "error",
    kind: Kind = None,
    ignore: Ignore = None,
    header: Header = None,
    na: Na = None,
    knowledge: Known = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    picture: Picture = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the columns within some edges of a column, and the edges that lead there."""
    _check_picture(picture)
    interrupted = False
    try:
        found = serape.region(
            _table(data, kind, missing, ignore, header, na),
            target,
            depth,
            algorithm=algorithm,
            test=test,
            alpha=alpha,
            max_conditioning=_limit(max_conditioning),
            reliability=None if reliability == "none" else reliability,
            dof=dof,
            knowledge=_read_knowledge(knowledge),
            random_state=seed,
            n_jobs=jobs,
            progress=False if quiet else None,
        )
    except Interrupted as stop:
        found, interrupted = stop.found, True
    about = found.graph
    if as_json:
        content = {
            **about,
            "nodes": [{"name": name, "distance": steps} for name, steps in found.nodes(data="distance")],
            "edges": [{"from": a, "to": b, **seen} for a, b, seen in found.edges(data=True)],
        }
        typer.echo(json.dumps(finite(content), indent=1, default=str))
    else:
        console = Console(highlight=False)
        edges = "1 edge" if about["depth"] == 1 else f"{about['depth']} edges"
        console.print(Text(f"Within {edges} of {about['target']}: {len(found) - 1} variables"))
        _print_edges(console, [(a, "–", b, seen) for a, b, seen in found.edges(data=True)])
        console.print(
            Text(
                f"by {about['algorithm']} with {about['test']} at alpha {about['alpha']:g}: {about['tests']:,} tests, "
                f"{about['skipped']:,} skipped, {about['seconds']:.3g} s"
            )
        )
    if picture is not None:
        pictures.save_picture(pictures.draw_graph(found, target=about["target"]), picture)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command(
    cls=_Command, epilog="Example: serape skeleton patients.csv --algorithm hiton-pc --jobs -1 --checkpoint kept.jsonl"
)
def skeleton(
    data: Data,
    algorithm: Algorithm = "auto",
    rule: Annotated[
        Literal["and", "or"], typer.Option(help="Join two columns if both, or if one of them, has the other.")
    ] = "and",
    test: Test = "auto",
    alpha: Alpha = 0.05,
    max_conditioning: MaxSubset = "auto",
    reliability: Reliability = "auto",
    dof: Dof = "auto",
    missing: Missing = "error",
    kind: Kind = None,
    ignore: Ignore = None,
    header: Header = None,
    na: Na = None,
    knowledge: Known = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    checkpoint: Checkpoint = None,
    picture: Picture = None,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find which columns are joined by an arc, without the arcs' directions."""
    _check_picture(picture)
    _check_folders(output, picture)
    table = _table(data, kind, missing, ignore, header, na)
    interrupted = False
    try:
        found = serape.skeleton(
            table,
            algorithm,
            rule=rule,
            test=test,
            alpha=alpha,
            max_conditioning=_limit(max_conditioning),
            reliability=None if reliability == "none" else reliability,
            dof=dof,
            knowledge=_read_knowledge(knowledge),
            random_state=seed,
            n_jobs=jobs,
            progress=False if quiet else None,
            checkpoint=checkpoint,
        )
    except Interrupted as stop:
        found, interrupted = stop.found, True
    _show_structure(found, as_json, output, picture)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


@app.command(
    cls=_Command, epilog="Example: serape network patients.csv --algorithm mmhc --picture net.png --bif net.bif"
)
def network(
    data: Data,
    algorithm: Algorithm = "mmhc",
    test: Test = "auto",
    alpha: Alpha = 0.05,
    max_conditioning: MaxSubset = "auto",
    reliability: Reliability = "auto",
    dof: Dof = "auto",
    score: Annotated[
        Literal["auto", "bdeu", "bic", "aic", "k2"], typer.Option(help="Score, for those that go by one.")
    ] = "auto",
    ess: Annotated[float, typer.Option(help="Equivalent sample size of the BDeu score.")] = 1.0,
    missing: Missing = "error",
    kind: Kind = None,
    ignore: Ignore = None,
    header: Header = None,
    na: Na = None,
    knowledge: Known = None,
    seed: Seed = None,
    jobs: Jobs = 1,
    checkpoint: Checkpoint = None,
    truth: Annotated[str | None, typer.Option(help="Compare with this network: a bundled one, or a .bif file.")] = None,
    picture: Picture = None,
    bif: Annotated[Path | None, typer.Option(help="Write the network with fitted probabilities to this file.")] = None,
    output: Output = None,
    as_json: AsJson = False,
    quiet: Quiet = False,
) -> None:
    """Find the network behind a table: which columns are joined by an arc, and which way."""
    _check_picture(picture)
    _check_folders(output, picture, bif)
    table = _table(data, kind, missing, ignore, header, na)
    true = None if truth is None else _network(truth)
    if true is not None and set(true.variables) != set(table.names):
        raise OptionError(f"the network {truth!r} and the table have different variables; they cannot be compared")
    interrupted = False
    try:
        found = serape.network(
            table,
            algorithm,
            test=test,
            alpha=alpha,
            max_conditioning=_limit(max_conditioning),
            reliability=None if reliability == "none" else reliability,
            dof=dof,
            score=score,
            equivalent_sample_size=ess,
            knowledge=_read_knowledge(knowledge),
            random_state=seed,
            n_jobs=jobs,
            progress=False if quiet else None,
            checkpoint=checkpoint,
        )
    except Interrupted as stop:
        found, interrupted = stop.found, True
    _show_structure(found, as_json, output, picture, true)
    if bif is not None and found.complete:
        serape.write_bif(found.fit(), bif)
    if interrupted:
        raise typer.Exit(INTERRUPTED)


def _limit(text: str) -> int | Literal["auto"] | None:
    if text == "auto":
        return "auto"
    if text == "none":
        return None
    if not text.isdecimal():
        raise OptionError(f"--max-conditioning must be a whole number, 'none' or 'auto', not {text!r}")
    return int(text)


def _check_folders(*paths: Path | None) -> None:
    """Refuse files that cannot be written before the search, not after it."""
    for path in paths:
        if path is not None and not path.parent.is_dir():
            raise DataError(f"{path} cannot be written: there is no folder {path.parent}")


def _check_picture(path: Path | None) -> None:
    """Refuse a picture that cannot be drawn before the search, not after it."""
    if path is not None:
        pictures.picture_format(path)
        pictures.check_matplotlib()


def _show_structure(
    found: serape.Structure,
    as_json: bool,
    output: Path | None,
    picture: Path | None,
    truth: serape.Network | None = None,
) -> None:
    comparison = None if truth is None else found.compare(truth)
    if output is not None:
        found.save(output)
    if as_json:
        more = {} if comparison is None else {"comparison": asdict(comparison)}
        typer.echo(json.dumps(finite({**found.to_dict(), **more}), indent=1, allow_nan=False, default=str))
    else:
        console = Console(highlight=False)
        title, *rest = str(found).splitlines()
        console.print(Text(title))
        both_ways = found.graph.has_edge
        directed = found.finds == "network"
        _print_edges(
            console,
            [(a, "→" if directed and not both_ways(b, a) else "–", b, found.graph.edges[a, b]) for a, b in found.edges],
        )
        for line in rest:
            console.print(Text(line.strip()))
        if comparison is not None:
            console.print(Text(str(comparison)))
    if picture is not None:
        found.plot(picture, None if truth is None else truth.graph)


def _print_edges(console: Console, edges: list[tuple[str, str, str, Mapping[str, Any]]]) -> None:
    if not edges:
        return
    tested = any("log_p" in seen for *_, seen in edges)
    scored = any("gain" in seen for *_, seen in edges)
    grid = Grid("from", "", "to", *["statistic", "dof", "p", "given"] * tested, *["gain"] * scored)
    for a, arrow, b, seen in edges:
        cells: list[Text | str] = []
        if tested:
            given = seen.get("given")
            cells = [
                f"{seen.get('statistic', math.nan):.5g}",
                f"{seen.get('dof', math.nan):g}",
                p_text(seen.get("log_p", math.nan)),
                Text("not tested" if given is None else ", ".join(given) or "nothing"),
            ]
        if scored:
            cells.append(f"{seen['gain']:.2f}")
        grid.add_row(Text(a), arrow, Text(b), *cells)
    console.print(grid)


def _read_knowledge(path: Path | None) -> Mapping[str, Any] | None:
    if path is None:
        return None
    try:
        content: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise OptionError(f"the knowledge in {path} cannot be read as JSON: {error}") from None
    return content


def _network(name: str) -> serape.Network:
    return serape.read_bif(name) if Path(name).suffix in (".bif", ".gz") else serape.load_network(name)


@app.command(cls=_Command)
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


@app.command(
    cls=_Command,
    epilog="Example: serape sample alarm --rows 5000 --seed 1 -o alarm.csv",
)
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


@app.command(
    cls=_Command,
    epilog="Example: serape study pena2005-table4 --quick",
)
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


@app.command(cls=_Command)
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
