"""Row types of the store and the ledger: one struct per table.

Addresses and hashes are 0x text in structs and blobs in the tables.
"""

from typing import Literal

from core.evm.primitives import Address, BlockRef, Hash32, HexBytes, RawAmount, Selector
from core.report.powers import Bound, HolderKind, PowerKind
from core.report.rows import Row

# --- chain data -------------------------------------------------------------------------------


class BlockRow(Row, frozen=True, kw_only=True):
    """One block that may still be reorganised away, or the last final one."""

    chain_id: int
    number: int
    hash: Hash32
    parent_hash: Hash32
    time_s: int
    log_count: int | None = None
    """Logs that were read of it, for comparison with a second read. None: it needs none."""

    @property
    def ref(self) -> BlockRef:
        """Return the block without its chain."""
        return BlockRef(
            number=self.number, hash=self.hash, parent_hash=self.parent_hash, time_s=self.time_s
        )


class CheckpointRow(Row, frozen=True, kw_only=True):
    """Progress of one ingestion stream of one chain: everything up to `number` is stored."""

    chain_id: int
    stream: str
    """`follow`, or `backfill:<from>:<to>`."""
    number: int
    hash: Hash32 | None
    """None where the range was final and its hash was not needed."""


class TokenRow(Row, frozen=True, kw_only=True):
    """One tracked token: it has a pool, a launch platform issued it, or a caller requested it."""

    token_id: int
    chain_id: int
    address: Address
    tracked_because: Literal["pool", "launch", "request"]
    """The first of these that holds."""
    first_seen_block: int
    transfers_from_block: int | None
    """Transfers are complete from this block on. None: none stored yet."""
    requested_at_block: int | None
    """Head of the chain at the first request: the token stays tracked when its pools are
    reorganised away. None: it was never requested."""


class TransferRow(Row, frozen=True, kw_only=True, gc=False):
    """One ERC-20 transfer of a tracked token."""

    block_number: int
    log_index: int
    token_id: int
    sender: bytes
    """20 bytes."""
    recipient: bytes
    amount_raw: RawAmount
    time_s: int | None = None
    """Time of the block, Unix seconds. None: the node did not return it."""


class SwapRow(Row, frozen=True, kw_only=True, gc=False):
    """One swap, from its event."""

    block_number: int
    log_index: int
    time_s: int
    """Timestamp of its block, Unix seconds."""
    emitter: Address
    pool_key: HexBytes
    kinds: tuple[str, ...]
    """Kinds of pools whose swap events have this form."""
    amount0: float
    """Amount of token0 in smallest units: positive into the pool, negative out of it."""
    amount1: float
    tx_hash: bytes | None = None
    """32 bytes. None: the node did not send it."""


class RealTradeRow(Row, frozen=True, kw_only=True, gc=False):
    """One trade of a tracked token in a pool, with its trader."""

    block_number: int
    log_index: int
    """Place of the pool's last event of the trade."""
    token_id: int
    is_sale: bool
    """True if the trader sold the token."""
    trader: bytes | None
    """20 bytes. None: the logs name none, or several."""
    time_s: int
    """Time of the block, Unix seconds."""


class LiquidityLogRow(Row, frozen=True, kw_only=True, gc=False):
    """One log that names a possible holder of a pool's liquidity."""

    block_number: int
    log_index: int
    emitter: Address
    pool_key: HexBytes
    kinds: tuple[str, ...]
    """Kinds of pools that emit such events."""
    topics: bytes
    """32 bytes each, topic 0 included."""
    data: bytes


class CreatorRow(Row, frozen=True, kw_only=True):
    """Creator of one token, read from a final block."""

    chain_id: int
    token: Address
    creator: Address | None
    """Sender of the creation transaction. None: the block does not show it, which is final."""
    block_number: int
    tx_hash: Hash32 | None
    """None: the block does not show it."""


class FunderRow(Row, frozen=True, kw_only=True):
    """Source of a creator's first coins, read from a final block."""

    chain_id: int
    account: Address
    funder: Address | None
    """Sender of the transaction. None: the block does not show it, which is final."""
    block_number: int
    tx_hash: Hash32 | None
    """None: the block does not show it."""


class HistoryRow(Row, frozen=True, kw_only=True):
    """Backward fetch progress of one token's transfer history."""

    is_whole: bool
    """There are no older transfers, or the stored ones account for the whole supply."""
    requests: int
    """Log queries spent."""
    logs: int
    """Transfer events processed."""


class UndecodedRow(Row, frozen=True, kw_only=True):
    """One log with a known topic 0 but not its event's shape. Counted and kept, never dropped."""

    chain_id: int
    block_number: int
    log_index: int
    address: Address
    topic0: Hash32
    topic_count: int
    data: HexBytes
    """At most the first 1,024 bytes."""


class CoverageRow(Row, frozen=True, kw_only=True):
    """A gapless block range in which all events of one subject have been ingested."""

    chain_id: int
    subject: str
    """`pools:<factory address>`, `launches:<platform>:<digest of emitters and events>` or
    `transfers`."""
    from_block: int
    to_block: int


# --- code ------------------------------------------------------------------------------------


class CodeAnswerRow(Row, frozen=True, kw_only=True):
    """Result of one version of the static analysis for one distinct runtime code."""

    code_key: int
    """The first 64 bits of a hash of the next two fields."""
    code_hash: Hash32
    """keccak256 of the code without compiler metadata."""
    version: str
    """Version of everything that determines the result."""
    size: int
    """Bytes of the code as hashed."""
    found: str
    """JSON, in the shape written by the analysis of that version."""


# --- reports ---------------------------------------------------------------------------------


class PowerRow(Row, frozen=True, kw_only=True):
    """One power over a token, by its newest report."""

    ordinal: int
    check_key: str
    """Key of the field that it explains."""
    what: PowerKind
    holder_kind: HolderKind
    holder: Address | None
    """None: no single account is named."""
    bound: Bound
    detail: str | None
    functions: tuple[Selector, ...]
    is_harmless: bool
    is_bound: bool


class FindingRow(Row, frozen=True, kw_only=True):
    """One finding of a report: a field that `core.report.fields` declares."""

    key: str
    value: str | None
    """Text as `report_tables` writes it. None: unknown."""


# --- ledger (SQLite) -------------------------------------------------------------------------


class KeyRow(Row, frozen=True, kw_only=True):
    """One API key. Only its digest is kept."""

    key_id: int
    digest: str
    """SHA-256 of the key, hex."""
    plan: str
    label: str
    """Purpose or user of the key; for a trial key the recorded reason."""
    created_at_s: int
    expires_at_s: int | None
    revoked_at_s: int | None
    is_operator: bool = False
    """True: it may manage the jobs of the service."""
