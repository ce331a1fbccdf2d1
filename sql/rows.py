"""Row types of the store and the ledger: one struct per table.

Field order is column order. Addresses and hashes are 0x text in structs; the store keeps an address
in the wide tables (transfer) as an integer id of the `address` dictionary.
"""

from typing import Literal

import msgspec

from config.chains import DexKind
from config.errors import RefusalCode
from config.primitives import Address, Hash32, RawAmount, Selector

TradeOutcome = Literal["passed", "refused", "pending"]
"""Result of one simulated side of one pool. None, not a value, if it was not attempted."""

Pending = Literal["pending"]


class Row(msgspec.Struct, frozen=True, kw_only=True):
    """Base of all rows."""


# --- chain data -------------------------------------------------------------------------------


class BlockRow(Row, frozen=True, kw_only=True):
    """One block of the window that may still be reorganised away (and the last final one)."""

    chain_id: int
    number: int
    hash: Hash32
    parent_hash: Hash32
    time_s: int


class CheckpointRow(Row, frozen=True, kw_only=True):
    """Progress of one ingestion stream of one chain: all up to and with `number` is stored."""

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


class RequestRow(Row, frozen=True, kw_only=True):
    """A requested token. It stays tracked when its pools are reorganised away."""

    chain_id: int
    address: Address
    block_number: int
    """Head of the chain at the first request."""


class PoolRow(Row, frozen=True, kw_only=True, gc=False):
    """One pool, from its creation event."""

    chain_id: int
    pool_key: str
    """`pool` address, or the 32-byte id for AmmV4: unique within a chain."""
    pool: Address
    """Pair contract; for AmmV4 the pool manager."""
    pool_id: Hash32 | None
    """AmmV4 only."""
    dex: str
    kind: DexKind
    variant: str | None
    factory: Address
    token0: Address
    """AmmV4: may be the zero address, the native coin."""
    token1: Address
    fee: int | None
    """V3 kinds and V4: hundredths of a basis point. V2 kinds: as created, basis points.

    None: not in the event.
    """
    tick_spacing: int | None
    stable: bool | None
    """Solid only."""
    hooks: Address | None
    """AmmV4 only; the zero address is None."""
    block_number: int
    log_index: int


class LaunchRow(Row, frozen=True, kw_only=True):
    """One token issued by a launch platform, from its creation event. A token announced by two
    platforms (one wraps the other) has a row for each."""

    chain_id: int
    token: Address
    slug: str
    """The platform."""
    emitter: Address
    """The contract that emitted the event; the log was matched by it."""
    creator: Address | None
    """The wallet named by the event; None if it names none."""
    tx_hash: Hash32 | None
    """None: the node did not return it."""
    block_number: int
    log_index: int


class CreatorRow(Row, frozen=True, kw_only=True):
    """Creator of one token, read from a final block."""

    chain_id: int
    token: Address
    creator: Address | None
    """Sender of the creation transaction. None: the block does not show it, permanently."""
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
    data: str
    """0x hex, at most the first 1,024 bytes."""


class CoverageRow(Row, frozen=True, kw_only=True):
    """A gapless block range in which all events of one subject have been ingested."""

    chain_id: int
    subject: str
    """`pools:<factory address>`, `launches:<platform>:<digest of emitters and events>` or
    `transfers`."""
    from_block: int
    to_block: int


# --- code ------------------------------------------------------------------------------------


class StaticFindings(Row, frozen=True, kw_only=True):
    """Findings of the static analysis. Definitions: the specification, "Static analysis".

    None: not known. `pending`: the analysis has not run.
    """

    mint_or_burn_function: bool | None = None
    can_selfdestruct: bool | None = None
    transfer_guarded_by_storage: bool | None = None
    transfer_from_guarded_by_storage: bool | None = None
    trading_cooldown: bool | None = None
    view_function_modifies_state: bool | None = None
    has_trading_cap: bool | None = None
    has_trading_cap_functionality: bool | None = None
    trading_cap_can_be_modified: bool | Pending | None = None
    has_position_cap: bool | None = None
    has_position_cap_functionality: bool | None = None
    position_cap_can_be_modified: bool | Pending | None = None
    has_owner_functionality: bool | None = None
    has_pause_functionality: bool | None = None
    pause_status_can_be_modified: bool | Pending | None = None
    has_blacklist_or_whitelist: bool | None = None
    external_call: bool | None = None
    timebomb: bool | Pending | None = "pending"
    has_tax_functionality: bool | None = None
    tax_can_be_modified: bool | None = None
    is_proxy: bool | None = None
    balance_update_function: tuple[Selector, ...] | None = None
    """None: not all candidate functions were explored; also for the next field."""
    allowance_update_function: tuple[Selector, ...] | None = None


class CodeAnswerRow(Row, frozen=True, kw_only=True):
    """Result of one version of the static analysis for one distinct runtime code, or for all codes
    that differ only in immutables."""

    code_key: int
    """The first 64 bits of a hash of the next two fields."""
    code_hash: Hash32
    """keccak256 of the code without compiler metadata; for several codes, a name of their shared
    part."""
    version: str
    """Version of everything that determines the result."""
    size: int
    """Bytes of the code as hashed."""
    found: str
    """JSON, in the shape written by the analysis of that version."""


# --- reports ---------------------------------------------------------------------------------


class ReportRow(Row, frozen=True, kw_only=True):
    """Findings on one token at one block, one value a column.

    None: unknown, never "no".
    """

    chain_id: int
    address: Address
    block_number: int
    block_hash: Hash32
    block_time_s: int
    scanned_at_s: int
    """Unix seconds of the local clock when the analysis ended."""
    is_settled: bool
    """False: a part was still running when this was written; a later write replaces it."""
    name: str
    symbol: str
    decimals: int
    supply_raw: RawAmount
    burned_raw: RawAmount
    owner_address: Address | None
    ownership_renounced: bool | None
    is_open_source: bool | None
    has_open_source_implementation: bool | None
    implementation: Address | None
    """For a proxy, the contract whose code was analysed. None: not a proxy."""
    timebomb_status: str | None
    """Status when the analysis ended; answers recompute it from the clock limits."""
    transfer_success: bool | None
    send_tax: float | None
    """Percent."""
    receive_tax: float | None
    """Percent."""
    transfer_checked_at_s: int | None
    """When the last transfer check ended: one that settled, or one that had neither a holder nor a
    funded test wallet to send from (transfer_success is then None). None: there was none."""
    allowance_bypass: bool | None
    privileged_spenders: tuple[Address, ...]
    funds_can_be_drained: bool | None
    owner_can_change_balance: bool | None
    """None: not assessed; the key is then absent from answers."""
    is_launchpad_token: bool | None
    launchpad_name: str | None
    creator_address: Address | None
    creator_balance_raw: RawAmount | None
    owner_slots_vacant: bool | None
    """True if every owner-check slot holds zero or a burn address. None: not all are read."""
    clock_block: int | None
    """`block.number` as read by a contract. None: not requested, or no answer."""
    clock_time_s: int | None
    """`block.timestamp` as read by a contract."""
    others_raw: RawAmount | None
    """Sum of balances of unlisted holders by a complete transfer history. None: the history is
    incomplete."""
    sell_blocked_later: bool | None
    """True if in some traded pool a sale that passes today reverts within 30 days. None, as in the
    next three: no sale passes today, or it was not determined."""
    sell_tax_rises: bool | None
    """True if the tax is below half today, and half or more within 30 days or after trades."""
    sell_depends_on_size: bool | None
    """True if some buyers can sell, or keep half of the proceeds, and others cannot."""
    sell_blocked_after_others: bool | None
    """True if a sale that passes today reverts after others' trades, or a second buy."""
    sell_depends_on_conditions: bool | None
    """True if under ordinary values of inputs that the code reads (fees, gas, coins, randomness) a
    sale reverts, or loses half."""
    untested_conditions: bool | None
    """True if the code can revert or tax a trade on a condition that was neither simulated both
    ways nor proved harmless. None: its conditions are not known."""
    hidden_owner_controls: bool | None
    """True if somebody sets on what trades revert, unseen in other fields. None: not known."""
    unproved_custody: bool | None
    """True if a balance may fall or an allowance rise without proof of the holder's consent."""
    creates_balances: bool | None
    """True if some function adds to a balance without lowering another, hidden from totalSupply or
    open to anybody. None: not known."""


LIQUIDITY_UNKNOWN = "liquidity_unknown"
"""Error code of a pool that exists, but whose reserves could not be read."""


class PoolResultRow(Row, frozen=True, kw_only=True, gc=False):
    """One pool of one token's report, deepest first by `ordinal`."""

    ordinal: int
    pool: Address
    pool_id: Hash32 | None
    kind: str
    """`liquidity_type`."""
    dex: str
    quote: Address
    """The side that is not the token; the zero address is the native coin."""
    liquidity_usd: float
    """USD of known-token reserves, both sides. 0 where it is not valued."""
    quote_side_usd: float
    """USD of the quote side alone; `is_liquid` is measured here. 0 where it is not valued."""
    buy: TradeOutcome | None
    buy_tax: float | None
    """Percent. None unless `buy` is passed and the tax was measured."""
    sell: TradeOutcome | None
    sell_tax: float | None
    error_code: str | None
    error_message: str | None
    is_launchpad: bool | None
    token_usd: float | None
    """USD of one whole token at the pool's spot price. None: no price, or no priced other side."""

    @property
    def is_valued(self) -> bool:
        """True if the pool's reserves are known; otherwise the USD amounts have no meaning."""
        return self.error_code != LIQUIDITY_UNKNOWN


class HolderRow(Row, frozen=True, kw_only=True):
    """A balance at the report's block."""

    role: Literal["burn", "top"]
    ordinal: int
    owner: Address
    amount_raw: RawAmount


class ClockLimitRow(Row, frozen=True, kw_only=True):
    """A value that code compares with the clock; whether it is a deadline depends on the clock."""

    source: Literal["constant", "storage", "stamp"]  # stamp: storage only ever set to the clock
    slot: Hash32 | None
    """None: a constant, or a storage value without one known slot."""
    value: int | None
    """For storage: at the report's block. None: out of reach, or the node did not answer."""
    compared_with: Literal["block", "timestamp"] | None
    """None: not known, or both."""


class EvidenceRow(Row, frozen=True, kw_only=True):
    """Evidence for one finding."""

    key: str
    """The API field or scenario it proves."""
    body: str
    """JSON: selectors, slots, program counters, or the calls and their results."""


class RefusalRow(Row, frozen=True, kw_only=True):
    """The latest admission refusal of one tracked token. A later report replaces it."""

    code: RefusalCode
    reason: str
    refused_at_s: int


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The complete result of one analysis: written by the analysis, read by the API."""

    token: ReportRow
    static: StaticFindings
    pools: tuple[PoolResultRow, ...] | None
    """None: pools were not resolved (not the same as an empty tuple, no pool found)."""
    holders: tuple[HolderRow, ...]
    clock_limits: tuple[ClockLimitRow, ...]
    evidence: tuple[EvidenceRow, ...]


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
