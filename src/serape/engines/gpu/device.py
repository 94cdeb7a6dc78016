"""The GPU: arrays on it, and kernels compiled when they are first used, by CuPy.

A `Device` has an array library, `xp`, and launches kernels. The tests have another, which runs the same kernels on the
CPU with NumPy's arrays.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from functools import lru_cache
from importlib import resources
from typing import Any, Protocol

from serape.errors import MissingLibraryError, SerapeError
from serape.wording import setting

KERNELS = resources.files("serape.engines.gpu") / "kernels"
_LEAST_CAPABILITY = (8, 0)  # tensor cores that count ones
Macros = Mapping[str, int]


class Device(Protocol):
    """What runs kernels."""

    xp: Any
    """NumPy, or CuPy, which offers the same functions for arrays on the GPU."""
    memory: int
    """Bytes of memory."""

    @property
    def here(self) -> bool:
        """Whether this process can use it: one that was forked after the first use cannot."""

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
        """Run a kernel of a file, compiled with macros, on a grid of blocks of so many threads.

        `shared_bytes` is the size of shared memory that is set at the launch.
        """

    def to_host(self, array: Any) -> Any:
        """Return an array as one of NumPy."""


class CudaDevice:
    """An NVIDIA GPU."""

    def __init__(self) -> None:
        try:
            import cupy
        except ImportError as error:
            raise MissingLibraryError(
                f"{setting('engine', 'gpu')} needs CuPy; install it by `pip install 'serape[cuda13]'` (or cuda12, "
                f"as `nvidia-smi` tells), or use {setting('engine', 'cpu')}"
            ) from error
        self.xp = cupy
        try:
            count = cupy.cuda.runtime.getDeviceCount()
        except cupy.cuda.runtime.CUDARuntimeError as error:
            raise SerapeError(
                f"{setting('engine', 'gpu')} found no usable GPU ({error}); use {setting('engine', 'cpu')}"
            ) from error
        if count == 0:
            raise SerapeError(f"{setting('engine', 'gpu')} found no GPU; use {setting('engine', 'cpu')}")
        capability = tuple(int(digit) for digit in str(cupy.cuda.Device().compute_capability))
        if capability < _LEAST_CAPABILITY:
            raise SerapeError(
                f"{setting('engine', 'gpu')} needs an NVIDIA GPU of compute capability 8.0 or more, and this one has "
                f"{capability[0]}.{capability[1]}; use {setting('engine', 'cpu')}"
            )
        self._process = os.getpid()
        self.memory = int(cupy.cuda.runtime.memGetInfo()[1])
        self._modules: dict[tuple[str, tuple[tuple[str, int], ...]], Any] = {}

    @property
    def here(self) -> bool:
        """Whether this process can use it."""
        return os.getpid() == self._process

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
        function = self._module(file, macros).get_function(kernel)
        if shared_bytes:
            function.max_dynamic_shared_size_bytes = shared_bytes
        function(grid, (threads,), tuple(arguments), shared_mem=shared_bytes)

    def to_host(self, array: Any) -> Any:
        """Return an array as one of NumPy."""
        return self.xp.asnumpy(array)

    def _module(self, file: str, macros: Macros) -> Any:
        key = file, tuple(sorted(macros.items()))
        if key not in self._modules:
            options = ("--std=c++17", *(f"-D{name}={value}" for name, value in key[1]))
            self._modules[key] = self.xp.RawModule(code=source(file), options=options)
        return self._modules[key]


def source(file: str) -> str:
    """Return the text of a file of kernels, with the files that it includes in their places, each once."""
    met: set[str] = set()

    def text(name: str) -> str:
        if name in met:
            return ""
        met.add(name)
        lines = (KERNELS / name).read_text(encoding="utf-8").splitlines()
        return "\n".join(
            text(line.split('"')[1]) if line.startswith('#include "') and ".cuh" in line else line
            for line in lines
            if line != "#pragma once"
        )

    return text(file) + "\n"


@lru_cache(maxsize=1)
def cuda_device() -> CudaDevice:
    """Return the GPU, or raise an error that says in one sentence what is missing."""
    return CudaDevice()
