"""Reads of headers for following and back-fills, and the pieces of a chain that reads return.

Answers that contradict each other raise DisagreementError inside the client's retries, so another
endpoint is asked.
"""

import itertools
from collections.abc import Sequence

import msgspec

from core.evm.primitives import BlockRef, Hash32
from core.rpc.client import RpcClient
from core.rpc.failures import DisagreementError
from core.rpc.headers import Header, decode_header, header_request
from core.rpc.messages import RpcAnswer
from indexer.answer_checks import check_anchor, check_number
from indexer.decode.log_columns import LogColumns, join_logs, no_logs
from indexer.decode.pool_events import CREATION_TOPICS
from indexer.decode.transfer_events import TRANSFER_TOPIC

TOPICS: tuple[Hash32, ...] = (*CREATION_TOPICS, TRANSFER_TOPIC)
"""Topics ingested on every chain, queried without addresses, as tokens are too many to list."""


class BlockSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A gapless run of blocks with all their logs, consistent with their headers."""

    first: int
    last: int
    parent_hash: Hash32
    """Parent hash of the first block."""
    logs: LogColumns
    headers: tuple[Header, ...]
    """Headers of every block where they were read one by one; of the last one where by range."""

    @property
    def tip(self) -> BlockRef:
        """Return the last block."""
        return self.headers[-1].ref


class GatheredSpan:
    """A piece that whoever stores it can rid of its logs, as the last to hold them."""

    def __init__(self, pieces: Sequence[BlockSpan]) -> None:
        """Join pieces that follow one another. Raises DisagreementError where they do not."""
        self.span = join_pieces(pieces)

    def drop_logs(self) -> None:
        """Keep everything but the logs."""
        self.span = msgspec.structs.replace(self.span, logs=no_logs())


async def fetch_header(client: RpcClient, number: int) -> Header | None:
    """Return the canonical block at a height; None when the node has none. Raises UpstreamError."""
    return (await fetch_headers(client, number, number))[0]


async def fetch_headers(client: RpcClient, first: int, last: int) -> list[Header | None]:
    """Return the canonical blocks at heights `first` to `last`; None for those the node lacks.

    Raises UpstreamError.
    """
    return await fetch_headers_at(client, range(first, last + 1))


async def fetch_headers_at(
    client: RpcClient, numbers: Sequence[int], *, anchor: BlockRef | None = None
) -> list[Header | None]:
    """Return the canonical blocks at these heights, asked for together: as one node has them, where
    it takes as many requests at once.

    `anchor`: a canonical block at or above them; a node that has another there is not believed.
    Raises UpstreamError.
    """
    asked = [*numbers] if anchor is None else [*numbers, anchor.number]

    def believe(answers: Sequence[RpcAnswer]) -> list[Header | None]:
        headers: list[Header | None] = []
        for number, answer in zip(asked, answers, strict=True):
            header = decode_header(answer, request=f"block {number}")
            if header is not None:
                check_number(header, asked=number)
            headers.append(header)
        if anchor is not None:
            check_anchor(headers.pop(), anchor)
        return headers

    return await client.ask([header_request(number) for number in asked], believe)


def join_pieces(pieces: Sequence[BlockSpan]) -> BlockSpan:
    """Join pieces that follow one another. Raises DisagreementError where they do not."""
    for before, after in itertools.pairwise(pieces):
        if after.parent_hash != before.tip.hash:
            raise DisagreementError(
                first=f"block {before.last} ({before.tip.hash})",
                second=f"block {after.first}",
                difference=f"the parent of the second is {after.parent_hash}",
            )
    return BlockSpan(
        first=pieces[0].first,
        last=pieces[-1].last,
        parent_hash=pieces[0].parent_hash,
        logs=join_logs([piece.logs for piece in pieces]),
        headers=tuple(header for piece in pieces for header in piece.headers),
    )
