"""A device that runs kernels on the CPU: the same text, compiled by the C++ compiler with `emulator.hpp`."""

from __future__ import annotations

import ctypes
import hashlib
import os
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from serape.engines.gpu.device import Macros, source

COMPILER = os.environ.get("CXX") or shutil.which("c++") or shutil.which("g++")


class EmulatedDevice:
    """Kernels on the CPU."""

    xp: Any = np
    memory = 1 << 30
    here = True

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._libraries: dict[str, ctypes.CDLL] = {}

    def launch(
        self,
        file: str,
        macros: Macros,
        kernel: str,
        grid: tuple[int, int],
        threads: int,
        arguments: Sequence[Any],
        shared_bytes: int = 0,
    ) -> None:
        """Run a kernel."""
        assert shared_bytes <= 16384 * 16
        kept = [np.ascontiguousarray(a) if isinstance(a, np.ndarray) else a for a in arguments]
        assert all(a is b for a, b in zip(kept, arguments, strict=True)), "arrays must be contiguous"
        values = [ctypes.c_void_p(a.ctypes.data) if isinstance(a, np.ndarray) and a.ndim else _scalar(a) for a in kept]
        pointers = (ctypes.c_void_p * len(values))(*(ctypes.addressof(value) for value in values))
        getattr(self._library(file, macros), f"launch_{kernel}")(*grid, threads, pointers)

    def to_host(self, array: Any) -> Any:
        """Return an array as one of NumPy."""
        return array

    def _library(self, file: str, macros: Macros) -> ctypes.CDLL:
        options = [f"-D{name}={value}" for name, value in sorted(macros.items())]
        text = source(file)
        here = Path(__file__).parent
        header = (here / "emulator.hpp").read_text(encoding="utf-8")
        name = hashlib.sha256("\n".join([text, header, *options]).encode()).hexdigest()[:16]
        if name not in self._libraries:
            library = self._folder / f"{name}.so"
            if not library.exists():
                path = self._folder / f"{name}.{os.getpid()}.cpp"
                path.write_text(text, encoding="utf-8")
                made = path.with_suffix(".so")
                options += ["-std=c++20", "-O1", "-fPIC", "-shared", "-ffp-contract=off", "-w", "-DSERAPE_EMULATED"]
                subprocess.run([str(COMPILER), *options, f"-I{here}", str(path), "-o", str(made)], check=True)
                made.replace(library)
            self._libraries[name] = ctypes.CDLL(str(library))
        return self._libraries[name]


def _scalar(value: Any) -> Any:
    kinds = {"uint32": ctypes.c_uint32, "int64": ctypes.c_int64, "uint64": ctypes.c_uint64, "float32": ctypes.c_float,
             "float64": ctypes.c_double, "int32": ctypes.c_int32}  # fmt: skip
    return kinds[np.asarray(value).dtype.name](value.item())
