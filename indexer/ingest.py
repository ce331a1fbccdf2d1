"""Writer of a piece of the chain: rows, token tracking, coverage, window and checkpoint in one
transaction.
"""

from collections.abc import Sequence

import msgspec
import polars as pl

from config.chains import Chain
from core.primitives import ZERO_ADDRESS, Hash32
from indexer.coverage import extend_all
from indexer.decode.launch_events import LaunchDecoder
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_events import SWAP_TOPICS, decode_trades
from indexer.decode.transfer_events import decode_transfers
from indexer.reads import TOPICS, BlockSpan
from sql.blocks import insert_blocks, unwind_from, write_checkpoint
from sql.launch_tables import insert_launches
from sql.pool_tables import insert_pools
from sql.rows import BlockRow, CheckpointRow
from sql.store import Transaction
from sql.tokens import Because, track_token_frame
from sql.trade_tables import insert_trades
from sql.transfer_tables import insert_transfers, insert_undecoded

FOLLOW = "follow"
TRANSFERS = "transfers"


class WrittenSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Rows that were new in the store, and the logs that were read for them."""

    logs: int = 0
    pools: int = 0
    launches: int = 0
    transfers: int = 0
    trades: int = 0
    undecoded: int = 0

    @property
    def rows(self) -> int:
        """Return the number of rows of all kinds."""
        return self.pools + self.launches + self.transfers + self.trades + self.undecoded

    def plus(self, other: "WrittenSpan") -> "WrittenSpan":
        """Return the sum of both."""
        return WrittenSpan(
            logs=self.logs + other.logs,
            pools=self.pools + other.pools,
            launches=self.launches + other.launches,
            transfers=self.transfers + other.transfers,
            trades=self.trades + other.trades,
            undecoded=self.undecoded + other.undecoded,
        )


class Ingest:
    """Decoders and topics of one chain, and the writing of its pieces."""

    def __init__(self, chain: Chain) -> None:
        self._chain_id = chain.id
        self._decoder = PoolDecoder(chain.dexes)
        self._launches = LaunchDecoder(chain.launchpads)
        self.topics: tuple[Hash32, ...] = tuple(dict.fromkeys((*TOPICS, *self._launches.topics)))
        """Topics of the logs that must be read."""
        self.timed_topics = SWAP_TOPICS
        """Topics of logs that are kept only where the time of their block is known."""
        self.block_topics: tuple[Hash32, ...] = (*self.topics, *self.timed_topics)
        """All topics, for blocks that are read one by one."""
        self._anchors = [ZERO_ADDRESS, *(anchor.address for anchor in chain.anchors)]
        """Tokens that are never tracked, as they have too many pools."""
        self._subjects = [
            TRANSFERS,
            *(f"pools:{dex.factory}" for dex in chain.dexes),
            *(pad.subject for pad in chain.launchpads if pad.event),
        ]

    def write(self, tx: Transaction, piece: BlockSpan, *, stream: str) -> WrittenSpan:
        """Store a piece and move the stream's checkpoint to its end. Raises StoreError.

        Runs in the caller's transaction, together with whatever else belongs to it. Only the follow
        stream, which continues to the head, makes the transfers of tokens complete.
        """
        extend_all(
            tx,
            chain_id=self._chain_id,
            subjects=self._subjects,
            first=piece.first,
            last=piece.last,
        )
        decoded = self._decoder.decode(piece.logs)
        pools = self._named(decoded.pools)
        launched = self._launches.decode(piece.logs)
        launches = self._named(launched.launches)
        self._track(tx, launches.select("block_number", address="token"), because="launch")
        self._track(tx, _sides(pools), because="pool")
        tokens = tx.fetch_frame("tokens/list_tracked", chain_id=self._chain_id)
        if stream == FOLLOW:
            self._complete_transfers(tx, tokens, first=piece.first)
        transfers = decode_transfers(
            piece.logs,
            tokens.select("address", from_block=pl.col("first_seen_block").cast(pl.Int64)),
        )
        undecoded = self._named(_once(decoded.undecoded, launched.undecoded, transfers.undecoded))
        trades = decode_trades(piece.logs, (header.ref for header in piece.headers))
        written = WrittenSpan(
            logs=piece.logs.height,
            pools=insert_pools(tx, pools),
            launches=insert_launches(tx, launches),
            transfers=insert_transfers(tx, self._named(transfers.transfers)),
            trades=insert_trades(tx, self._named(trades), anchors=self._anchors),
            undecoded=insert_undecoded(tx, undecoded, chain_id=self._chain_id),
        )
        write_checkpoint(
            tx,
            CheckpointRow(
                chain_id=self._chain_id, stream=stream, number=piece.last, hash=piece.tip.hash
            ),
        )
        return written

    def hold(self, tx: Transaction, piece: BlockSpan, *, held: Sequence[BlockRow]) -> None:
        """Add the piece's blocks to the window.

        Blocks of another branch that the window holds at these heights (from a back-fill) are
        unwound first.
        """
        known = {row.number: row.hash for row in held}
        stale = [
            header.number
            for header in piece.headers
            if known.get(header.number, header.ref.hash) != header.ref.hash
        ]
        if stale:
            unwind_from(tx, chain_id=self._chain_id, number=min(stale))
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

    def _complete_transfers(self, tx: Transaction, tokens: pl.DataFrame, *, first: int) -> None:
        """Set, for tokens new to the follow stream, the block from which their transfers are
        complete.

        That is the block where they were first seen, or `first`, the piece's first one, if later.
        """
        fresh = tokens.filter(pl.col("transfers_from_block").is_null()).select(
            "address",
            block_number=pl.max_horizontal(
                pl.col("first_seen_block"), pl.lit(first, dtype=pl.Int64)
            ),
        )
        if fresh.height:
            with tx.frame("incoming_token", fresh):
                tx.execute("tokens/update_transfers_from", chain_id=self._chain_id)

    def _named(self, frame: pl.DataFrame) -> pl.DataFrame:
        return frame.with_columns(chain_id=pl.lit(self._chain_id, dtype=pl.Int32))

    def _track(self, tx: Transaction, seen: pl.DataFrame, *, because: Because) -> None:
        track_token_frame(
            tx,
            chain_id=self._chain_id,
            because=because,
            frame=seen.filter(~pl.col("address").is_in(self._anchors)),
        )


def _sides(pools: pl.DataFrame) -> pl.DataFrame:
    """Return both tokens of each pool."""
    return pl.concat(
        [
            pools.select("block_number", address=pl.col("token0")),
            pools.select("block_number", address=pl.col("token1")),
        ]
    )


def _once(*undecoded: pl.DataFrame) -> pl.DataFrame:
    """Return the logs that no decoder could read, each once, as two decoders may have matched
    it."""
    return pl.concat(undecoded).unique(["block_number", "log_index"], maintain_order=True)
