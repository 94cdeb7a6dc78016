"""What may become of a random input: it is used, or refused in one sentence, soon."""

from __future__ import annotations

import tempfile
import time
import warnings
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import serape

MAX_SECONDS = 60.0
"""What is asked of small inputs ends within a second; on a busy machine within this."""


@cache
def _folder() -> tempfile.TemporaryDirectory[str]:
    return tempfile.TemporaryDirectory()


def scratch(name: str) -> Path:
    """Return the path of a file in a folder that is deleted at the end."""
    return Path(_folder().name) / name


def outcome_of(ask: Callable[..., Any], *arguments: Any, also: tuple[type[Exception], ...] = ()) -> str:
    """Return "used" or "refused"; fail if an error is not serape's own, says more than one line, or comes late."""
    begin = time.perf_counter()
    outcome = "used"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            ask(*arguments)
        except serape.SerapeError as error:
            text = str(error)
            assert text, type(error)
            assert "\n" not in text, text
            assert "\x1b" not in text, text
            text.encode()  # a lone surrogate cannot be written
            outcome = "refused"
        except also:
            outcome = "refused"
    seconds = time.perf_counter() - begin
    assert seconds < MAX_SECONDS, f"it took {seconds:.0f} s"
    return outcome
