"""Second reads of blocks near the head, for logs that nodes had not indexed at the first.

A node may return a part of a block's logs, and no error, while it is still indexing the block.
Each block is therefore read again by range once it is some time old, several blocks in one query.
More logs than at the first read mean that the block has to be stored again.
"""

import itertools
from collections.abc import Mapping, Sequence

import msgspec
import numpy as np
import structlog

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.evm.primitives import BlockRef, Hash32
from core.process.arrays import Int64Array
from core.rpc.failures import DisagreementError, RangeRefusedError
from indexer.block_spans import count_logs, join_spans
from indexer.decode.log_columns import HASH_BYTES, LogColumns
from indexer.log_reader import LogReader
from indexer.span_reader import SpanReader

_LEAST_AT_ONCE = 8
_MOST_AT_ONCE = 128
"""Blocks of one second read: more make it cheaper, and the blocks that are stored again older."""
_ATTEMPTS = 2
"""Reads of the same blocks, if the second read lacks logs of the first."""

_log = structlog.get_logger(__name__)


class SecondReadTotals(msgspec.Struct, frozen=True, kw_only=True):
    """Totals of second reads since the start."""

    blocks: int = 0
    """Blocks read again."""
    late_blocks: int = 0
    """Blocks that had more logs than at the first read."""
    late_logs: int = 0
    """Logs that the first read lacked."""
    unconfirmed_blocks: int = 0
    """Blocks that no second read confirmed: refused, or with fewer logs than the first."""

    def plus(self, other: "SecondReadTotals") -> "SecondReadTotals":
        """Return the sum of both."""
        own: dict[str, int] = msgspec.structs.asdict(self)
        more: dict[str, int] = msgspec.structs.asdict(other)
        return SecondReadTotals(**{name: count + more[name] for name, count in own.items()})


class SecondRead(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Result of one second read."""

    late: Mapping[Hash32, LogColumns] = {}
    """All logs of the blocks that had more than before, by block hash."""
    first_late: int | None = None
    """Lowest of these blocks. None: there is none."""
    totals: SecondReadTotals = SecondReadTotals()


class SecondReader:
    """Schedule and reads of one chain."""

    def __init__(
        self, chain: Chain, reader: LogReader, settings: IndexerSettings, topics: Sequence[Hash32]
    ) -> None:
        self._chain = chain
        self._spans = SpanReader(reader, settings, topics=topics)
        self.is_on = settings.late_logs_s > 0
        self._settled_blocks = settled_blocks(chain, settings)
        self._at_once = _at_once(self._settled_blocks)

    def next_range(self, confirmed: int, tip: int, *, is_all: bool = False) -> range:
        """Return the blocks to read again now, which follow the last confirmed one.

        `is_all`: up to the tip, whatever its age. Empty: none yet.
        """
        settled = tip if is_all or not self.is_on else tip - self._settled_blocks
        if not is_all and self.is_on and settled - confirmed < self._at_once:
            return range(0)
        return range(confirmed + 1, settled + 1)

    async def read(
        self, blocks: Sequence[BlockRef], counts: Mapping[int, int], *, anchor: BlockRef
    ) -> SecondRead:
        """Read consecutive stored blocks again, on the branch of `anchor`.

        `counts`: logs of the first read by block, without those that need no second one. Raises
        UpstreamError.
        """
        first, last = blocks[0].number, blocks[-1].number
        before = np.array([counts.get(block.number, -1) for block in blocks], np.int64)
        if not self.is_on or (before < 0).all():
            return SecondRead()
        try:
            logs = await self._read(blocks, before, anchor)
        except RangeRefusedError as error:
            _log.warning("blocks not read again", first=first, last=last, reason=str(error))
            return SecondRead(totals=SecondReadTotals(unconfirmed_blocks=len(blocks)))
        now = count_logs(logs, first=first, last=last)
        return self._result(blocks, logs, before, now)

    async def _read(
        self, blocks: Sequence[BlockRef], before: Int64Array, anchor: BlockRef
    ) -> LogColumns:
        first, last = blocks[0].number, blocks[-1].number
        for attempt in itertools.count(1):
            logs = join_spans(await self._spans.fetch(first, last, anchor=anchor)).logs
            _check_hashes(logs, blocks)
            lacks_none = (count_logs(logs, first=first, last=last) >= before).all()
            if lacks_none or attempt >= _ATTEMPTS:
                return logs
        raise AssertionError

    def _result(
        self, blocks: Sequence[BlockRef], logs: LogColumns, before: Int64Array, now: Int64Array
    ) -> SecondRead:
        is_late = (now > before) & (before >= 0)
        late = [block for block, one in zip(blocks, is_late.tolist(), strict=True) if one]
        totals = SecondReadTotals(
            blocks=len(blocks),
            late_blocks=len(late),
            late_logs=int((now - before)[is_late].sum()),
            unconfirmed_blocks=int((now < before).sum()),
        )
        if late:
            _log.warning(
                "logs came late",
                chain=self._chain.slug,
                first=late[0].number,
                blocks=totals.late_blocks,
                logs=totals.late_logs,
            )
        if totals.unconfirmed_blocks:
            _log.warning(
                "second read lacks logs of the first",
                chain=self._chain.slug,
                first=blocks[0].number,
                blocks=totals.unconfirmed_blocks,
            )
        return SecondRead(
            late={block.hash: logs.in_block(block.number) for block in late},
            first_late=late[0].number if late else None,
            totals=totals,
        )


def settled_blocks(chain: Chain, settings: IndexerSettings) -> int:
    """Return the age, in blocks, at which logs are read a second time."""
    return chain.blocks_in(settings.late_logs_s)


def unwound_blocks(chain: Chain, settings: IndexerSettings) -> int:
    """Return the most blocks that may be unwound: in a reorg, or to store late logs."""
    settled = settled_blocks(chain, settings)
    return max(chain.finality_blocks, settled + _at_once(settled))


def _at_once(settled: int) -> int:
    return min(max(settled // 2, _LEAST_AT_ONCE), _MOST_AT_ONCE)


def _check_hashes(logs: LogColumns, blocks: Sequence[BlockRef]) -> None:
    """Check that the logs are of these blocks, not of blocks that have replaced them."""
    first = blocks[0].number
    hashes = np.frombuffer(bytes.fromhex("".join(block.hash[2:] for block in blocks)), np.uint8)
    own = hashes.reshape(-1, HASH_BYTES)
    for group in logs.groups:
        strange = (group.block_hash != own[group.block_number - first]).any(axis=1)
        if strange.any():
            number = int(group.block_number[strange][0])
            raise DisagreementError(
                first=f"logs of blocks {first} to {blocks[-1].number}",
                second=f"the stored block {number}",
                difference="a log is of another block",
            )
