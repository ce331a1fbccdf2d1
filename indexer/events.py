"""Kinds of chain events. Each names the logs to read, and decodes and stores those of a span.

A new kind is one class here, its decoder in `indexer/decode`, its table in `sql/chain` and its
count in `WrittenSpan`. `Ingest` lists them in the order in which a span is stored: tokens that a
span announces are tracked before its transfers are decoded, and pools are stored before their
swaps.
"""

from collections.abc import Sequence
from typing import Final, Literal, Protocol

import msgspec
import numpy as np

from config.facts.chain import Chain
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from core.process.arrays import BoolArray, Int32Array, Int64Array
from core.report.rows import LaunchRow, PoolRow
from indexer.block_spans import BlockSpan
from indexer.chain_tokens import ChainTokens
from indexer.decode.launch_logs import LaunchDecoder
from indexer.decode.liquidity_logs import LIQUIDITY_TOPICS, decode_liquidity
from indexer.decode.log_columns import ADDRESS_BYTES
from indexer.decode.pool_events import CREATION_TOPICS, PoolDecoder
from indexer.decode.swap_events import SWAP_TOPICS, decode_trades
from indexer.decode.transfer_events import (
    TRANSFER_TOPIC,
    TransferColumns,
    decode_transfers,
    with_block_times,
)
from indexer.decode.undecoded import UndecodedLogs, join_undecoded
from indexer.event_rows import swap_rows
from indexer.tracked_tokens import NOT_TRACKED, FoundTokens
from indexer.traders import TokenTrade, find_token_trades
from indexer.watched.token_swaps import trade_facts
from indexer.young_pools import YoungPools
from sql.chain.blocks import FOLLOW
from sql.chain.launch_tables import insert_launches
from sql.chain.liquidity_events import insert_liquidity
from sql.chain.pool_tables import insert_pools
from sql.chain.trade_records import insert_real_trades
from sql.chain.trade_tables import find_known_swaps, insert_known_trades
from sql.chain.transfer_tables import insert_undecoded
from sql.engine.database import Transaction
from sql.engine.table_rows import RealTradeRow
from sql.lake.final_events import FinalEvents
from sql.tokens.tokens import Because, track_seen

TRANSFERS: Final = "transfers"
"""Subject of coverage."""

Reading = Literal["always", "timed", "followed"]
"""always; timed: only together with block times; followed: only while following, not for old
blocks."""


class SpanWrite(msgspec.Struct, kw_only=True):
    """One span, while it is being stored."""

    tx: Transaction
    span: BlockSpan
    stream: str
    final: FinalEvents | None
    """Lookup of events that may already be stored. None: the span is new, following the stored
    blocks."""
    pools: Sequence[PoolRow] = ()
    """Pools that the span announces."""
    launches: Sequence[LaunchRow] = ()
    """Launches that the span announces."""
    token_trades: Sequence[TokenTrade] = ()
    """Trades of tokens in the span."""
    found: "FoundTransfers | None" = None
    """Transfers of the span. None: not decoded yet."""
    dated: set[int] = msgspec.field(default_factory=set)
    """Blocks whose times are stored for SQL."""
    announces_tokens: bool = False
    """True if the span has pools or launches, so tokens may become tracked in it."""
    undecoded: list[UndecodedLogs] = msgspec.field(default_factory=list)
    """Logs of each kind that do not have its shape."""

    @property
    def is_followed(self) -> bool:
        """True if the span belongs to the follow stream."""
        return self.stream == FOLLOW


class ReadEvents(Protocol):
    """One kind of event of one chain, by the logs that are read for it."""

    name: str
    """Count in `WrittenSpan`."""
    topics: tuple[Hash32, ...]
    reading: Reading
    subjects: tuple[str, ...]
    """Subjects of coverage."""


class EventKind(ReadEvents, Protocol):
    """One kind of event that `Ingest` stores."""

    def store(self, write: SpanWrite) -> int:
        """Decode and store the span's events; return how many were new. Raises StoreError."""


class TokenLaunchEvents:
    """Creations of tokens on launch platforms."""

    name = "launches"
    reading: Reading = "always"

    def __init__(self, chain: Chain) -> None:
        self._tracker = _TokenTracker(chain, "launch")
        self._decoder = LaunchDecoder(chain.launchpads, chain_id=chain.id)
        self.topics = self._decoder.topics
        self.subjects: tuple[str, ...] = tuple(pad.subject for pad in chain.launchpads if pad.event)

    def store(self, write: SpanWrite) -> int:
        """Store the launches and track their tokens."""
        decoded = self._decoder.decode(write.span.logs)
        write.undecoded.append(decoded.undecoded)
        write.launches = decoded.launches
        seen = [(row.token, row.block_number) for row in decoded.launches]
        write.dated |= {row.block_number for row in decoded.launches}
        self._tracker.track(write, seen)
        return insert_launches(write.tx, decoded.launches)


class PoolCreationEvents:
    """Creations of pools."""

    name = "pools"
    topics: tuple[Hash32, ...] = CREATION_TOPICS
    reading: Reading = "always"

    def __init__(self, chain: Chain) -> None:
        self._tracker = _TokenTracker(chain, "pool")
        self._decoder = PoolDecoder(chain.dexes, chain_id=chain.id)
        self.subjects: tuple[str, ...] = tuple(f"pools:{dex.factory}" for dex in chain.dexes)

    def store(self, write: SpanWrite) -> int:
        """Store the pools and track their tokens."""
        decoded = self._decoder.decode(write.span.logs)
        write.undecoded.append(decoded.undecoded)
        write.pools = decoded.pools
        write.dated |= {row.block_number for row in decoded.pools}
        seen = [
            (token, row.block_number) for row in decoded.pools for token in (row.token0, row.token1)
        ]
        self._tracker.track(write, seen)
        return insert_pools(write.tx, decoded.pools)


class FoundTransfers(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Transfers of a span that are not stored yet."""

    transfers: TransferColumns
    """Transfers of tracked tokens, each from the first tracked block of its token."""
    token_ids: Int32Array
    """Token id of each transfer."""


class TransferEvents:
    """Transfers of tracked tokens.

    Found here, but stored by `Ingest` or by the bulk writer, which appends them to the lake.
    """

    name = "transfers"
    topics: tuple[Hash32, ...] = (TRANSFER_TOPIC,)
    reading: Reading = "always"
    subjects: tuple[str, ...] = (TRANSFERS,)

    def __init__(self, tokens: ChainTokens) -> None:
        self._tokens = tokens

    def find(self, write: SpanWrite) -> FoundTransfers:
        """Return the transfers of a span. Its announced tokens must be tracked already."""
        decoded = decode_transfers(write.span.logs)
        odd = decoded.undecoded
        write.undecoded.append(odd.take(_is_kept(self._tokens.find(odd.address), odd.block_number)))
        found = self._tokens.find(decoded.transfers.token)
        kept = _is_kept(found, decoded.transfers.block_number)
        return FoundTransfers(
            transfers=with_block_times(
                decoded.transfers.take(kept), (header.ref for header in write.span.headers)
            ),
            token_ids=found.token_id[kept],
        )


class SwapEvents:
    """Swaps in known pools, and their traders for the track records of tokens."""

    name = "trades"
    topics: tuple[Hash32, ...] = SWAP_TOPICS
    reading: Reading = "timed"
    subjects: tuple[str, ...] = ()

    def __init__(self, chain: Chain, tokens: ChainTokens) -> None:
        self._chain_id = chain.id
        self._tokens = tokens
        self._anchors = untracked_tokens(chain)
        self._trade_facts = trade_facts(chain)

    def store(self, write: SpanWrite) -> int:
        """Store the swaps, except final ones that are already stored."""
        decoded = decode_trades(write.span.logs, (header.ref for header in write.span.headers))
        swaps = swap_rows(decoded)
        rows = swaps
        if write.final is not None:
            rows = write.final.without_stored(write.tx, "trade", rows, chain_id=self._chain_id)
        known = find_known_swaps(write.tx, rows, chain_id=self._chain_id, anchors=self._anchors)
        trades = find_token_trades(
            write.span.logs, swaps, known, anchors=self._anchors, facts=self._trade_facts
        )
        write.token_trades = trades
        insert_real_trades(write.tx, self._of_tracked(trades), chain_id=self._chain_id)
        traders = {
            (trade.block_number, trade.log_index): trade.trader
            for trade in trades
            if trade.trader is not None
        }
        return insert_known_trades(write.tx, known, chain_id=self._chain_id, traders=traders)

    def _of_tracked(self, trades: Sequence[TokenTrade]) -> list[RealTradeRow]:
        """Return the trades of tracked tokens."""
        if not trades:
            return []
        tokens = list(dict.fromkeys(trade.token for trade in trades))
        addresses = np.frombuffer(b"".join(tokens), np.uint8).reshape(-1, ADDRESS_BYTES)
        ids = dict(zip(tokens, self._tokens.find(addresses).token_id.tolist(), strict=True))
        return [
            RealTradeRow(
                block_number=trade.block_number,
                log_index=trade.log_index,
                token_id=ids[trade.token],
                is_sale=trade.is_sale,
                trader=trade.trader,
                time_s=trade.time_s,
            )
            for trade in trades
            if ids[trade.token] != NOT_TRACKED
        ]


class LiquidityEvents:
    """Events that name the holders of a young pool's liquidity."""

    name = "liquidity"
    topics: tuple[Hash32, ...] = LIQUIDITY_TOPICS
    reading: Reading = "followed"

    def __init__(self, chain: Chain, young_pools: YoungPools) -> None:
        self._chain = chain
        self._young_pools = young_pools
        self.subjects: tuple[str, ...] = (chain.liquidity_subject,)

    def store(self, write: SpanWrite) -> int:
        """Store the events of a followed span. For old blocks do nothing: only pools that are young
        now need holders."""
        if not write.is_followed:
            return 0
        first = write.span.first
        self._young_pools.add(write.pools, first=first)
        rows = decode_liquidity(write.span.logs, self._young_pools.may_contain)
        write.dated |= {row.block_number for row in rows}
        return insert_liquidity(write.tx, rows, chain=self._chain, first=first)


class UndecodedEvents:
    """Logs that have the topic of another kind but not its shape."""

    name = "undecoded"
    topics: tuple[Hash32, ...] = ()
    reading: Reading = "always"
    subjects: tuple[str, ...] = ()

    def __init__(self, chain: Chain) -> None:
        self._chain_id = chain.id

    def store(self, write: SpanWrite) -> int:
        """Store the logs, except final ones that are already stored."""
        rows = join_undecoded(write.undecoded).rows(chain_id=self._chain_id)
        if write.final is not None:
            rows = write.final.without_stored(write.tx, "undecoded", rows, chain_id=self._chain_id)
        return insert_undecoded(write.tx, rows)


def untracked_tokens(chain: Chain) -> list[Address]:
    """Return the tokens that are never tracked, as they have too many pools."""
    return [ZERO_ADDRESS, *(anchor.address for anchor in chain.anchors)]


class _TokenTracker:
    """Tracking of the tokens that the spans of one chain announce."""

    def __init__(self, chain: Chain, because: Because) -> None:
        self._chain_id = chain.id
        self._because: Because = because
        self._untracked = untracked_tokens(chain)

    def track(self, write: SpanWrite, seen: Sequence[tuple[Address, int]]) -> None:
        """Track tokens from the first block in which each occurs."""
        first: dict[Address, int] = {}
        for address, block_number in seen:
            if address not in self._untracked:
                first[address] = min(first.get(address, block_number), block_number)
        track_seen(write.tx, chain_id=self._chain_id, seen=first, because=self._because)
        write.announces_tokens |= bool(seen)


def _is_kept(found: FoundTokens, block_numbers: Int64Array) -> BoolArray:
    """True where the token is tracked from this block or earlier."""
    kept: BoolArray = (found.token_id != NOT_TRACKED) & (block_numbers >= found.first_seen_block)
    return kept
