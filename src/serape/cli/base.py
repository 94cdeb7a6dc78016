"""The application: its commands, their exit codes, and the options that they share."""

from __future__ import annotations

import gc
import inspect
import io
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from functools import cache, partial, wraps
from importlib import import_module
from typing import Annotated, Any, Literal, NoReturn, TypeVar, get_args, get_origin, get_type_hints

import typer
import typer.core
import typer.main
from typer.models import CommandInfo

import serape
from serape.errors import Interrupted, OptionError, SerapeError, command_words
from serape.markup import plain

BAD_DATA, BAD_USE, INCOMPLETE, INTERRUPTED, BROKEN_PIPE = 1, 2, 3, 130, 141
EXIT_CODES = {
    0: "done",
    BAD_DATA: "bad data",
    BAD_USE: "bad use",
    INCOMPLETE: "a limit of time, tests or blankets ended the search (the result so far is printed)",
    INTERRUPTED: "interrupted (the result so far is printed)",
    BROKEN_PIPE: "the program that reads the output has ended",
}
Found = TypeVar("Found")

to_close = ExitStack()
"""What a command leaves open until its output is written."""


MODULES: dict[str, str] = {}
"""The module of every command, in the order of the help."""
SUMMARIES: dict[str, str] = {}
"""What the help says of every command; "" if it does not list it."""
_made: dict[str, Callable[[], typer.Typer]] = {}
"""What makes the commands of modules that are imported, by name."""


def find_command(name: str) -> CommandInfo:
    """Return what is known of a command; its module is imported only now."""
    return _alone(name).registered_commands[0]


def _alone(name: str) -> typer.Typer:
    """Return a command as an application of its own."""
    import_module(MODULES[name])
    return _made[name]()


class _Commands(Mapping[str, Any]):
    """All commands by name; one is made when it is looked up, because options of many take long to make."""

    def __getitem__(self, name: str) -> Any:
        return typer.main.get_command(_alone(name))

    def __iter__(self) -> Iterator[str]:
        return iter(MODULES)

    def __len__(self) -> int:
        return len(MODULES)


def _take_as_given(command: Any, context: Any) -> None:
    """Let the options of a command take values that already are of their types as they are.

    Typer would import Pydantic even for a value that nobody gave, which takes as long as many answers.
    """
    types = command.callback.__annotations__

    def process_value(option: Any, by_typer: Callable[..., Any], context: Any, value: Any) -> Any:
        refused = option.required and not context.resilient_parsing  # completion begins before all is given
        if refused if value is None else not _is_of(types.get(option.name), value):
            return by_typer(context, value)
        return value if option.callback is None else option.callback(context, option, value)

    for option in command.get_params(context):
        option.process_value = partial(process_value, option, option.process_value)


def _is_of(kind: Any, value: Any) -> bool:
    """Return whether a value is of a type as commands declare them: X, list[X], Literal[...] or X | None."""
    inner = get_args(kind)
    if get_origin(kind) is Annotated:
        return _is_of(inner[0], value)
    if get_origin(kind) is Literal:
        return value in inner
    if get_origin(kind) is list:
        return isinstance(value, list | tuple) and all(_is_of(inner[0], one) for one in value)
    if inner:
        return any(_is_of(one, value) for one in inner)
    return isinstance(kind, type) and isinstance(value, kind)


class Group(typer.core.TyperGroup):
    """The commands; their help exits silently if nobody reads it."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands: Any = _Commands()

    def list_commands(self, ctx: Any) -> list[str]:
        """Return the names of the commands."""
        del ctx
        return list(MODULES)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """Return a command as the help lists it, without its options."""
        del ctx
        if cmd_name not in MODULES:
            return None
        return typer.core.TyperCommand(cmd_name, help=SUMMARIES[cmd_name], hidden=not SUMMARIES[cmd_name])

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[str | None, Any, list[str]]:
        """Return the command that arguments name, with its options, and the arguments that are left to it."""
        name, found, left = super().resolve_command(ctx, args)
        return name, found and self.commands[name], left

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the name of a command."""
        _take_as_given(self, ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        with _read_by_somebody():
            super().format_help(ctx, formatter)


app = typer.Typer(
    name="serape",
    cls=Group,
    help="Find the Markov blanket of a variable: the smallest set of columns that makes it independent of all others.",
    epilog="Start with: serape demo\n\nThen, on a file of your own: serape blanket FILE.csv --target COLUMN\n\n"
    f"Exit codes: {', '.join(f'{code} {meaning}' for code, meaning in EXIT_CODES.items())}. "
    "NO_COLOR=1 turns colours off.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    context_settings={
        "help_option_names": ["--help", "-h"],
        "token_normalize_func": lambda word: word.lower().replace("_", "-"),  # of commands, options and their words
    },
)


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of NumPy: the matrices are too small for several threads
    out = sys.stdout
    if isinstance(out, io.TextIOWrapper):
        out.reconfigure(errors="backslashreplace")  # of names that its encoding lacks
    with to_close, _loading():
        try:
            app(args=arguments, prog_name="serape")
        except SystemExit:
            if sys.stdout is not out:  # typer has replaced it, because nobody reads it
                _exit_unread()
            raise
        except OptionError as error:
            _fail(command_words(error), BAD_USE)
        except SerapeError as error:
            _fail(command_words(error), BAD_DATA)
        except OSError as error:
            _close_output()
            what = f"{error.filename} cannot be used" if error.filename else "the output cannot be written"
            _fail(f"{what}: {error.strerror or error}", BAD_DATA)
        except MemoryError:
            _fail("there is not enough memory; use fewer columns or rows, a packed file, or a smaller --jobs", BAD_DATA)
    sys.exit(0)


@contextmanager
def _loading() -> Iterator[None]:
    """Do not look for garbage until the command begins, if one does: modules that are loaded are none."""
    gc.disable()
    try:
        yield
    finally:
        if not gc.isenabled():
            _loaded()


def _loaded() -> None:
    """Look for garbage again, but never among the modules, which takes long; Python would at its end at the latest."""
    gc.freeze()
    gc.enable()


class Command(typer.core.TyperCommand):
    """A command that exits with one line when it is interrupted, and silently if nobody reads its output."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options."""
        _take_as_given(self, ctx)
        return super().parse_args(ctx, args)

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Print the help."""
        with _read_by_somebody():
            super().format_help(ctx, formatter)

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        _loaded()
        try:
            found = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return found
        except KeyboardInterrupt:
            _fail("interrupted", INTERRUPTED)
        except BrokenPipeError:  # as in `serape sample alarm | head`
            _exit_unread()


@contextmanager
def _read_by_somebody() -> Iterator[None]:
    """Exit as other programs do if nobody reads the help."""
    try:
        yield
        if sys.stdout is not None:
            sys.stdout.flush()
    except (BrokenPipeError, SystemExit):  # rich exits by itself
        _exit_unread()


def _exit_unread() -> NoReturn:
    _close_output()
    sys.exit(BROKEN_PIPE)


def _close_output() -> None:
    """Send what is left in the buffer of standard output nowhere, so that Python does not try to write it at exit."""
    with suppress(OSError, ValueError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(sentence: str, code: int) -> NoReturn:
    print(plain(f"serape: {sentence}"), file=sys.stderr)  # noqa: T201
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


def command(
    name: str, *examples: str, about: str | None = None, alias: str | None = None
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Make a function a command of this name, with examples below its help. The help does not list the `alias`.

    A parameter whose type is a group of `Options` stands for all of them.
    """
    head = "Example" if len(examples) == 1 else "Examples"
    epilog = "\n\n".join([f"{head}:", *examples]) if len(examples) > 1 else f"{head}: {examples[0]}"

    def register(function: Callable[..., None]) -> Callable[..., None]:
        spread = cache(lambda: _spread(function))

        def make(word: str) -> typer.Typer:
            made = typer.Typer(add_completion=False)
            made.command(word, cls=Command, help=about, epilog=epilog, hidden=word == alias)(spread())
            return made

        _made.update({word: partial(make, word) for word in (name, alias) if word is not None})
        return function

    return register


def command_later(name: str, add: Callable[[], None]) -> None:
    """Let `add` make the command of this name, by `command`, when it is looked up."""

    def make() -> typer.Typer:
        add()
        return _made[name]()

    _made[name] = make


class Options:
    """Options that several commands share: in the signature of a command, it stands for one option per attribute."""

    def __init__(self, **given: Any) -> None:
        vars(self).update({one.name: one.default for one in self.parameters()} | given)

    @classmethod
    def parameters(cls) -> list[inspect.Parameter]:
        """Return the options: the attributes whose types are annotated for typer."""
        hints = get_type_hints(cls, include_extras=True)
        return [parameter(name, hint, getattr(cls, name, REQUIRED)) for name, hint in hints.items() if is_option(hint)]


REQUIRED = inspect.Parameter.empty


def is_option(hint: Any) -> bool:
    """Return whether a type is annotated for typer."""
    return get_origin(hint) is Annotated


def parameter(name: str, hint: Any, default: Any) -> inspect.Parameter:
    """Return a parameter of a command."""
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=hint)


def _spread(function: Callable[..., None]) -> Callable[..., None]:
    """Return the function with its options in place of each group of options."""
    hints = get_type_hints(function, include_extras=True)
    groups = {name: hint for name, hint in hints.items() if isinstance(hint, type) and issubclass(hint, Options)}
    parameters: list[inspect.Parameter] = []
    spread = {name: kind.parameters() for name, kind in groups.items()}
    for name, one in inspect.signature(function).parameters.items():
        parameters += spread[name] if name in spread else [parameter(name, hints[name], one.default)]

    @wraps(function)
    def run(**given: Any) -> None:
        made = {
            name: groups[name](**{one.name: given.pop(one.name) for one in options}) for name, options in spread.items()
        }
        function(**given, **made)

    run.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    run.__annotations__ = {one.name: one.annotation for one in parameters}
    return run


def in_command_words(found: object) -> None:
    """Put the notes of a result, which is the command's own, into the words of the command line."""
    from serape.results.kind import ResultKind

    if isinstance(found, ResultKind):
        found._reword(command_words)


def answer(
    question: Callable[[], Found],
    show: Callable[[Found], None],
    stopped: Callable[[Found], bool] | None = None,
) -> None:
    """Ask a question and show the result, or the result so far; exit codes tell what ended the search.

    `stopped` tells whether Ctrl-C ended a question that returns its result all the same.
    """
    interrupted = False
    try:
        found = question()
    except Interrupted as stop:
        found, interrupted = stop.found, True
    in_command_words(found)
    show(found)
    if interrupted or (stopped is not None and stopped(found)):
        raise typer.Exit(INTERRUPTED)
    if not getattr(found, "complete", True):
        raise typer.Exit(INCOMPLETE)
