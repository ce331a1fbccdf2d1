"""Static analysis of many codes: JSON lines in, JSON lines out, over all cores, in order."""

import os
import time
from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context

import msgspec

from analysis.static.examine import examine
from sql.rows import StaticFindings

_LARGEST_CODE = 2**20
"""Bytes. Chains allow 24 kB (EIP-170) to 256 kB; a longer line is a mistake."""

_AHEAD = 8
"""Lines read ahead for each process."""


class _Asked(msgspec.Struct):
    id: str | int
    runtime: str


class _Answer(msgspec.Struct, kw_only=True):
    id: str | int
    features: StaticFindings
    evidence: dict[str, msgspec.Raw]
    ms: float
    """Milliseconds of one core."""


class _Refusal(msgspec.Struct, kw_only=True):
    id: str | int | None
    error: str


class _Named(msgspec.Struct):
    """A bad line's id, where it has one."""

    id: str | int | None = None


def examine_lines(lines: Iterable[bytes], *, processes: int | None = None) -> Iterator[bytes]:
    """Answer each line `{"id", "runtime"}` with `{"id", "features", "evidence", "ms"}`.

    A line that cannot be used gives `{"id", "error"}`; empty lines give nothing. Answers come in
    the order asked, without line ends. `processes`: None is one for each core.
    """
    count = processes or os.cpu_count() or 1
    asked = (line for line in lines if line.strip())
    if count == 1:
        yield from map(examine_line, asked)
        return
    waiting: deque[Future[bytes]] = deque()
    with ProcessPoolExecutor(count, mp_context=get_context("spawn")) as pool:
        for line in asked:
            waiting.append(pool.submit(examine_line, line))
            if len(waiting) >= count * _AHEAD:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def examine_line(line: bytes) -> bytes:
    """Answer one line."""
    try:
        asked = msgspec.json.decode(line, type=_Asked)
        runtime = bytes.fromhex(asked.runtime.removeprefix("0x"))
    except (ValueError, RecursionError) as error:
        return _refuse(line, str(error))
    if len(runtime) > _LARGEST_CODE:
        return _refuse(line, f"runtime is longer than {_LARGEST_CODE} bytes")
    started = time.perf_counter()
    found = examine(runtime)
    took_ms = 1000 * (time.perf_counter() - started)
    answer = _Answer(
        id=asked.id,
        features=found.findings,
        evidence={row.key: msgspec.Raw(row.body.encode()) for row in found.evidence},
        ms=round(took_ms, 2),
    )
    return msgspec.json.encode(answer)


def _refuse(line: bytes, reason: str) -> bytes:
    try:
        name = msgspec.json.decode(line, type=_Named).id
    except (ValueError, RecursionError):
        name = None
    return msgspec.json.encode(_Refusal(id=name, error=reason))
