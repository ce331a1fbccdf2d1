"""Additional reads of a block on chains with watched tokens.

Their failure must not hold up following: failed reads are listed in the result.
"""

import asyncio
from collections.abc import Sequence
from typing import Final

import msgspec

from core.errors import UpstreamError
from core.evm.primitives import Hash32
from core.rpc.client import RpcClient
from core.rpc.failures import DisagreementError, MalformedAnswerError
from core.rpc.headers import Header
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.answer_checks import may_contain
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_answers import LogDecoder
from indexer.decode.log_columns import LogColumns, join_logs, no_logs
from indexer.watched.failed_trades import TradeFailure, again_request, explain
from indexer.watched.transactions import (
    BlockTransaction,
    Receipt,
    WatchCandidate,
    decode_receipt,
    decode_transactions,
    pick_candidates,
)
from indexer.watched.watched_set import WatchedSet

_ADDRESSES_AT_ONCE: Final = 1_000
"""Addresses in one query for logs: gateways reject more."""

_ATTEMPTS: Final = 2
_MOST_S: Final = 5.0
"""Limits on attempts and seconds: the block is stored only after these reads."""

_TOO_SLOW: Final = "no answer in time"


class TransactionOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """A transaction that concerns a watched token, with its outcome."""

    candidate: WatchCandidate
    has_succeeded: bool | None
    failure: TradeFailure | None
    """Reason of a failed trade. None: it passed, or was not investigated."""


class BlockReads(msgspec.Struct, frozen=True, kw_only=True):
    """Additional reads of one block."""

    number: int
    logs: LogColumns
    """All logs of watched tokens."""
    senders: dict[Hash32, BlockTransaction]
    """All transactions, by hash. Empty: not read."""
    outcomes: tuple[TransactionOutcome, ...] = ()
    unread: int = 0
    """Number of transactions on watched tokens beyond the limit, which were left out."""
    missing: tuple[str, ...] = ()
    """Reads that the node did not answer."""


class WatchReader:
    """Reads blocks for watched tokens."""

    def __init__(self, client: RpcClient, *, most_receipts: int) -> None:
        """`most_receipts` 0: transactions are not read at all."""
        self._client = client
        self._most_receipts = most_receipts
        self._decoder = LogDecoder()
        self._has_filters = True

    async def fetch(
        self, headers: Sequence[Header], watched: WatchedSet, *, has_filters: bool
    ) -> tuple[BlockReads, ...]:
        """Read these blocks. `has_filters`: bloom filters count. Never raises UpstreamError."""
        self._has_filters = has_filters
        return tuple([await self._fetch_block(header, watched) for header in headers])

    async def _fetch_block(self, header: Header, watched: WatchedSet) -> BlockReads:
        missing = []
        logs = no_logs()
        try:
            async with asyncio.timeout(_MOST_S):
                logs = await self._fetch_logs(header, watched)
        except (UpstreamError, TimeoutError) as error:
            missing.append(f"logs of watched tokens: {str(error) or _TOO_SLOW}")
        reads = BlockReads(number=header.number, logs=logs, senders={})
        if self._most_receipts:
            try:
                async with asyncio.timeout(_MOST_S):
                    reads = await self._fetch_transactions(reads, header, watched)
            except (UpstreamError, TimeoutError) as error:
                missing.append(f"transactions: {str(error) or _TOO_SLOW}")
        return msgspec.structs.replace(reads, missing=tuple(missing))

    # --- logs -------------------------------------------------------------------------------------

    async def _fetch_logs(self, header: Header, watched: WatchedSet) -> LogColumns:
        """Return all logs of those watched tokens that the block's bloom filter does not rule
        out."""
        possible = [
            "0x" + one.hex()
            for one in watched.tokens
            if not self._has_filters or may_contain(header.logs_bloom, one)
        ]
        requests = [
            RpcRequest(
                "eth_getLogs",
                (
                    {
                        "blockHash": header.ref.hash,
                        "address": possible[at : at + _ADDRESSES_AT_ONCE],
                    },
                ),
            )
            for at in range(0, len(possible), _ADDRESSES_AT_ONCE)
        ]

        def check(answers: Sequence[RpcAnswer]) -> LogColumns:
            return join_logs([no_logs(), *(self._read_logs(one, header) for one in answers)])

        return await self._client.ask(requests, check, attempts=_ATTEMPTS)

    def _read_logs(self, answer: RpcAnswer, header: Header) -> LogColumns:
        request = f"logs of watched tokens in block {header.ref.hash}"
        if isinstance(answer, RpcFault):
            raise MalformedAnswerError(service="node", reason=f"{request}: {answer.message}")
        try:
            logs = self._decoder.decode(answer)
        except ValueError as error:  # msgspec's errors are ValueErrors, too
            raise MalformedAnswerError(service="node", reason=f"{request}: {error}") from None
        own = bytes.fromhex(header.ref.hash[2:])
        for group in logs.groups:
            if set(keys_of(group.block_hash)) != {own}:
                raise DisagreementError(
                    first=request, second="its answer", difference="a log is of another block"
                )
        return logs

    # --- transactions -----------------------------------------------------------------------------

    async def _fetch_transactions(
        self, reads: BlockReads, header: Header, watched: WatchedSet
    ) -> BlockReads:
        block = header.ref.hash
        [transactions] = await self._client.ask(
            [RpcRequest("eth_getBlockByHash", (block, True))],
            lambda answers: [decode_transactions(answers[0], block=block)],
            attempts=_ATTEMPTS,
        )
        candidates = list(pick_candidates(transactions, watched))
        read = candidates[: self._most_receipts]
        receipts = await self._fetch_receipts(read, block=block)
        outcomes = await self._explain(read, receipts, header)
        return msgspec.structs.replace(
            reads,
            senders={one.hash: one for one in transactions},
            outcomes=outcomes,
            unread=len(candidates) - len(read),
        )

    async def _fetch_receipts(
        self, candidates: Sequence[WatchCandidate], *, block: Hash32
    ) -> list[Receipt]:
        hashes = [one.transaction.hash for one in candidates]

        def check(answers: Sequence[RpcAnswer]) -> list[Receipt]:
            return [
                decode_receipt(answer, transaction=each, block=block)
                for each, answer in zip(hashes, answers, strict=True)
            ]

        requests = [RpcRequest("eth_getTransactionReceipt", (each,)) for each in hashes]
        return await self._client.ask(requests, check, attempts=_ATTEMPTS)

    async def _explain(
        self, candidates: Sequence[WatchCandidate], receipts: Sequence[Receipt], header: Header
    ) -> tuple[TransactionOutcome, ...]:
        pairs = list(zip(candidates, receipts, strict=True))
        failed = [
            at
            for at, (candidate, receipt) in enumerate(pairs)
            if candidate.what == "trade" and receipt.has_succeeded is False
        ]
        requests = [again_request(pairs[at][0].transaction, header) for at in failed]
        answers = await self._client.ask(requests, list, attempts=_ATTEMPTS)
        failures = {
            at: explain(pairs[at][0].transaction, pairs[at][1], answer)
            for at, answer in zip(failed, answers, strict=True)
        }
        return tuple(
            TransactionOutcome(
                candidate=candidate,
                has_succeeded=receipt.has_succeeded,
                failure=failures.get(at),
            )
            for at, (candidate, receipt) in enumerate(pairs)
        )
