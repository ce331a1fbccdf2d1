"""Reads of blocks with their logs: by block hash near the head, by range in final blocks.

If nodes reject log queries without addresses, the receipts of whole blocks are read instead. They
contain all logs of a block, so they can be compared with the whole bloom filter: unlike with
queried logs, an omission does not go unnoticed.
"""

import itertools
from collections.abc import Callable, Mapping, Sequence

import msgspec
import numpy as np

from core.errors import AssayError, UpstreamError
from core.evm.primitives import Address, BlockRef, Hash32
from core.rpc.backoff import SleepClock, SystemClock
from core.rpc.client import RpcClient
from core.rpc.failures import (
    AddressRefusedError,
    DisagreementError,
    MalformedAnswerError,
    QueryFailedError,
    RangeRefusedError,
)
from core.rpc.headers import Header, decode_header, header_request
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from core.rpc.ranges import (
    is_address_refusal,
    is_query_timeout,
    is_range_refusal,
    is_unserved_query,
    parse_suggestion,
)
from indexer.answer_checks import (
    bloom_mask,
    check_anchor,
    check_block_logs,
    check_link,
    check_number,
    check_range_logs,
    is_suspiciously_empty,
)
from indexer.block_spans import TOPICS, BlockSpan, fetch_headers_at, join_spans
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_answers import LogDecoder
from indexer.decode.log_columns import HASH_BYTES, NO_TIME, LogColumns, LogGroup, join_logs
from indexer.decode.receipts import BlockReceipts, decode_receipts


async def fetch_logs_by_receipts(
    client: RpcClient, headers: Sequence[Header], *, topics: Sequence[Hash32]
) -> list[LogColumns]:
    """Return the logs with these topics of each of these blocks. Raises UpstreamError."""
    requests = [RpcRequest("eth_getBlockReceipts", (header.ref.hash,)) for header in headers]

    def check(answers: Sequence[RpcAnswer]) -> list[LogColumns]:
        return [
            _logs_of(answer, header, topics)
            for header, answer in zip(headers, answers, strict=True)
        ]

    return await client.ask(requests, check)


def _logs_of(answer: RpcAnswer, header: Header, topics: Sequence[Hash32]) -> LogColumns:
    request = f"receipts of block {header.ref.hash}"
    if isinstance(answer, RpcFault):
        raise MalformedAnswerError(service="node", reason=f"{request}: {answer.message}")
    try:
        receipts = decode_receipts(answer)
    except ValueError as error:  # msgspec's errors are ValueErrors, too
        raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None
    if receipts is None:
        raise UpstreamError(service="node", reason=f"has no {request}")
    _check_receipts(receipts, header)
    logs = receipts.logs.only_topics(bytes.fromhex(text[2:]) for text in topics)
    check_block_logs(logs, header, topics=topics)
    return logs


def _check_receipts(receipts: BlockReceipts, header: Header) -> None:
    """Check that receipts are of the block, and include all logs in its bloom filter."""
    request = f"eth_getBlockReceipts({header.ref.hash})"
    own = np.frombuffer(bytes.fromhex(header.ref.hash[2:]), np.uint8)
    strange = (receipts.block_hashes != own).any(axis=1)
    if strange.any():
        other = receipts.block_hashes[strange][0].tobytes().hex()
        raise DisagreementError(
            first=request, second="its answer", difference=f"a receipt is of block 0x{other}"
        )
    # Bits that the filter lacks are no error: some chains leave logs of the system out of it.
    if header.logs_bloom & ~_bloom_of(receipts.logs):
        raise DisagreementError(
            first=request,
            second=f"the header of block {header.number}",
            difference="the bloom filter announces logs that the receipts lack",
        )


def _bloom_of(logs: LogColumns) -> int:
    items: set[bytes] = set()
    for group in logs.groups:
        items.update(keys_of(group.address))
        items.update(keys_of(group.topics.reshape(-1, HASH_BYTES)))
        if group.shape.topic0:
            items.add(group.shape.topic0)
    bloom = 0
    for item in items:
        bloom |= bloom_mask(item)
    return bloom


_RANGE_ATTEMPTS = 2
"""Few, as too large a range is better reduced than retried."""
_RECEIPTS_FOR_S = 600.0
"""Seconds until log queries are tried again."""
_MOST_BLOCKS_BY_RECEIPTS = 64
"""Longest range: receipts are many times larger than logs."""
_BLOCKS_AT_ONCE = 16
"""Blocks whose receipts are in memory at a time."""
_METHOD_NOT_FOUND = -32601


class _QueriesRefusedError(AssayError):
    """All endpoints tried reject log queries for all contracts."""


class LogReader:
    """Reader of logs with their blocks; concurrent reads may share one."""

    def __init__(self, client: RpcClient, *, clock: SleepClock | None = None) -> None:
        self._client = client
        self._clock = clock or SystemClock()
        self._decoder = LogDecoder()
        self.has_filters = True
        """False once a block with logs had a bloom filter of zeros: the chain has none."""
        self._receipts_until_s: float | None = None
        """End of the period in which receipts are read. None: log queries work."""

    async def fetch_blocks(
        self,
        headers: Sequence[Header],
        *,
        topics: Sequence[Hash32] = TOPICS,
        known: Mapping[Hash32, LogColumns] | None = None,
    ) -> BlockSpan:
        """Return these blocks, which must be consecutive, with their logs.

        `known`: logs of some blocks from another read, by block hash; they replace fewer ones.
        Raises UpstreamError.
        """
        for parent, child in itertools.pairwise(headers):
            check_link(parent.ref, child.ref)
        found, is_whole = await self._fetch_logs(headers, topics)
        for at, header in enumerate(headers):
            other = (known or {}).get(header.ref.hash)
            if other is not None and len(other) > len(found[at]):
                found[at] = other
        return BlockSpan(
            first=headers[0].number,
            parent_hash=headers[0].ref.parent_hash,
            last=headers[-1].number,
            logs=join_logs(found),
            headers=tuple(headers),
            is_whole=is_whole,
        )

    async def fetch_range(
        self,
        first: int,
        last: int,
        *,
        topics: Sequence[Hash32] = TOPICS,
        address: Address | None = None,
        anchor: BlockRef | None = None,
    ) -> BlockSpan:
        """Return final blocks with their logs read by range.

        `address`: restricts the logs to that contract. `anchor`: a canonical block at or above the
        range; answers of nodes that contradict it are rejected. None: the caller checks that the
        blocks are canonical.

        Raises RangeRefusedError when the range is too large for the node, UpstreamError otherwise.
        """
        if address is not None:
            return await self._query_range(first, last, topics, address=address, anchor=anchor)
        if not self._reads_receipts():
            try:
                return await self._query_range(first, last, topics, address=None, anchor=anchor)
            except _QueriesRefusedError:
                self._note_refusal()
        return await self._fetch_range_by_receipts(first, last, topics, anchor=anchor)

    # --- by query ---------------------------------------------------------------------------------

    async def _fetch_logs(
        self, headers: Sequence[Header], topics: Sequence[Hash32]
    ) -> tuple[list[LogColumns], bool]:
        """Return the logs of each block, and whether none can be missing."""
        if not self._reads_receipts():
            try:
                return await self._query_blocks(headers, topics), False
            except _QueriesRefusedError:
                self._note_refusal()
        found = await fetch_logs_by_receipts(self._client, headers, topics=topics)
        return found, all(
            header.logs_bloom or not len(logs) for header, logs in zip(headers, found, strict=True)
        )

    async def _query_blocks(
        self, headers: Sequence[Header], topics: Sequence[Hash32]
    ) -> list[LogColumns]:
        found = await self._ask_blocks(headers, topics)
        suspected = [
            at
            for at, (logs, header) in enumerate(zip(found, headers, strict=True))
            if is_suspiciously_empty(logs, header, topics=topics)
        ]
        if suspected:
            # A node that has the block but not yet its logs returns none. The second answer
            # counts, as bloom filters have false positives; it may lack those of other blocks.
            again = await self._ask_blocks([headers[at] for at in suspected], topics)
            for at, logs in zip(suspected, again, strict=True):
                found[at] = logs
        if any(
            len(logs) and not header.logs_bloom for logs, header in zip(found, headers, strict=True)
        ):
            self.has_filters = False
        return found

    async def _ask_blocks(
        self, headers: Sequence[Header], topics: Sequence[Hash32]
    ) -> list[LogColumns]:
        requests = [
            RpcRequest("eth_getLogs", ({"blockHash": header.ref.hash, "topics": [topics]},))
            for header in headers
        ]
        raise_if_refused = self._counted_refusals(self._client.endpoint_count)

        def check(answers: Sequence[RpcAnswer]) -> list[LogColumns]:
            found = []
            for header, answer in zip(headers, answers, strict=True):
                raise_if_refused(answer)
                logs = self._read(answer, request=f"logs of block {header.ref.hash}")
                check_block_logs(logs, header, topics=topics)
                found.append(logs)
            return found

        return await self._client.ask(requests, check)

    async def _query_range(
        self,
        first: int,
        last: int,
        topics: Sequence[Hash32],
        *,
        address: Address | None,
        anchor: BlockRef | None,
    ) -> BlockSpan:
        wanted: dict[str, object] = {
            "fromBlock": hex(first),
            "toBlock": hex(last),
            "topics": [topics],
        }
        if address is not None:
            wanted["address"] = address
        # Logs last: the client need not read such a long list where it ends the message.
        heights = [first, last] if anchor is None else [first, last, anchor.number]
        requests = [
            *(header_request(number) for number in heights),
            RpcRequest("eth_getLogs", (wanted,)),
        ]
        most_refusals = min(self._client.endpoint_count, _RANGE_ATTEMPTS)
        raise_if_refused = self._counted_refusals(most_refusals)

        def check(answers: Sequence[RpcAnswer]) -> BlockSpan:
            *headers, found = answers
            if address is None:
                raise_if_refused(found)
            decoded = [
                decode_header(answer, request=f"block {number}")
                for number, answer in zip(heights, headers, strict=True)
            ]
            if anchor is not None:
                check_anchor(decoded.pop(), anchor)
            ends = [
                _require(header, number)
                for header, number in zip(decoded, (first, last), strict=True)
            ]
            _raise_if_too_large(found, first=first, last=last)
            logs = self._read(found, request=f"logs of blocks {first} to {last}")
            check_range_logs(
                logs, first=first, last=last, topics=topics, headers=ends, address=address
            )
            return BlockSpan(
                first=first,
                last=last,
                parent_hash=ends[0].ref.parent_hash,
                logs=_with_believable_times(logs, *ends),
                headers=(ends[-1],),
            )

        return await self._client.ask(requests, check, attempts=_RANGE_ATTEMPTS)

    def _read(self, answer: RpcAnswer, *, request: str) -> LogColumns:
        if isinstance(answer, RpcFault):
            raise MalformedAnswerError(service="node", reason=f"{request}: {answer.message}")
        try:
            return self._decoder.decode(answer)
        except ValueError as error:  # msgspec's errors are ValueErrors, too
            raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None

    # --- by receipts ------------------------------------------------------------------------------

    def _reads_receipts(self) -> bool:
        until_s = self._receipts_until_s
        return until_s is not None and self._clock.now_s() < until_s

    def _note_refusal(self) -> None:
        self._receipts_until_s = self._clock.now_s() + _RECEIPTS_FOR_S

    def _counted_refusals(self, most: int) -> Callable[[RpcAnswer], None]:
        """Return a check that retries refused log queries at other endpoints, `most` attempts in
        all."""
        refusals = itertools.count(1)

        def raise_if_refused(answer: RpcAnswer) -> None:
            if not isinstance(answer, RpcFault) or not _is_refusal(answer):
                return
            if next(refusals) >= most or is_unserved_query(answer):
                raise _QueriesRefusedError(answer.message)
            raise AddressRefusedError(service="node", reason=answer.message)

        return raise_if_refused

    async def _fetch_range_by_receipts(
        self, first: int, last: int, topics: Sequence[Hash32], *, anchor: BlockRef | None
    ) -> BlockSpan:
        if last - first >= _MOST_BLOCKS_BY_RECEIPTS:
            raise RangeRefusedError(
                message="too many blocks to read by their receipts",
                suggested=(first, first + _MOST_BLOCKS_BY_RECEIPTS - 1),
            )
        spans = []
        for start in range(first, last + 1, _BLOCKS_AT_ONCE):
            end = min(start + _BLOCKS_AT_ONCE - 1, last)
            found = await fetch_headers_at(self._client, range(start, end + 1), anchor=anchor)
            headers = [_require(header, number) for number, header in enumerate(found, start=start)]
            spans.append(_with_header_times(await self.fetch_blocks(headers, topics=topics)))
        whole = join_spans(spans)
        return msgspec.structs.replace(whole, headers=whole.headers[-1:])


def _is_refusal(fault: RpcFault) -> bool:
    is_missing = fault.code == _METHOD_NOT_FOUND
    return is_missing or is_address_refusal(fault) or is_unserved_query(fault)


def _raise_if_too_large(answer: RpcAnswer, *, first: int, last: int) -> None:
    """Raise for an error that a query of fewer blocks may avoid: any, where there are several."""
    if not isinstance(answer, RpcFault):
        return
    is_long = last > first
    if is_range_refusal(answer) or (is_long and is_query_timeout(answer)):
        raise RangeRefusedError(
            message=answer.message, suggested=parse_suggestion(answer.message, first=first)
        )
    if is_long:
        reason = f"logs of blocks {first} to {last}: {answer.message}"
        raise QueryFailedError(service="node", reason=reason)


def _with_believable_times(logs: LogColumns, first: Header, last: Header) -> LogColumns:
    """Return the piece without times outside of its headers' times: some nodes send 0."""

    def believed(group: LogGroup) -> LogGroup:
        times = group.time_s
        is_between = (times >= first.ref.time_s) & (times <= last.ref.time_s)
        return msgspec.structs.replace(group, time_s=np.where(is_between, times, NO_TIME))

    return LogColumns(tuple(believed(group) for group in logs.groups))


def _with_header_times(span: BlockSpan) -> BlockSpan:
    """Return a piece that has all its headers with their times in its logs."""
    times = np.array([header.ref.time_s for header in span.headers], np.int64)
    groups = (
        msgspec.structs.replace(group, time_s=times[group.block_number - span.first])
        for group in span.logs.groups
    )
    return msgspec.structs.replace(span, logs=LogColumns(tuple(groups)))


def _require(header: Header | None, number: int) -> Header:
    if header is None:
        raise UpstreamError(service="node", reason=f"has no block {number} below its head")
    check_number(header, number=number)
    return header
