"""Batch static analysis: JSON lines in, JSON lines out, on all cores, in input order.

Each input line is one runtime bytecode. A worker process that dies costs one error line. Reading
is bounded to `_AHEAD` lines for each process, so memory stays bounded on endless input.
"""

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from functools import lru_cache
from queue import SimpleQueue
from threading import Semaphore, Thread
from typing import IO

import msgspec

from analysis.static.analyse_code import CodeAnalysis, analyse_code, unanalysed
from analysis.static.evm.budget import Budget
from analysis.static.evm.disassembly import strip_metadata
from analysis.static.worker_pool import LONGEST_S, process_pool, run_within
from core.report.fields.static_findings import StaticFindings

_LARGEST_CODE = 2**20
"""Bytes. Chains allow 24 kB (EIP-170) to 256 kB; a longer line is a mistake."""

_AHEAD = 8
"""Lines buffered for each process."""

_CHUNK_BYTES = 2**16

_KNOWN_CODES = 256
"""Results cached by each process: clones often come one after another."""

_BUDGET = Budget(seconds=10 * LONGEST_S)
"""Time limit that is never reached: a slow machine makes a whole result unknown, but no other."""


class _Request(msgspec.Struct):
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
    """The id of an invalid line, if it has one."""

    id: str | int | None = None


def lines_of(file: IO[bytes]) -> Iterator[bytes]:
    """Yield a file's lines, each as soon as it arrives.

    Bypasses Python's buffers: a thread blocked inside one aborts the interpreter at exit.
    """
    try:
        descriptor = file.fileno()
    except OSError:
        yield from file
        return
    parts: list[bytes] = []
    while chunk := os.read(descriptor, _CHUNK_BYTES):
        first, *others = chunk.split(b"\n")
        parts.append(first)
        for part in others:
            yield b"".join(parts)
            parts = [part]
    yield b"".join(parts)


def analyse_lines(lines: Iterable[bytes], *, processes: int | None = None) -> Iterator[bytes]:
    """Answer each line `{"id", "runtime"}` with `{"id", "features", "evidence", "ms"}`.

    An invalid line yields `{"id", "error"}`; empty lines yield nothing. Answers come in input
    order, without line ends, each as soon as it and those before it are ready, without waiting for
    further input. `processes`: None is one for each core.
    """
    count = processes or os.cpu_count() or 1
    code_lines = (line for line in lines if line.strip())
    if count == 1:
        yield from map(analyse_line, code_lines)
        return
    events: SimpleQueue[_Event] = SimpleQueue()
    crew = _Crew(count, when_made=lambda: events.put(None))
    try:
        yield from _analysed(code_lines, events, crew, room=Semaphore(count * _AHEAD))
    finally:
        crew.leave()


class _End(msgspec.Struct, frozen=True):
    """End of the input."""

    error: BaseException | None
    """The error that ended it. None: all lines were read."""


_Event = bytes | _End | None
"""An input line, the end of the input, or None: some answer is ready."""


def _analysed(
    code_lines: Iterable[bytes], events: "SimpleQueue[_Event]", crew: "_Crew", *, room: Semaphore
) -> Iterator[bytes]:
    """Yield answers in order. A separate thread reads, so that blocking input delays no answer."""

    def read() -> None:
        error = None
        try:
            for line in code_lines:
                room.acquire()
                events.put(line)
        except BaseException as raised:  # noqa: BLE001 - raised again by the reader of the lines
            error = raised
        events.put(_End(error))

    Thread(target=read, daemon=True).start()
    is_over = False
    while not is_over or crew.has_work:
        event = events.get()
        if isinstance(event, _End):
            is_over = True
            if event.error is not None:
                raise event.error
        elif event is not None:
            crew.take(event)
        while crew.has_answer:
            yield crew.answer()
            room.release()


class _Crew:
    """Process pool that answers lines in order. A line that kills its process yields an error."""

    def __init__(self, count: int, *, when_made: Callable[[], None]) -> None:
        self._count = count
        self._when_made = when_made
        self._pool = process_pool(count)
        self._under_way: deque[tuple[bytes, Future[bytes]]] = deque()

    @property
    def has_work(self) -> bool:
        """True if some line has not been answered."""
        return bool(self._under_way)

    @property
    def has_answer(self) -> bool:
        """True if the oldest line has been answered."""
        return self.has_work and self._under_way[0][1].done()

    def take(self, line: bytes) -> None:
        """Submit a line."""
        try:
            future = self._begin(line)
        except BrokenProcessPool:
            self._begin_anew()
            future = self._begin(line)
        self._under_way.append((line, future))

    def _begin(self, line: bytes) -> "Future[bytes]":
        future = self._pool.submit(analyse_line, line)
        future.add_done_callback(lambda _: self._when_made())
        return future

    def answer(self) -> bytes:
        """Return the answer to the oldest line, and remove it."""
        line, future = self._under_way.popleft()
        try:
            return future.result()
        except BrokenProcessPool:
            return self._answer_alone(line)

    def leave(self) -> None:
        """Shut the pool down after the lines under analysis; pending ones are cancelled.

        The interpreter waits for these at its exit, too, but may then use a pipe that the pool's
        thread is closing (OSError in `concurrent.futures.process._python_exit`).
        """
        self._pool.shutdown(cancel_futures=True)

    def _answer_alone(self, line: bytes) -> bytes:
        """Analyse the oldest line in a separate process. A broken pool does not report which line
        killed it."""
        alone = process_pool(1)
        try:
            answer = alone.submit(analyse_line, line).result()
        except BrokenProcessPool:
            answer = _refuse(line, "the process that examined it died")
        finally:
            alone.shutdown()
        self._begin_anew()
        return answer

    def _begin_anew(self) -> None:
        """Replace the pool, and resubmit the lines that the old one had not answered."""
        self.leave()
        self._pool = process_pool(self._count)
        lost = list(self._under_way)
        self._under_way.clear()
        for line, future in lost:
            is_analysed = future.done() and not future.cancelled() and future.exception() is None
            again = future if is_analysed else self._begin(line)
            self._under_way.append((line, again))


def analyse_line(line: bytes) -> bytes:
    """Analyse one input line, and return its answer or error line."""
    try:
        request = msgspec.json.decode(line, type=_Request)
        runtime = bytes.fromhex(request.runtime.removeprefix("0x"))
    except (ValueError, RecursionError) as error:
        return _refuse(line, str(error))
    if len(runtime) > _LARGEST_CODE:
        return _refuse(line, f"runtime is longer than {_LARGEST_CODE} bytes")
    started = time.perf_counter()
    found = _examined(strip_metadata(runtime))
    took_ms = 1000 * (time.perf_counter() - started)
    answer = _Answer(
        id=request.id,
        features=found.findings,
        evidence={row.key: msgspec.Raw(row.body.encode()) for row in found.evidence},
        ms=round(took_ms, 2),
    )
    return msgspec.json.encode(answer)


@lru_cache(maxsize=_KNOWN_CODES)
def _examined(stripped: bytes) -> CodeAnalysis:
    found = run_within(LONGEST_S, lambda: analyse_code(stripped, budget=_BUDGET))
    return found or unanalysed(stripped)


def _refuse(line: bytes, reason: str) -> bytes:
    try:
        name = msgspec.json.decode(line, type=_Named).id
    except (ValueError, RecursionError):
        name = None
    return msgspec.json.encode(_Refusal(id=name, error=reason))
