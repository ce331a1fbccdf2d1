"""Back-fill of tokens' transfers from before tracking, from new blocks to old.

Each run covers a part of one token's history, in final blocks. Its transaction also stores the new
lower bound, directly below the stored rows: after a stop nothing is lost, duplicated or left out. A
history is complete once it reaches a block in which the token had no code, or once the stored
transfers account for the whole supply. If nodes show neither, or the history exceeds the limits in
the settings, it stays incomplete.
"""

import asyncio
import math
import time
from collections.abc import Callable, Sequence
from contextlib import closing

import msgspec
import structlog
from cachetools import FIFOCache

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import UpstreamError
from core.evm.primitives import Address, BlockRef
from core.rpc.backoff import backoff_s
from core.rpc.client import RpcClient
from core.rpc.failures import RangeRefusedError
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.block_spans import BlockSpan, join_spans
from indexer.decode.transfer_events import TRANSFER_TOPIC, decode_transfers
from indexer.early_events import store_old_transfers
from indexer.event_rows import transfer_rows
from indexer.log_reader import LogReader
from indexer.span_reader import SpanReader
from sql.chain.balances import read_holders
from sql.chain.blocks import FOLLOW, find_block_from, find_final, has_backfill, read_checkpoint
from sql.chain.filled_spans import insert_old_transfers
from sql.chain.history_tables import DueHistory, read_due_history, write_history
from sql.chain.transfer_tables import insert_undecoded
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.engine.table_rows import HistoryRow, TransferRow, UndecodedRow
from sql.lake.final_events import FinalEvents
from sql.tokens.task_queue import drop_task, put_task, take_tasks
from sql.tokens.tokens import read_token, set_transfers_from

_MOST_REQUESTS_A_TURN = 20
_MOST_LOGS_A_TURN = 20_000

_LEASE_S = 60
"""Seconds after which a run that did not end is repeated, as its process or the store failed.

A run may take longer: only the follower of the chain starts one, and results that no longer fit are
not written.
"""

_MOST_WAIT_S = 60
"""Most seconds between checks that the blocks to fetch are final."""

_REQUESTED_WORTH = 1_000_000
"""Worth of the history of a requested token: it comes first."""

_MOST_REMEMBERED = 10_000

_FIRST_PAUSE_S = 60.0
_MOST_PAUSE_S = 21_600.0
"""A node that has pruned old logs seldom gets them back."""

_log = structlog.get_logger(__name__)


class _Part(msgspec.Struct, kw_only=True):
    """Result of one run for one token."""

    span: BlockSpan | None = None
    requests: int = 0
    is_first: bool | None = False
    """True if the span reaches the start of the token's history. None: no node could show it."""
    failure: UpstreamError | RangeRefusedError | None = None

    @property
    def logs(self) -> int:
        return 0 if self.span is None else len(self.span.logs)


class Histories:
    """Transfer histories of one chain's tokens. Not for concurrent use."""

    def __init__(
        self,
        chain: Chain,
        client: RpcClient,
        store: Store,
        settings: IndexerSettings,
        *,
        now_s: Callable[[], float] = time.time,
    ) -> None:
        self._chain = chain
        self._client = client
        self._store = store
        self._settings = settings
        self._now_s = now_s
        self._spans = SpanReader(LogReader(client), settings, topics=(TRANSFER_TOPIC,))
        self._failures = FIFOCache[Address, int](_MOST_REMEMBERED)
        """Failures in a row."""

    async def fetch_next(self) -> bool:
        """Fetch a part of one token's history. False: none is due.

        Faults of nodes are logged and delay the token, with exponential back-off. Raises
        StoreError.
        """
        due = await asyncio.to_thread(self._take_due)
        if due is None:
            return False
        part = await self._fetch(due)
        await asyncio.to_thread(self._commit, due, part)
        return True

    def _take_due(self) -> DueHistory | None:
        """Return the token that is due. None: there is none."""
        while True:
            now_s = int(self._now_s())
            tasks = take_tasks(
                self._store,
                "history",
                chain_id=self._chain.id,
                now_s=now_s,
                again_s=now_s + _LEASE_S,
                at_most=1,
            )
            if not tasks:
                return None
            (task,) = tasks
            with self._store.transaction(chain_id=self._chain.id) as tx:
                due = read_due_history(tx, token_id=task.token.token_id)
                if due is None or not self._is_worth(due):
                    drop_task(tx, "history", token_id=task.token.token_id)
                    continue
                wait_s = self._wait_s(tx, due)
                if not wait_s:
                    return due
                put_task(tx, "history", token=task.token, worth=task.worth, due_s=now_s + wait_s)

    def _is_worth(self, due: DueHistory) -> bool:
        """False: the fetched part is already as long as the settings allow."""
        return due.logs < self._settings.history_logs and (
            due.requests < self._settings.history_requests
        )

    def _wait_s(self, tx: Transaction, due: DueHistory) -> int:
        """Return about how many seconds the next part may still be reorganised away. 0: it is
        final."""
        final = find_final(
            tx, chain_id=self._chain.id, stream=FOLLOW, depth=self._chain.finality_blocks
        )
        if final is None:
            return _MOST_WAIT_S
        missing = max(0, due.transfers_from_block - 1 - final)
        return min(_MOST_WAIT_S, math.ceil(missing * self._chain.block_time_s))

    def _schedule_next(self, tx: Transaction, due: DueHistory, part: _Part) -> None:
        """Schedule the token's next run: immediately after a success, later after failures."""
        token = read_token(tx, chain_id=self._chain.id, address=due.address)
        if token is None:
            return
        now_s = self._now_s()
        if part.failure is None:
            self._failures.pop(due.address, None)
        else:
            failures = self._failures.get(due.address, 0) + 1
            self._failures[due.address] = failures
            now_s += backoff_s(failures, first_s=_FIRST_PAUSE_S, most_s=_MOST_PAUSE_S)
            _log.info(
                "token history not fetched",
                chain=self._chain.slug,
                token=due.address,
                reason=str(part.failure),
            )
        requested = _REQUESTED_WORTH if token.requested_at_block is not None else 0
        worth = requested - due.requests - part.requests
        put_task(tx, "history", token=token, worth=worth, due_s=int(now_s))

    # --- from the nodes -----------------------------------------------------------------------

    async def _fetch(self, due: DueHistory) -> _Part:
        part = _Part()
        requests = min(_MOST_REQUESTS_A_TURN, self._settings.history_requests - due.requests)
        logs = min(_MOST_LOGS_A_TURN, self._settings.history_logs - due.logs)
        last = due.transfers_from_block - 1
        try:
            anchor = await asyncio.to_thread(self._read_anchor, last)
            while part.is_first is False and part.requests < requests and part.logs < logs:
                span = await self._spans.fetch_back(last, address=due.address, anchor=anchor)
                is_first = await self._is_first(due.address, span)
                part.span = join_spans([span] if part.span is None else [span, part.span])
                part.requests += 1
                part.is_first = is_first
                last = span.first - 1
        except (UpstreamError, RangeRefusedError) as error:
            part.failure = error
        return part

    def _read_anchor(self, number: int) -> BlockRef:
        """Return the first block of the follower's window from a number. Raises UpstreamError if
        there is none: a reorg is being unwound."""
        row = find_block_from(self._store, chain_id=self._chain.id, number=number)
        if row is None:
            reason = f"block {number} is above the followed blocks"
            raise UpstreamError(service=self._client.services, reason=reason)
        return row.ref

    async def _is_first(self, token: Address, span: BlockSpan) -> bool | None:
        """True if the token had no code before the span. None: unknown.

        A node without old state may answer that there is no code, so it must also return the code
        right after the span.
        """
        if span.first == 0:
            return True
        before, after = await self._client.batch(
            [
                RpcRequest("eth_getCode", (token, hex(height)))
                for height in (span.first - 1, span.last + 1)
            ]
        )
        if _has_code(before) is None or not _has_code(after):
            return None
        return not _has_code(before)

    # --- into the tables ----------------------------------------------------------------------

    def _commit(self, due: DueHistory, part: _Part) -> None:
        with self._store.transaction(chain_id=self._chain.id) as tx:
            if part.span is not None and self._still_fits(tx, due):
                self._write(tx, due, part.span, part)
            self._schedule_next(tx, due, part)

    def _write(self, tx: Transaction, due: DueHistory, span: BlockSpan, part: _Part) -> None:
        # Every log is the token's: answers with other contracts' logs are rejected.
        decoded = decode_transfers(span.logs)
        token_ids = [due.token_id] * len(decoded.transfers)
        rows = transfer_rows(decoded.transfers, token_ids)
        insert_old_transfers(tx, rows, chain_id=self._chain.id, run=None)
        self._store_first(tx, due, rows, span)
        undecoded = decoded.undecoded.rows(chain_id=self._chain.id)
        insert_undecoded(tx, self._without_filled(tx, undecoded))
        set_transfers_from(tx, token_id=due.token_id, block_number=span.first)
        write_history(
            tx,
            HistoryRow(
                is_whole=self._is_whole(tx, due, part),
                requests=due.requests + part.requests,
                logs=due.logs + part.logs,
            ),
            token_id=due.token_id,
        )

    def _store_first(
        self, tx: Transaction, due: DueHistory, rows: Sequence[TransferRow], span: BlockSpan
    ) -> None:
        """Store the first transfers of a token whose first pool was followed."""
        token = read_token(tx, chain_id=self._chain.id, address=due.address)
        newest = read_checkpoint(tx, chain_id=self._chain.id, stream=FOLLOW)
        if token is not None and newest is not None:
            store_old_transfers(
                tx, rows, span.logs, chain=self._chain, token=token, known_block=newest.number
            )

    def _without_filled(
        self, tx: Transaction, undecoded: Sequence[UndecodedRow]
    ) -> Sequence[UndecodedRow]:
        """Leave out logs that a back-fill has stored. Most tokens send no such log, and most chains
        have no back-fill."""
        if not undecoded or not has_backfill(tx, chain_id=self._chain.id):
            return undecoded
        with closing(FinalEvents(self._store.address)) as final:
            return final.without_stored(tx, "undecoded", undecoded, chain_id=self._chain.id)

    def _is_whole(self, tx: Transaction, due: DueHistory, part: _Part) -> bool:
        if part.is_first is not None:
            return part.is_first
        holders = read_holders(tx, chain_id=self._chain.id, token=due.address, at_most=1)
        return not holders.is_overdrawn and holders.held_raw == due.supply_raw > 0

    def _still_fits(self, tx: Transaction, due: DueHistory) -> bool:
        """True if the token is stored as it was before the fetch: a reorg may have removed it."""
        token = read_token(tx, chain_id=self._chain.id, address=due.address)
        return (
            token is not None
            and token.token_id == due.token_id
            and token.transfers_from_block == due.transfers_from_block
        )


def _has_code(answer: RpcAnswer) -> bool | None:
    """True if the answer is code, False if it is empty. None: the node returned an error."""
    if isinstance(answer, RpcFault):
        return None
    return bytes(answer).strip() not in (b'"0x"', b'"0x0"', b"null")
