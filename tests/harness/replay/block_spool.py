"""Encoded blocks in a temporary file, so that answers are slices of it and memory stays small."""

import mmap
import tempfile
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Self

import msgspec

from core.evm.primitives import Hash32
from tests.harness.replay.block_encoding import EncodedBlock

_FIRST_CAPACITY = 1 << 24

Buffers = list[memoryview]


class LogFilter(msgspec.Struct, frozen=True):
    """Filter of a block's logs, by emitter and topic 0. None: any."""

    addresses: frozenset[str] | None = None
    """In lower case."""
    topics: frozenset[str] | None = None


class SpooledBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block whose logs lie in the file."""

    number: int
    hash: Hash32
    header: bytes
    starts: "array[int]"
    """Offset of each log in the file, and the end of the last. Each has a comma behind."""
    emitters: tuple[str, ...]
    """Emitter of each log."""
    topics: tuple[str, ...]
    """Topic 0 of each log; "" where it has none."""
    topics_present: frozenset[str]
    transactions: "array[int]"
    transaction_hashes: tuple[Hash32, ...]

    def runs(self, wanted: LogFilter) -> Iterator[tuple[int, int]]:
        """Yield begin and end of runs of neighbouring matches in the file."""
        if wanted.addresses is None and (
            wanted.topics is None or self.topics_present <= wanted.topics
        ):
            yield self.starts[0], self.starts[-1]
            return
        since: int | None = None
        for at, is_wanted in enumerate(self._matches(wanted)):
            if is_wanted and since is None:
                since = at
            elif not is_wanted and since is not None:
                yield self.starts[since], self.starts[at]
                since = None
        if since is not None:
            yield self.starts[since], self.starts[-1]

    def _matches(self, wanted: LogFilter) -> Iterator[bool]:
        if wanted.addresses is None and wanted.topics is not None:
            accepted = wanted.topics
            return (topic in accepted for topic in self.topics)
        return (
            (wanted.addresses is None or emitter in wanted.addresses)
            and (wanted.topics is None or topic in wanted.topics)
            for emitter, topic in zip(self.emitters, self.topics, strict=True)
        )


class BlockSpool:
    """The file. Close it when done; slices given out stay readable until they are dropped."""

    def __init__(self, folder: Path | None = None, *, capacity: int = _FIRST_CAPACITY) -> None:
        """Create the file in a folder, else in the temporary one, with an initial capacity in
        bytes."""
        self._file = tempfile.TemporaryFile(prefix="assay-replay-", dir=folder)  # noqa: SIM115 - closed below
        self._names: dict[str, str] = {}
        self._map = self._grown(capacity)
        self._end = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def size(self) -> int:
        """Bytes of logs."""
        return self._end

    def add(self, block: EncodedBlock) -> SpooledBlock:
        """Write a block's logs behind the last one's."""
        begin, self._end = self._end, self._end + len(block.logs)
        if self._end > len(self._map):
            self._map = self._grown(max(2 * len(self._map), self._end))
        self._map[begin : self._end] = block.logs
        topics = tuple(self._once(log.topics[0]) if log.topics else "" for log in block.emitted)
        return SpooledBlock(
            number=block.number,
            hash=block.hash,
            header=block.header,
            starts=array("Q", [begin + at for at in block.starts]),
            emitters=tuple(self._once(log.address) for log in block.emitted),
            topics=topics,
            topics_present=frozenset(topics),
            transactions=block.transactions,
            transaction_hashes=block.transaction_hashes,
        )

    def logs(self, blocks: Sequence[SpooledBlock], wanted: LogFilter) -> Buffers:
        """Return the matching logs in order, as the inside of a JSON list."""
        runs: list[list[int]] = []
        for block in blocks:
            for begin, end in block.runs(wanted):
                if runs and runs[-1][1] == begin:
                    runs[-1][1] = end
                elif begin < end:
                    runs.append([begin, end])
        if runs:
            runs[-1][1] -= 1
        return self.slices(runs)

    def slices(self, runs: Sequence[Sequence[int]]) -> Buffers:
        """Return chunks of the file, given by begin and end."""
        view = memoryview(self._map)
        return [view[begin:end] for begin, end in runs]

    def close(self) -> None:
        """Give up the file."""
        self._file.close()

    def _grown(self, capacity: int) -> mmap.mmap:
        self._file.truncate(capacity)
        return mmap.mmap(self._file.fileno(), capacity)

    def _once(self, name: str) -> str:
        """The same text object for the same text: there are far more logs than emitters."""
        return self._names.setdefault(name, name)
