"""Reads of headers for following and back-fills, and the spans of blocks that reads return.

Contradictory answers raise DisagreementError inside the client's retries, so another endpoint is
tried.
"""

import itertools
from collections.abc import Collection, Sequence

import msgspec
import numpy as np

from core.evm.primitives import BlockRef, Hash32
from core.process.arrays import Int64Array
from core.rpc.client import RpcClient
from core.rpc.failures import DisagreementError
from core.rpc.headers import Header, decode_header, header_request
from core.rpc.messages import RpcAnswer
from indexer.answer_checks import check_anchor, check_number
from indexer.decode.log_columns import NO_TIME, LogColumns, join_logs, no_logs
from indexer.decode.pool_events import CREATION_TOPICS
from indexer.decode.transfer_events import TRANSFER_TOPIC

TOPICS: tuple[Hash32, ...] = (*CREATION_TOPICS, TRANSFER_TOPIC)
"""Topics ingested on every chain. Queried without addresses, as there are too many tokens to list.
"""


class BlockSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A gapless run of blocks with all their logs, consistent with their headers."""

    first: int
    last: int
    parent_hash: Hash32
    """Parent hash of the first block."""
    logs: LogColumns
    headers: tuple[Header, ...]
    """Headers of all blocks if read one by one, only of the last if read by range."""
    is_whole: bool = False
    """True if no log can be missing: they account for the whole bloom filters."""

    @property
    def tip(self) -> BlockRef:
        """Return the last block."""
        return self.headers[-1].ref

    def times_of(self, numbers: Collection[int]) -> dict[int, int]:
        """Return the known times of blocks, Unix seconds, by header or else by their logs."""
        times: dict[int, int] = {}
        wanted = np.array(sorted(numbers), np.int64)
        for group in self.logs.groups if wanted.size else ():
            at = np.flatnonzero(np.isin(group.block_number, wanted) & (group.time_s != NO_TIME))
            times |= zip(group.block_number[at].tolist(), group.time_s[at].tolist(), strict=True)
        times |= {
            header.number: header.ref.time_s for header in self.headers if header.number in numbers
        }
        return times

    @property
    def log_counts(self) -> dict[int, int]:
        """Return the number of logs by block, for blocks read one by one that may lack some."""
        if self.is_whole or len(self.headers) <= self.last - self.first:
            return {}
        counts = count_logs(self.logs, first=self.first, last=self.last)
        return dict(enumerate(counts.tolist(), start=self.first))


class GatheredSpan:
    """Joined spans with the only reference to their logs, so that the logs can be freed early."""

    def __init__(self, spans: Sequence[BlockSpan]) -> None:
        """Join consecutive spans. Raises DisagreementError if they are not consecutive."""
        self.span = join_spans(spans)

    def drop_logs(self) -> None:
        """Remove the logs, keep everything else."""
        self.span = msgspec.structs.replace(self.span, logs=no_logs())


async def fetch_header(client: RpcClient, number: int) -> Header | None:
    """Return the canonical block at a height; None if the node has none. Raises UpstreamError."""
    return (await fetch_headers(client, number, number))[0]


async def fetch_headers(client: RpcClient, first: int, last: int) -> list[Header | None]:
    """Return the canonical blocks at heights `first` to `last`; None for those that the node lacks.

    Raises UpstreamError.
    """
    return await fetch_headers_at(client, range(first, last + 1))


async def fetch_headers_at(
    client: RpcClient, numbers: Sequence[int], *, anchor: BlockRef | None = None
) -> list[Header | None]:
    """Return the canonical blocks at these heights, read in one batch.

    The batch goes to one node where that node accepts its size. `anchor`: a canonical block at or
    above them; answers of nodes that contradict it are rejected. Raises UpstreamError.
    """
    heights = [*numbers] if anchor is None else [*numbers, anchor.number]

    def check(answers: Sequence[RpcAnswer]) -> list[Header | None]:
        headers: list[Header | None] = []
        for number, answer in zip(heights, answers, strict=True):
            header = decode_header(answer, request=f"block {number}")
            if header is not None:
                check_number(header, number=number)
            headers.append(header)
        if anchor is not None:
            check_anchor(headers.pop(), anchor)
        return headers

    return await client.ask([header_request(number) for number in heights], check)


def join_spans(spans: Sequence[BlockSpan]) -> BlockSpan:
    """Join consecutive spans. Raises DisagreementError if they are not consecutive."""
    for before, after in itertools.pairwise(spans):
        if after.parent_hash != before.tip.hash:
            raise DisagreementError(
                first=f"block {before.last} ({before.tip.hash})",
                second=f"block {after.first}",
                difference=f"the parent of the second is {after.parent_hash}",
            )
    return BlockSpan(
        first=spans[0].first,
        last=spans[-1].last,
        parent_hash=spans[0].parent_hash,
        logs=join_logs([span.logs for span in spans]),
        headers=tuple(header for span in spans for header in span.headers),
        is_whole=all(span.is_whole for span in spans),
    )


def count_logs(logs: LogColumns, *, first: int, last: int) -> Int64Array:
    """Return the number of logs in each block from `first` to `last`."""
    counts = np.zeros(last - first + 1, np.int64)
    for group in logs.groups:
        counts += np.bincount(group.block_number - first, minlength=counts.size)
    return counts
