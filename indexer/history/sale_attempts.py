"""Attempts by buyers of known tokens to sell them, in past blocks."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final

import msgspec

from core.evm.primitives import Address
from core.rpc.client import RpcClient
from core.rpc.headers import Header
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.block_spans import fetch_headers_at
from indexer.watched.failed_trades import again_request, explain, side_of, sold_raw
from indexer.watched.transactions import (
    BlockTransaction,
    Receipt,
    decode_receipt,
    decode_transactions,
)

_BLOCKS_AT_ONCE: Final = 20


class SaleAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction that sells a token, or was intended to."""

    token: Address
    trader: Address
    block_number: int
    time_s: int
    """Time of the block, Unix seconds."""
    asked_raw: int | None
    """Amount in the router call, in smallest units. None: unknown function."""
    has_failed: bool
    """True if it failed, and not because of a limit on price, time or gas."""


class _Attempt(msgspec.Struct, frozen=True, kw_only=True):
    token: Address
    transaction: BlockTransaction
    header: Header


class BlockWindow(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks from a height up to a time."""

    first: int
    until_s: int
    """Unix seconds."""


async def fetch_sale_attempts(
    client: RpcClient,
    windows: Iterable[BlockWindow],
    buyers: Mapping[Address, Sequence[Address]],
) -> list[SaleAttempt]:
    """Return the sales in these windows of blocks, in order; each block is read once. `buyers`:
    tokens by buyer.

    Includes failed sales, and successful ones whose amount is known. Only the usual router
    functions are decoded; any other transaction that names the token and pays no coins counts as a
    sale. Failed sales that pass when repeated on the block before are left out, as the price may
    have been the reason. Raises UpstreamError.
    """
    found: list[SaleAttempt] = []
    waiting = sorted(windows, key=lambda window: window.first, reverse=True)
    number, until_s = 0, 0
    while waiting or until_s:
        if not until_s:
            number = max(number, waiting[-1].first)
        while waiting and waiting[-1].first < number + _BLOCKS_AT_ONCE:
            until_s = max(until_s, waiting.pop().until_s)
        headers = await _fetch_known(client, number)
        found += await _fetch_group(client, headers, buyers)
        number += _BLOCKS_AT_ONCE
        if len(headers) < _BLOCKS_AT_ONCE:  # the chain ends here
            break
        if headers[-1].ref.time_s > until_s:
            until_s = 0
    return found


async def _fetch_known(client: RpcClient, number: int) -> list[Header]:
    headers = await fetch_headers_at(client, range(number, number + _BLOCKS_AT_ONCE))
    return [one for one in headers if one is not None]


async def _fetch_group(
    client: RpcClient, headers: Sequence[Header], buyers: Mapping[Address, Sequence[Address]]
) -> list[SaleAttempt]:
    def check(answers: Sequence[RpcAnswer]) -> list[_Attempt]:
        return [
            attempt
            for header, answer in zip(headers, answers, strict=True)
            for attempt in _attempts_in(answer, header, buyers)
        ]

    requests = [RpcRequest("eth_getBlockByHash", (one.ref.hash, True)) for one in headers]
    attempts = await client.ask(requests, check)
    receipts = await _fetch_receipts(client, attempts)
    failed = [at for at, receipt in enumerate(receipts) if receipt.has_succeeded is False]
    repeated = [again_request(attempts[at].transaction, attempts[at].header) for at in failed]
    answers = await client.ask(repeated, list)
    causes = {
        at: isinstance(answer, RpcFault)
        and explain(attempts[at].transaction, receipts[at], answer).cause == "unknown"
        for at, answer in zip(failed, answers, strict=True)
    }
    return [
        _told(attempt, has_failed=at in causes)
        for at, (attempt, receipt) in enumerate(zip(attempts, receipts, strict=True))
        if causes.get(at, receipt.has_succeeded is True)
    ]


def _told(attempt: _Attempt, *, has_failed: bool) -> SaleAttempt:
    transaction = attempt.transaction
    return SaleAttempt(
        token=attempt.token,
        trader=transaction.sender,
        block_number=attempt.header.number,
        time_s=attempt.header.ref.time_s,
        asked_raw=sold_raw(transaction.data, bytes.fromhex(attempt.token[2:])),
        has_failed=has_failed,
    )


def _attempts_in(
    answer: RpcAnswer, header: Header, buyers: Mapping[Address, Sequence[Address]]
) -> Iterator[_Attempt]:
    for one in decode_transactions(answer, block=header.ref.hash):
        for token in buyers.get(one.sender, ()):
            raw = bytes.fromhex(token[2:])
            if raw not in one.data or one.to == raw:
                continue
            side = side_of(one.data, raw)
            if side == "sell" or (side == "unknown" and not one.value_wei):
                yield _Attempt(token=token, transaction=one, header=header)


async def _fetch_receipts(client: RpcClient, attempts: Sequence[_Attempt]) -> list[Receipt]:
    def check(answers: Sequence[RpcAnswer]) -> list[Receipt]:
        return [
            decode_receipt(answer, transaction=one.transaction.hash, block=one.header.ref.hash)
            for one, answer in zip(attempts, answers, strict=True)
        ]

    requests = [
        RpcRequest("eth_getTransactionReceipt", (one.transaction.hash,)) for one in attempts
    ]
    return await client.ask(requests, check)
