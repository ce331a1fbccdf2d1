"""Report model: everything one analysis finds on one token at one block.

Written by the analysis, stored row by row, read by the API. Addresses and hashes are 0x text.
"""

from typing import Literal

import msgspec

from core.evm.code_shape import CodeShape
from core.evm.primitives import Address, Hash32, RawAmount
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.powers import Power
from core.report.track_record import TrackRecord

TradeOutcome = Literal["passed", "refused", "pending"]
"""Result of one simulated side of one pool. None, not a value, if it was not attempted."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """Base of the parts of a report. Field order is the column order of their tables."""


class ReportRow(Finding, frozen=True, kw_only=True):
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
    """End of the last transfer check that settled, or that had nobody to send from.

    The sender is a holder or a funded test wallet; without either transfer_success is None. None:
    there was no such check.
    """
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


LIQUIDITY_UNKNOWN = "liquidity_unknown"
"""Error code of a pool that exists, but whose reserves could not be read."""


class PoolResultRow(Finding, frozen=True, kw_only=True, gc=False):
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


class HolderRow(Finding, frozen=True, kw_only=True):
    """A balance at the report's block."""

    role: Literal["burn", "top"]
    ordinal: int
    owner: Address
    amount_raw: RawAmount


class ClockLimitRow(Finding, frozen=True, kw_only=True):
    """A value that code compares with the clock; whether it is a deadline depends on the clock."""

    source: Literal["constant", "storage", "stamp"]  # stamp: storage only ever set to the clock
    slot: Hash32 | None
    """None: a constant, or a storage value without one known slot."""
    value: int | None
    """For storage: at the report's block. None: out of reach, or the node did not answer."""
    compared_with: Literal["block", "timestamp"] | None
    """None: not known, or both."""


class StateWord(Finding, frozen=True, kw_only=True):
    """A storage word that the report depends on, at the report's block."""

    contract: Address
    """The token, or the hook of a pool."""
    slot: Hash32
    word: Hash32


class EvidenceRow(Finding, frozen=True, kw_only=True):
    """Evidence for one finding."""

    key: str
    """The API field or scenario it proves."""
    body: str
    """JSON: selectors, slots, program counters, or the calls and their results."""


class Report(msgspec.Struct, frozen=True, kw_only=True):
    """The complete result of one analysis: written by the analysis, read by the API."""

    token: ReportRow
    static: StaticFindings
    scan: ScanFindings
    pools: tuple[PoolResultRow, ...] | None
    """None: pools were not resolved (not the same as an empty tuple, no pool found)."""
    holders: tuple[HolderRow, ...]
    clock_limits: tuple[ClockLimitRow, ...]
    evidence: tuple[EvidenceRow, ...]
    state: tuple[StateWord, ...] | None = None
    """None: not known, as in reports of earlier releases."""
    powers: tuple[Power, ...] = ()
    """Powers over the token, with their holders. Empty in reports of earlier releases too."""
    are_powers_known: bool | None = None
    """True if every function that may hold a power was followed to its end."""
    shape: CodeShape | None = None
    """Shape of the analysed code. None: not known, as in a report that is read back: it is stored
    once for all tokens of one shape."""
    track_record: TrackRecord | None = None
    """None: the index does not have the token, or the report is of an earlier release."""
