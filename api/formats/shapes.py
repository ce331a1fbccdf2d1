"""Structs of the native format: exactly the keys of the specification, in its order.

The structs are the encoder and the OpenAPI schema. `None` is JSON null, "unknown" unless a field
says otherwise; `pending` occurs only where the specification has it. Addresses are in the
checksummed form of EIP-55. `native.py` and `compat.py` compute the values.
"""

from typing import Generic, Literal, TypeVar

import msgspec

from analysis.token.timebomb_status import TimebombState as TimebombStatus
from core.report import Pending


def settled(value: bool | Pending | msgspec.UnsetType | None) -> bool | None:
    """Return the boolean, or None if it is pending, absent or unknown."""
    return value if isinstance(value, bool) else None


def figure(value: float | Pending | None) -> float | None:
    """Return the number, or None if it is pending or unknown."""
    return None if isinstance(value, str) else value


class Shape(msgspec.Struct, frozen=True):
    """Base of everything that is encoded into an answer."""


class Holder(Shape, frozen=True, kw_only=True):
    """One address and what it holds."""

    owner_address: str
    token_amount: float
    """Whole tokens."""
    pct_held: float
    """Percent of total supply."""
    error_message: str | None = msgspec.field(name="errorMessage")
    error_code: str | None = msgspec.field(name="errorCode")


class Deadline(Shape, frozen=True, kw_only=True):
    """A limit in the code that is compared with the clock."""

    source: Literal["constant", "storage"]
    slot: str | None
    """None: a constant."""
    clock: Literal["block", "timestamp"]
    value: int
    """Block number or Unix seconds, as `clock` says."""
    passed: bool
    estimated_unix_time: int
    """Unix seconds; exact for a timestamp, by nominal block time for a block."""


class Pool(Shape, frozen=True, kw_only=True, gc=False):
    """One pool that pairs the token with a quote token."""

    pair: str
    """Pair contract; for AmmV4 the one contract that all pools of the chain share."""
    liquidity_type: str
    liquidity: float | None
    """USD of known-token reserves, both sides. None: what the pool holds is not known."""
    buy_success: bool | Pending | None
    """None: not attempted."""
    buy_tax: float | Pending | None
    """Percent."""
    sell_success: bool | Pending | None
    """None: not attempted."""
    sell_tax: float | Pending | None
    """Percent."""
    error_message: str | None = msgspec.field(name="errorMessage")
    error_code: str | None = msgspec.field(name="errorCode")
    pool_id: str | None
    """AmmV4 only."""
    is_launchpad: bool | None


class NativeFeatures(Shape, frozen=True, kw_only=True):
    """The feature set of the native format."""

    mint_or_burn_function: bool | None
    can_selfdestruct: bool | None
    transfer_guarded_by_storage: bool | None
    transfer_from_guarded_by_storage: bool | None
    trading_cooldown: bool | None
    view_function_modifies_state: bool | None
    has_trading_cap: bool | None
    has_trading_cap_functionality: bool | None
    trading_cap_can_be_modified: bool | Pending | None
    """Sent as false once ownership is renounced."""
    has_position_cap: bool | None
    has_position_cap_functionality: bool | None
    position_cap_can_be_modified: bool | Pending | None
    """Sent as false once ownership is renounced."""
    has_owner_functionality: bool | None
    owner_address: str | None
    """None: no getter answered."""
    ownership_renounced: bool | None
    has_pause_functionality: bool | None
    pause_status_can_be_modified: bool | Pending | None
    """Sent as false once ownership is renounced."""
    has_blacklist_or_whitelist: bool | None
    external_call: bool | None
    timebomb: bool | Pending | None
    timebomb_status: TimebombStatus | None
    timebomb_deadlines: tuple[Deadline, ...]
    """Earliest first."""
    has_tax_functionality: bool | None
    tax_can_be_modified: bool | None
    is_open_source: bool | None
    has_open_source_implementation: bool | None
    """None: not a proxy, or unknown."""
    is_proxy: bool | None
    balance_update_function: tuple[str, ...]
    """Empty too where not all that may be among them were followed; so for the next."""
    allowance_update_function: tuple[str, ...]

    transfer_success: bool | None
    send_tax: float | None
    """Percent."""
    receive_tax: float | None
    """Percent."""
    allowance_bypass: bool | None
    privileged_spenders: tuple[str, ...]
    funds_can_be_drained: bool | None
    owner_can_change_balance: bool | msgspec.UnsetType = msgspec.UNSET
    """The key is absent where it was not assessed."""
    is_liquid: bool | None

    dex: tuple[Pool, ...]
    """Deepest first."""
    cannot_buy: bool | None
    is_launchpad_token: bool | None
    launchpad_name: str | None

    decimals: int
    supply: float
    """Whole tokens."""
    normalized_supply: float
    """Deprecated; the same as `supply`."""
    burned_supply: float
    """Whole tokens."""
    burned_supply_pct: float
    """Percent, cut to two decimals."""
    circulating_supply: float
    """Whole tokens."""
    burn_addresses: tuple[Holder, ...]

    name: str
    symbol: str
    creator_address: str | None
    creator_balance: float | None
    """Whole tokens."""
    creator_percent: float | None
    """Percent of supply, cut to two decimals."""
    top_holders: tuple[Holder, ...]
    """At most ten, largest first."""
    is_in_dex: bool | None
    last_scanned_at: str
    """ISO 8601 UTC."""


Features = TypeVar("Features")


class Envelope(Shape, Generic[Features], frozen=True, kw_only=True):
    """What goes around the features in every format. A refusal of a token has null features."""

    chain: str
    """Slug."""
    contract_address: str
    features: Features
    error: str
    """Prose; empty on success."""
    error_code: str | None
    token_usd_price: float | None
    """USD. None: not asked for, or not found; the same goes for the next three."""
    market_cap_usd: float | None
    price_source: Literal["aggregator", "network_token_info", "pool_spot", "stablecoin_pin"] | None
    price_age_seconds: int | None
