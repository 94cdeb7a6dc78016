"""How near the kernels of all pairs come to the limits of a GPU."""

from __future__ import annotations

from typing import Any

import serape
from benchmarks.common.internals import PairWork, pair_work
from benchmarks.common.output import markdown, short

_PEAK = """
extern "C" __global__ void peak(int* out, int turns) {
    int counts[8][4] = {};
    const uint2 low = {threadIdx.x, 3u}, high = {5u, threadIdx.x}, b = {7u, threadIdx.x};
    for (int turn = 0; turn < turns; ++turn) {
#pragma unroll
        for (int k = 0; k < 8; ++k) {
            count_shared_ones(counts[k], low, high, b);
        }
    }
    int sum = 0;
    for (int k = 0; k < 8; ++k) {
        sum += counts[k][0] + counts[k][3];
    }
    out[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}
"""
_BITS = 16 * 8 * 256  # pairs of bits that one instruction of tensor cores counts


def limits() -> tuple[float, float]:
    """Measure how many pairs of bits tensor cores count a second, and how many bytes a second a copy moves."""
    import cupy

    from serape.engines.gpu.device import source

    kernel = cupy.RawModule(code=source("common.cuh") + _PEAK, options=("--std=c++17",)).get_function("peak")
    blocks, turns = 4 * cupy.cuda.Device().attributes["MultiProcessorCount"], 20_000
    out = cupy.empty(blocks * 256, cupy.int32)
    counted = _seconds(lambda: kernel((blocks,), (256,), (out, cupy.int32(turns))))
    data = cupy.ones(1 << 29, cupy.uint32)
    other = cupy.empty_like(data)
    copied = _seconds(lambda: other.data.copy_from_device_async(data.data, data.nbytes))
    return blocks * 8 * turns * 8 * _BITS / counted, 2 * data.nbytes / copied


def _seconds(job: Any) -> float:
    import cupy

    seconds = []
    for _ in range(5):
        begin, end = cupy.cuda.Event(), cupy.cuda.Event()
        begin.record()
        job()
        end.record()
        end.synchronize()
        seconds.append(cupy.cuda.get_elapsed_time(begin, end) / 1e3)
    return float(min(seconds[1:]))


def table_of(tables: dict[str, tuple[serape.Table, float, int | None]]) -> tuple[str, list[dict[str, Any]]]:
    """Return, for tables with alpha and the strongest partners to keep (None to list pairs), what kernels do.

    Bits are counted as n² words · 32 / 2 for n planes (without / 2 where both sides of a pair are visited), words those
    of a plane, padded to 32; bytes are those that tiles of 128 planes copy to shared memory.
    """
    bits, bandwidth = limits()
    print(f"\nmeasured limits: {bits:.3g} pairs of bits a second, {bandwidth:.3g} bytes a second\n", flush=True)
    rows, measured = [], []
    for name, (table, alpha, strongest) in tables.items():
        work: PairWork = pair_work(table, alpha, strongest)
        at_best = work.bits / bits
        rows.append(
            [
                name, f"{work.bits:.3g}", f"{work.shared_bytes:.3g}", f"{work.device_bytes:.3g}",
                *(short(1e3 * seconds) for seconds in (at_best, work.device_bytes / bandwidth, work.seconds)),
                f"{100 * at_best / work.seconds:.0f} %",
            ]
        )  # fmt: skip
        measured.append({"question": name, **work._asdict(), "bits_a_second": bits, "bytes_a_second": bandwidth})
    head = ["question", "pairs of bits", "bytes to shared memory", "bytes of the table", "bits at the limit, ms",
            "bytes at the limit, ms", "kernel, ms", "share"]  # fmt: skip
    return markdown(head, rows), measured
