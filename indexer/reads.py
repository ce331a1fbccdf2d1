"""Reads of headers and logs for following and back-fills, checked before they are returned.

Near the head logs are read by block hash, in final blocks by range. Answers that contradict each
other raise DisagreementError inside the client's retries, so another endpoint is asked.
"""

import itertools
from collections.abc import Sequence

import msgspec
import polars as pl

from core.errors import UpstreamError
from core.primitives import Address, BlockRef, Hash32
from core.rpc.client import RpcClient
from core.rpc.failures import DisagreementError, MalformedAnswerError, RangeRefusedError
from core.rpc.headers import Header, decode_header, header_request
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from core.rpc.ranges import is_range_refusal, parse_suggestion
from indexer.answer_checks import (
    check_block_logs,
    check_link,
    check_number,
    check_range_logs,
    is_suspiciously_empty,
)
from indexer.decode.logs import LOG_SCHEMA, decode_logs
from indexer.decode.pool_events import CREATION_TOPICS
from indexer.decode.transfer_events import TRANSFER_TOPIC

TOPICS: tuple[Hash32, ...] = (*CREATION_TOPICS, TRANSFER_TOPIC)
"""Topics ingested on every chain, queried without addresses, as tokens are too many to list."""

_RANGE_ATTEMPTS = 2
"""Few, as a range that is too large is better made smaller than retried."""


class BlockSpan(msgspec.Struct, frozen=True, kw_only=True):
    """A gapless run of blocks with all their logs, consistent with their headers."""

    first: int
    last: int
    parent_hash: Hash32
    """Parent hash of the first block."""
    logs: pl.DataFrame
    """Frame of LOG_SCHEMA."""
    headers: tuple[Header, ...]
    """Headers of every block where they were read one by one; of the last one where by range."""

    @property
    def tip(self) -> BlockRef:
        """Return the last block."""
        return self.headers[-1].ref


async def fetch_header(client: RpcClient, number: int) -> Header | None:
    """Return the canonical block at a height; None when the node has none. Raises UpstreamError."""
    return (await fetch_headers(client, number, number))[0]


async def fetch_headers(client: RpcClient, first: int, last: int) -> list[Header | None]:
    """Return the canonical blocks at heights `first` to `last`; None for those the node lacks.

    Raises UpstreamError.
    """
    numbers = range(first, last + 1)

    def believe(answers: Sequence[RpcAnswer]) -> list[Header | None]:
        headers: list[Header | None] = []
        for number, answer in zip(numbers, answers, strict=True):
            header = decode_header(answer, asked=f"block {number}")
            if header is not None:
                check_number(header, asked=number)
            headers.append(header)
        return headers

    return await client.ask([header_request(number) for number in numbers], believe)


async def fetch_blocks(
    client: RpcClient, headers: Sequence[Header], *, topics: Sequence[Hash32] = TOPICS
) -> BlockSpan:
    """Return these blocks, which must follow one another, with their logs read by block hash.

    Raises UpstreamError.
    """
    for parent, child in itertools.pairwise(headers):
        check_link(parent.ref, child.ref)
    requests = [
        RpcRequest("eth_getLogs", ({"blockHash": header.ref.hash, "topics": [topics]},))
        for header in headers
    ]

    def believe(answers: Sequence[RpcAnswer]) -> list[pl.DataFrame]:
        frames = []
        for header, answer in zip(headers, answers, strict=True):
            logs = _read_logs(answer, asked=f"logs of block {header.ref.hash}")
            check_block_logs(logs, header, topics=topics)
            frames.append(logs)
        return frames

    frames = await client.ask(requests, believe)
    doubtful = [
        at
        for at, (logs, header) in enumerate(zip(frames, headers, strict=True))
        if is_suspiciously_empty(logs, header, topics=topics)
    ]
    if doubtful:
        # A node that has the block but not yet its logs returns none. The second answer
        # counts, as bloom filters have false positives.
        frames = await client.ask(requests, believe)
    return BlockSpan(
        first=headers[0].number,
        parent_hash=headers[0].ref.parent_hash,
        last=headers[-1].number,
        logs=pl.concat([pl.DataFrame(schema=LOG_SCHEMA), *frames]),
        headers=tuple(headers),
    )


async def fetch_range(
    client: RpcClient,
    first: int,
    last: int,
    *,
    topics: Sequence[Hash32] = TOPICS,
    address: Address | None = None,
) -> BlockSpan:
    """Return final blocks with their logs read by range; with `address`, the logs of that contract
    alone.

    Raises RangeRefusedError when the range is too large for the node, UpstreamError otherwise.
    """
    wanted: dict[str, object] = {"fromBlock": hex(first), "toBlock": hex(last), "topics": [topics]}
    if address is not None:
        wanted["address"] = address
    requests = [
        RpcRequest("eth_getLogs", (wanted,)),
        header_request(first),
        header_request(last),
    ]

    def believe(answers: Sequence[RpcAnswer]) -> BlockSpan:
        ends = [
            _require(decode_header(answer, asked=f"block {number}"), number)
            for number, answer in zip((first, last), answers[1:], strict=True)
        ]
        if isinstance(answers[0], RpcFault) and is_range_refusal(answers[0]):
            message = answers[0].message
            raise RangeRefusedError(
                message=message, suggested=parse_suggestion(message, first=first)
            )
        logs = _read_logs(answers[0], asked=f"logs of blocks {first} to {last}")
        check_range_logs(logs, first=first, last=last, topics=topics, headers=ends, address=address)
        return BlockSpan(
            first=first,
            last=last,
            parent_hash=ends[0].ref.parent_hash,
            logs=logs.with_columns(_believable_time(*ends)),
            headers=(ends[-1],),
        )

    return await client.ask(requests, believe, attempts=_RANGE_ATTEMPTS)


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
        logs=pl.concat([piece.logs for piece in pieces]),
        headers=tuple(header for piece in pieces for header in piece.headers),
    )


def _believable_time(first: Header, last: Header) -> pl.Expr:
    """Return the times in the logs where they lie between those of the headers, else null: some
    nodes send 0."""
    time_s = pl.col("time_s")
    return pl.when(time_s.is_between(first.ref.time_s, last.ref.time_s)).then(time_s)


def _require(header: Header | None, number: int) -> Header:
    if header is None:
        raise UpstreamError(service="node", reason=f"has no block {number} below its head")
    check_number(header, asked=number)
    return header


def _read_logs(answer: RpcAnswer, *, asked: str) -> pl.DataFrame:
    if isinstance(answer, RpcFault):
        raise MalformedAnswerError(service="node", reason=f"{asked}: {answer.message}")
    try:
        return decode_logs(answer)
    except ValueError as error:  # msgspec's errors are ValueErrors, too
        raise MalformedAnswerError(service="node", reason=f"{asked}: {error}") from None
