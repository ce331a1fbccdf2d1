"""Back-fill of tokens' transfers from before following took them up, from new blocks to old.

Works on one token and one turn at a time, in final blocks. Each turn is committed in one
transaction with its new lower bound, directly below what is stored already: stopped anywhere,
nothing is lost, doubled or left out. A history is whole once it reaches back to a block where the
token had no code, or once the stored transfers account for its whole supply. Where nodes show
neither, or it is longer than the settings allow, it stays incomplete.
"""

import asyncio

import msgspec
import polars as pl
import structlog

from config.chains import Chain
from config.settings_model import IndexerSettings
from core.errors import UpstreamError
from core.primitives import Address
from core.rpc.backoff import SleepClock, SystemClock, backoff_s
from core.rpc.client import RpcClient
from core.rpc.failures import RangeRefusedError
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from indexer.decode.transfer_events import TRANSFER_TOPIC, decode_transfers
from indexer.ingest import FOLLOW
from indexer.reads import BlockSpan, join_pieces
from indexer.spans import SpanReader
from sql.history_tables import DueHistory, list_due_histories, write_history
from sql.rows import HistoryRow
from sql.store import Store, Transaction
from sql.tokens import read_token, set_transfers_from
from sql.transfer_tables import holders_of, insert_transfers, insert_undecoded

_MOST_REQUESTS_A_TURN = 20
_MOST_LOGS_A_TURN = 20_000

_LOOKED_AT = 1_000
"""Tokens considered for the next turn: some may be waiting after failures."""

_FIRST_PAUSE_S = 60.0
_MOST_PAUSE_S = 21_600.0
"""A node that has pruned old logs seldom gets them back."""

_log = structlog.get_logger(__name__)


class _Turn(msgspec.Struct, kw_only=True):
    """Result of one turn for one token."""

    piece: BlockSpan | None = None
    requests: int = 0
    is_first: bool | None = False
    """The piece reaches the start of the token's history. None: no node could show it."""
    failure: UpstreamError | RangeRefusedError | None = None

    @property
    def logs(self) -> int:
        return 0 if self.piece is None else self.piece.logs.height


class _Wait(msgspec.Struct, frozen=True, kw_only=True):
    """Back-off of a token whose turns failed."""

    failures: int
    """Failures in a row."""
    until_s: float


class Histories:
    """Transfer histories of one chain's tokens. Not for concurrent use."""

    def __init__(
        self,
        chain: Chain,
        client: RpcClient,
        store: Store,
        settings: IndexerSettings,
        *,
        clock: SleepClock | None = None,
    ) -> None:
        self._chain = chain
        self._client = client
        self._store = store
        self._settings = settings
        self._clock = clock or SystemClock()
        self._spans = SpanReader(client, settings, topics=(TRANSFER_TOPIC,))
        self._waits: dict[Address, _Wait] = {}

    async def take_turn(self) -> bool:
        """Fetch a part of one token's history. False: there is none to be fetched now.

        Faults of nodes are logged and delay the token, with exponential back-off. Raises
        StoreError.
        """
        due = await asyncio.to_thread(self._read_due)
        now_s = self._clock.now_s()
        self._waits = {
            one.address: wait for one in due if (wait := self._waits.get(one.address)) is not None
        }
        ready = (
            one
            for one in due
            if (wait := self._waits.get(one.address)) is None or wait.until_s <= now_s
        )
        chosen = next(ready, None)
        if chosen is None:
            return False
        turn = await self._fetch(chosen)
        if turn.piece is not None:
            await asyncio.to_thread(self._commit, chosen, turn.piece, turn)
        self._note(chosen.address, turn.failure)
        return True

    def _read_due(self) -> list[DueHistory]:
        return list_due_histories(
            self._store,
            chain_id=self._chain.id,
            stream=FOLLOW,
            finality_blocks=self._chain.finality_blocks,
            most_logs=self._settings.history_logs,
            most_requests=self._settings.history_requests,
            at_most=_LOOKED_AT,
        )

    def _note(self, token: Address, failure: UpstreamError | RangeRefusedError | None) -> None:
        if failure is None:
            self._waits.pop(token, None)
            return
        before = self._waits.get(token)
        failures = 1 if before is None else before.failures + 1
        pause_s = backoff_s(failures, first_s=_FIRST_PAUSE_S, most_s=_MOST_PAUSE_S)
        self._waits[token] = _Wait(failures=failures, until_s=self._clock.now_s() + pause_s)
        _log.info(
            "past of a token not fetched", chain=self._chain.slug, token=token, why=str(failure)
        )

    # --- from the nodes -----------------------------------------------------------------------

    async def _fetch(self, due: DueHistory) -> _Turn:
        turn = _Turn()
        requests = min(_MOST_REQUESTS_A_TURN, self._settings.history_requests - due.requests)
        logs = min(_MOST_LOGS_A_TURN, self._settings.history_logs - due.logs)
        last = due.transfers_from_block - 1
        try:
            while turn.is_first is False and turn.requests < requests and turn.logs < logs:
                piece = await self._spans.fetch_back(last, address=due.address)
                is_first = await self._is_first(due.address, piece)
                turn.piece = join_pieces([piece] if turn.piece is None else [piece, turn.piece])
                turn.requests += 1
                turn.is_first = is_first
                last = piece.first - 1
        except (UpstreamError, RangeRefusedError) as error:
            turn.failure = error
        return turn

    async def _is_first(self, token: Address, piece: BlockSpan) -> bool | None:
        """True if the token had no code before the piece. None: not known.

        A node without old state may answer that there is no code, so it must also return the code
        right after the piece.
        """
        if piece.first == 0:
            return True
        before, after = await self._client.batch(
            [
                RpcRequest("eth_getCode", (token, hex(height)))
                for height in (piece.first - 1, piece.last + 1)
            ]
        )
        if _has_code(before) is None or not _has_code(after):
            return None
        return not _has_code(before)

    # --- into the tables ----------------------------------------------------------------------

    def _commit(self, due: DueHistory, piece: BlockSpan, turn: _Turn) -> None:
        tracked = pl.DataFrame({"address": [due.address], "from_block": [piece.first]})
        decoded = decode_transfers(piece.logs, tracked)
        with self._store.transaction() as tx:
            if not self._still_fits(tx, due):
                return
            insert_transfers(tx, self._named(decoded.transfers))
            insert_undecoded(tx, self._named(decoded.undecoded), chain_id=self._chain.id)
            set_transfers_from(
                tx,
                chain_id=self._chain.id,
                addresses=[due.address],
                block_number=piece.first,
            )
            write_history(
                tx,
                HistoryRow(
                    is_whole=self._is_whole(tx, due, turn),
                    requests=due.requests + turn.requests,
                    logs=due.logs + turn.logs,
                ),
                token_id=due.token_id,
            )

    def _is_whole(self, tx: Transaction, due: DueHistory, turn: _Turn) -> bool:
        if turn.is_first is not None:
            return turn.is_first
        held = holders_of(tx, chain_id=self._chain.id, token=due.address, at_most=1)
        return not held.is_overdrawn and held.held_raw == due.supply_raw > 0

    def _still_fits(self, tx: Transaction, due: DueHistory) -> bool:
        """True if the token is stored as before the fetch: a reorg may have removed it."""
        token = read_token(tx, chain_id=self._chain.id, address=due.address)
        return (
            token is not None
            and token.token_id == due.token_id
            and token.transfers_from_block == due.transfers_from_block
        )

    def _named(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(chain_id=pl.lit(self._chain.id, dtype=pl.Int32))


def _has_code(answer: RpcAnswer) -> bool | None:
    """Return True if the answer is code, False if it is empty. None: the node returned an error."""
    if isinstance(answer, RpcFault):
        return None
    return bytes(answer).strip() not in (b'"0x"', b'"0x0"', b"null")
