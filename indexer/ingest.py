"""Writes a piece of the chain: rows, token tracking, coverage, window and checkpoint at once."""

from collections.abc import Sequence

import msgspec
import polars as pl

from config.chains import Chain
from config.primitives import ZERO_ADDRESS, Hash32
from indexer.coverage import extend_all
from indexer.decode.launch_events import LaunchDecoder
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_events import SWAP_TOPICS, decode_trades
from indexer.decode.transfer_events import decode_transfers
from indexer.reads import TOPICS, Piece
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


class WrittenPiece(msgspec.Struct, frozen=True, kw_only=True):
    """How much was new in the store, and how much was gone through for it."""

    logs: int = 0
    pools: int = 0
    launches: int = 0
    transfers: int = 0
    trades: int = 0
    undecoded: int = 0

    @property
    def rows(self) -> int:
        """All kinds together."""
        return self.pools + self.launches + self.transfers + self.trades + self.undecoded

    def plus(self, other: "WrittenPiece") -> "WrittenPiece":
        """The sum."""
        return WrittenPiece(
            logs=self.logs + other.logs,
            pools=self.pools + other.pools,
            launches=self.launches + other.launches,
            transfers=self.transfers + other.transfers,
            trades=self.trades + other.trades,
            undecoded=self.undecoded + other.undecoded,
        )


class Ingest:
    """Knows what of a chain is kept."""

    def __init__(self, chain: Chain) -> None:
        self._chain_id = chain.id
        self._decoder = PoolDecoder(chain.dexes)
        self._launches = LaunchDecoder(chain.launchpads)
        self.topics: tuple[Hash32, ...] = tuple(dict.fromkeys((*TOPICS, *self._launches.topics)))
        """Of the logs that have to be asked for."""
        self.timed_topics = SWAP_TOPICS
        """Of those that are kept only where the time of their block is known."""
        self.block_topics: tuple[Hash32, ...] = (*self.topics, *self.timed_topics)
        """Of all, for blocks that are asked one by one."""
        self._anchors = [ZERO_ADDRESS, *(anchor.address for anchor in chain.anchors)]
        """Never tracked: they have pools without number."""
        self._subjects = [
            TRANSFERS,
            *(f"pools:{dex.factory}" for dex in chain.dexes),
            *(pad.subject for pad in chain.launchpads if pad.event),
        ]

    def write(self, tx: Transaction, piece: Piece, *, stream: str) -> WrittenPiece:
        """Store a piece and move the stream's checkpoint to its end. Raises StoreError.

        The caller's transaction makes it one with whatever else belongs to it. Only the follow
        stream, which goes on to the head, makes the transfers of tokens complete.
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
        written = WrittenPiece(
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

    def hold(self, tx: Transaction, piece: Piece, *, held: Sequence[BlockRow]) -> None:
        """Add the piece's blocks to the window.

        What the window holds of another branch at these heights (a back-fill can have brought it)
        is taken back first.
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
        """Say of tokens that are new to the follow stream from where on their transfers are whole.

        That is the block they were seen in, or `first`, the piece's first one, if later.
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
    """Both tokens of each pool."""
    return pl.concat(
        [
            pools.select("block_number", address=pl.col("token0")),
            pools.select("block_number", address=pl.col("token1")),
        ]
    )


def _once(*undecoded: pl.DataFrame) -> pl.DataFrame:
    """Logs that nobody could read; two decoders may have wanted the same."""
    return pl.concat(undecoded).unique(["block_number", "log_index"], maintain_order=True)
