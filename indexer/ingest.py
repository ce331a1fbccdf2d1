"""Writer of a piece of the chain: rows, token tracking, coverage, window and checkpoint in one
transaction.
"""

from collections.abc import Sequence

import msgspec

from config.chains import Chain
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from core.process.arrays import BoolArray, Int32Array, Int64Array
from core.report.rows import PoolRow
from indexer.chain_tokens import ChainTokens
from indexer.coverage import extend_all
from indexer.decode.launch_events import LaunchDecoder
from indexer.decode.liquidity_logs import LIQUIDITY_TOPICS, decode_liquidity
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_events import SWAP_TOPICS, decode_trades
from indexer.decode.transfer_events import TransferColumns, decode_transfers, with_block_times
from indexer.decode.undecoded import join_undecoded
from indexer.event_rows import swap_rows, transfer_rows
from indexer.reads import TOPICS, BlockSpan
from indexer.tracked_tokens import NOT_TRACKED, FoundTokens
from indexer.young_pools import YoungPools
from sql.chain.blocks import insert_blocks, write_checkpoint
from sql.chain.filled_spans import FillRun, insert_old_transfers
from sql.chain.launch_tables import insert_launches
from sql.chain.liquidity_events import insert_liquidity
from sql.chain.pool_tables import insert_pools
from sql.chain.trade_tables import insert_trades
from sql.chain.transfer_tables import insert_transfers, insert_undecoded
from sql.engine.database import Reader, Transaction
from sql.engine.store import Readable
from sql.engine.table_rows import BlockRow, CheckpointRow, TransferRow
from sql.lake.final_events import FinalEvents
from sql.tokens.tokens import Because, complete_transfers, track_seen

FOLLOW = "follow"
TRANSFERS = "transfers"


class WrittenSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that were new in the store, and the logs that were read for them."""

    logs: int = 0
    pools: int = 0
    launches: int = 0
    transfers: int = 0
    trades: int = 0
    liquidity: int = 0
    undecoded: int = 0

    @property
    def rows(self) -> int:
        """Return the number of rows of all kinds."""
        events = self.transfers + self.trades + self.liquidity + self.undecoded
        return self.pools + self.launches + events

    def plus(self, other: "WrittenSpan") -> "WrittenSpan":
        """Return the sum of both."""
        return WrittenSpan(
            logs=self.logs + other.logs,
            pools=self.pools + other.pools,
            launches=self.launches + other.launches,
            transfers=self.transfers + other.transfers,
            trades=self.trades + other.trades,
            liquidity=self.liquidity + other.liquidity,
            undecoded=self.undecoded + other.undecoded,
        )


class StoredFacts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """What was stored of a piece, and its transfers, which are not stored yet."""

    written: WrittenSpan
    transfers: TransferColumns
    """Those of tracked tokens, from the block on from which each is tracked."""
    token_ids: Int32Array
    """Id of the token of each."""


class Ingest:
    """Decoders and topics of one chain, and the writing of its pieces."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._chain_id = chain.id
        self._decoder = PoolDecoder(chain.dexes, chain_id=chain.id)
        self._launches = LaunchDecoder(chain.launchpads, chain_id=chain.id)
        self.topics: tuple[Hash32, ...] = tuple(dict.fromkeys((*TOPICS, *self._launches.topics)))
        """Topics of the logs that must be read."""
        self.timed_topics = SWAP_TOPICS
        """Topics of logs that are kept only where the time of their block is known."""
        self.followed_topics: tuple[Hash32, ...] = tuple(
            dict.fromkeys((*self.topics, *LIQUIDITY_TOPICS))
        )
        """Those that following reads beside `timed_topics`: of old pools nobody asks who holds the
        liquidity."""
        self.block_topics: tuple[Hash32, ...] = (*self.followed_topics, *self.timed_topics)
        """All topics, for blocks that are read one by one."""
        self._tokens = ChainTokens(chain.id)
        self._young = YoungPools(chain)
        self._anchors = [ZERO_ADDRESS, *(anchor.address for anchor in chain.anchors)]
        """Tokens that are never tracked, as they have too many pools."""
        self._subjects = [
            TRANSFERS,
            *(f"pools:{dex.factory}" for dex in chain.dexes),
            *(pad.subject for pad in chain.launchpads if pad.event),
        ]
        self._followed_subjects = [*self._subjects, chain.liquidity_subject]

    def warm(self, store: Readable) -> None:
        """Read the tracked tokens, so that no transaction has to: others wait for it. Raises
        StoreError."""
        self._tokens.refresh(store)

    def warm_young_pools(self, reader: Reader, *, tip: int) -> None:
        """Read the young pools, before the follow stream goes on from `tip`. Raises StoreError."""
        self._young.load(reader, tip=tip)

    def write(
        self,
        tx: Transaction,
        piece: BlockSpan,
        *,
        stream: str,
        final: FinalEvents | None = None,
    ) -> WrittenSpan:
        """Store a piece and move the stream's checkpoint to its end. Raises StoreError.

        Runs in the caller's transaction, before whatever else belongs to it. Only the follow
        stream, which continues to the head, makes the transfers of tokens complete, and adds the
        piece's blocks to the window. `final`: the events that may be stored already, for a
        back-fill. None: the piece follows on what is stored.
        """
        facts = self.write_facts(tx, piece, stream=stream, final=final)
        transfers = self._insert_transfers(
            tx,
            transfer_rows(facts.transfers, facts.token_ids),
            FillRun(stream=stream, first=piece.first, last=piece.last),
        )
        self.finish(tx, piece, stream=stream)
        return msgspec.structs.replace(facts.written, transfers=transfers)

    def write_facts(
        self,
        tx: Transaction,
        piece: BlockSpan,
        *,
        stream: str,
        final: FinalEvents | None = None,
    ) -> StoredFacts:
        """Store everything of a piece but its transfers, and say nothing of having done so: that is
        for `finish`, once they are stored as well. Doing it twice changes nothing."""
        chain_id = self._chain_id
        self._tokens.refresh(tx)
        decoded = self._decoder.decode(piece.logs)
        launched = self._launches.decode(piece.logs)
        pools, launches = decoded.pools, launched.launches
        sides = [(token, row.block_number) for row in pools for token in (row.token0, row.token1)]
        self._track(tx, [(row.token, row.block_number) for row in launches], because="launch")
        self._track(tx, sides, because="pool")
        if pools or launches:
            self._tokens.look_ahead(tx)
        if stream == FOLLOW:
            self._hold(tx, piece)
            complete_transfers(tx, chain_id=chain_id, first=piece.first)
        sent = decode_transfers(piece.logs)
        found = self._tokens.find(sent.transfers.token)
        kept = _is_kept(found, sent.transfers.block_number)
        odd = sent.undecoded
        odd = odd.take(_is_kept(self._tokens.find(odd.address), odd.block_number))
        odd_rows = join_undecoded([decoded.undecoded, launched.undecoded, odd]).rows(
            chain_id=chain_id
        )
        swaps = swap_rows(decode_trades(piece.logs, (header.ref for header in piece.headers)))
        if final is not None:
            odd_rows = final.without_stored(tx, "undecoded", odd_rows, chain_id=chain_id)
            swaps = final.without_stored(tx, "trade", swaps, chain_id=chain_id)
        written = WrittenSpan(
            logs=len(piece.logs),
            pools=insert_pools(tx, pools),
            launches=insert_launches(tx, launches),
            trades=insert_trades(tx, swaps, chain_id=chain_id, anchors=self._anchors),
            undecoded=insert_undecoded(tx, odd_rows),
        )
        if stream == FOLLOW:
            liquidity = self._write_liquidity(tx, piece, pools)
            written = msgspec.structs.replace(written, liquidity=liquidity)
        return StoredFacts(
            written=written,
            transfers=with_block_times(
                sent.transfers.take(kept), (header.ref for header in piece.headers)
            ),
            token_ids=found.token_id[kept],
        )

    def _write_liquidity(self, tx: Transaction, piece: BlockSpan, added: Sequence[PoolRow]) -> int:
        """Store the events of young pools. `added`: pools of the piece, stored already."""
        self._young.add(added, first=piece.first)
        rows = decode_liquidity(piece.logs, self._young.may_contain)
        return insert_liquidity(tx, rows, chain=self._chain, first=piece.first)

    def finish(self, tx: Transaction, piece: BlockSpan, *, stream: str) -> None:
        """Note that all of a piece is stored: its coverage and the stream's checkpoint."""
        extend_all(
            tx,
            chain_id=self._chain_id,
            subjects=self._followed_subjects if stream == FOLLOW else self._subjects,
            first=piece.first,
            last=piece.last,
        )
        write_checkpoint(
            tx,
            CheckpointRow(
                chain_id=self._chain_id, stream=stream, number=piece.last, hash=piece.tip.hash
            ),
        )

    def _insert_transfers(self, tx: Transaction, rows: Sequence[TransferRow], run: FillRun) -> int:
        """What follows is new, or not final yet; what is filled may be known already."""
        if run.stream == FOLLOW:
            return insert_transfers(tx, rows, chain_id=self._chain_id)
        return insert_old_transfers(tx, rows, chain_id=self._chain_id, run=run)

    def _hold(self, tx: Transaction, piece: BlockSpan) -> None:
        """Add the piece's blocks to the window."""
        insert_blocks(
            tx,
            [
                BlockRow(
                    chain_id=self._chain_id,
                    number=header.ref.number,
                    hash=header.ref.hash,
                    parent_hash=header.ref.parent_hash,
                    time_s=header.ref.time_s,
                )
                for header in piece.headers
            ],
        )

    def _track(
        self, tx: Transaction, seen: Sequence[tuple[Address, int]], *, because: Because
    ) -> None:
        first: dict[Address, int] = {}
        for address, block_number in seen:
            if address not in self._anchors:
                first[address] = min(first.get(address, block_number), block_number)
        track_seen(tx, chain_id=self._chain_id, seen=first, because=because)


def _is_kept(found: FoundTokens, block_numbers: Int64Array) -> BoolArray:
    """True where the token is tracked, from this block on or earlier."""
    kept: BoolArray = (found.token_id != NOT_TRACKED) & (block_numbers >= found.first_seen_block)
    return kept
