"""Structs of the native format: the features, the objects inside them, and their envelope.

The structs are the encoder and the OpenAPI schema. `None` is JSON null, "unknown" unless a field
states otherwise; `pending` occurs only where the specification has it. Addresses are in the
checksummed form of EIP-55. `native.py` computes the values.
"""

from functools import partial
from typing import Annotated, Final, Generic, Literal, TypeVar

import msgspec

from analysis.token.timebomb_status import TimebombState as TimebombStatus
from api.formats.shape_building import Shape, with_findings
from core.evm.primitives import Selector
from core.report.fields.field import Check, Field, Pending

_static = partial(Field, section="static", source="specification, Static analysis")
_simulated = partial(Field, section="simulation", source="specification, Simulation")
_pooled = partial(Field, section="pools", source="specification, Pools and Launchpad")
_supplied = partial(Field, section="supply", source="specification, Supply and burn", null="")
_other = partial(Field, section="other", source="specification, Other", null="")

_NO_CREATION: Final = "the transaction that created the token was not found"
_NOT_SETTLED: Final = (
    "the node did not run the simulation that would answer this, or no wallet was available for it"
)


def settled(value: bool | Pending | msgspec.UnsetType | None) -> bool | None:
    """Return the boolean, or None if it is pending, absent or unknown."""
    return value if isinstance(value, bool) else None


def figure(value: float | Pending | None) -> float | None:
    """Return the number, or None if it is pending or unknown."""
    return None if isinstance(value, str) else value


class Holder(Shape, frozen=True, kw_only=True):
    """One address with its balance."""

    owner_address: str
    """Address of the holder: a wallet or a contract."""
    token_amount: float
    """Balance in whole tokens."""
    pct_held: float
    """Balance in percent of the total supply."""
    error_message: str | None = msgspec.field(name="errorMessage")
    """Why the balance could not be read. None: it was."""
    error_code: str | None = msgspec.field(name="errorCode")
    """The same as a stable code. None: it was read."""


class Deadline(Shape, frozen=True, kw_only=True):
    """A limit in the code that is compared with the clock."""

    source: Literal["constant", "storage"]
    """constant: a value in the bytecode, which cannot change. storage: a value in storage."""
    slot: str | None
    """Storage slot of the value. None: a constant."""
    clock: Literal["block", "timestamp"]
    """Clock that the code compares it with: block number or block timestamp."""
    value: int
    """Block number or Unix seconds, depending on `clock`."""
    passed: bool
    """The clock is at the value or after it."""
    estimated_unix_time: int
    """Unix seconds when the clock reaches the value: exact for a timestamp, by the nominal block
    time for a block."""


class Pool(Shape, frozen=True, kw_only=True, gc=False):
    """One pool that pairs the token with a quote token."""

    pair: str
    """Address of the pair contract; for AmmV4, BalancerV2 and BalancerV3 of the one contract that
    all pools of the chain share, so read `pool_id` too."""
    liquidity_type: str
    """Kind of the pool: AmmV2, AmmV3, AmmV4, BalancerV2, BalancerV3, CurveCrypto, CurveStable,
    DodoV2, LiquidityBook, Solid, SolidV3, or a launch platform's bonding curve. The set may
    grow."""
    liquidity: float | None
    """USD of the known tokens' reserves, both sides; approximate. None: what the pool holds is not
    known."""
    buy_success: bool | Pending | None
    """A simulated buy passed. pending: it is still running. None: none was attempted."""
    buy_tax: float | Pending | None
    """Tax on a buy, in percent. None: there is no figure, which is not 0."""
    sell_success: bool | Pending | None
    """A simulated sale passed. Only false is a token that cannot be sold. pending: it is still
    running. None: none was attempted."""
    sell_tax: float | Pending | None
    """Tax on a sale, in percent. None: there is no figure, which is not 0."""
    error_message: str | None = msgspec.field(name="errorMessage")
    """Why the pool was not simulated or not valued, as prose. None: it was."""
    error_code: str | None = msgspec.field(name="errorCode")
    """The same as a stable code: liquidity_too_low, no_in_range_liquidity, missing_swap_parameters,
    pair_not_found or liquidity_unknown. None: there was no error."""
    pool_id: str | None
    """Id of an AmmV4 pool, 32 bytes, its only unique name. Of BalancerV2 and BalancerV3: the pool's
    address and half a hash of its id, or of its address, and both tokens. Of two coins of a pool of
    Curve's that are not its first two: its address and their numbers in it. None for every other
    pool."""
    is_launchpad: bool | None
    """It is a bonding curve of a launch platform. Test for true alone: None is no answer."""


@with_findings
class NativeFeatures(Shape, frozen=True, kw_only=True):
    """The feature set of the native format.

    The body declares the keys that are computed when a report is rendered; the findings of
    `core.report.fields` are added to them. A finding that the body declares as well is computed
    too, and has the type given here.
    """

    owner_address: Annotated[
        str | None,
        _static(
            meaning="What an owner getter returns; no sign of renouncement.",
            null="no owner getter answered",
            after="has_owner_functionality",
        ),
    ]
    ownership_renounced: Annotated[
        bool | None,
        _static(
            meaning="The owner is a burn address, or no owner was found.",
            null="no owner getter answered, and a wallet is in an owner-check slot",
            check=Check(
                severity="warning",
                key="ownership_not_renounced",
                is_negated=True,
            ),
        ),
    ]
    timebomb: bool | Pending | None
    timebomb_status: Annotated[
        TimebombStatus | None,
        _static(meaning="State of the code's deadlines now.", after="timebomb"),
    ]
    timebomb_deadlines: Annotated[
        tuple[Deadline, ...],
        _static(
            meaning="Deadlines that the code compares with the clock, earliest first.", null=""
        ),
    ]
    is_open_source: Annotated[
        bool | None,
        _static(
            meaning="The source of the contract is published.",
            null="no service that publishes sources answered",
            after="tax_can_be_modified",
            check=Check(severity="notice", finding=False),
            compat=("is_open_source",),
            goplus=("is_open_source",),
        ),
    ]
    has_open_source_implementation: Annotated[
        bool | None,
        _static(
            meaning="For a proxy: the source of the implementation is published. Null for others.",
            null="no service answered for the implementation",
        ),
    ]
    balance_update_function: tuple[Selector, ...]
    allowance_update_function: tuple[Selector, ...]

    transfer_success: Annotated[
        bool | None,
        _simulated(
            meaning="A holder's balance can be moved.",
            null=_NOT_SETTLED,
            check=Check(severity="danger", key="transfer_failed", is_negated=True),
        ),
    ]
    send_tax: Annotated[
        float | None,
        _simulated(
            meaning="What a transfer takes from the sender on top of the amount.",
            unit="percent",
            null=_NOT_SETTLED,
        ),
    ]
    receive_tax: Annotated[
        float | None,
        _simulated(
            meaning="What of the amount the recipient of a transfer does not receive.",
            unit="percent",
            null=_NOT_SETTLED,
        ),
    ]
    allowance_bypass: Annotated[
        bool | None,
        _simulated(
            meaning="Some caller can move a holder's tokens by `transferFrom` without approval.",
            null=_NOT_SETTLED,
            check=Check(severity="danger"),
        ),
    ]
    privileged_spenders: Annotated[
        tuple[str, ...],
        _simulated(meaning="Addresses that can move balances without an allowance.", null=""),
    ]
    funds_can_be_drained: Annotated[
        bool | None,
        _simulated(
            meaning="An account other than the holder can move tokens out of a wallet.",
            null=_NOT_SETTLED,
            check=Check(severity="danger"),
        ),
    ]
    owner_can_change_balance: Annotated[
        bool | msgspec.UnsetType,
        _simulated(
            meaning="The owner can change any holder's balance. Absent: not assessed.",
            null="",
            check=Check(severity="danger"),
            compat=("owner_change_balance",),
            goplus=("owner_change_balance",),
        ),
    ] = msgspec.UNSET
    is_liquid: Annotated[
        bool | None,
        _simulated(
            meaning="Some pool holds more than 100 USD on its quote side.",
            null="what some pool holds is not known, or pools were not resolved",
        ),
    ]

    dex: Annotated[tuple[Pool, ...], _pooled(meaning="The pools, deepest first.", null="")]
    cannot_buy: Annotated[
        bool | None,
        _pooled(
            meaning="Every settled simulation of a buy failed.",
            null="no buy was settled in any pool",
            compat=("cannot_buy", "transfer_pausable"),
            goplus=("cannot_buy",),
        ),
    ]
    is_launchpad_token: Annotated[
        bool | None,
        _pooled(
            meaning="A launch platform issued the token.",
            null="no launch platform could be asked",
            compat=("launchpad_token",),
        ),
    ]
    launchpad_name: Annotated[
        str | None,
        _pooled(meaning="Slug of that platform.", null="the platform has no name that is known"),
    ]

    decimals: Annotated[int, _supplied(meaning="Decimals of the token.")]
    supply: Annotated[float, _supplied(meaning="Total supply.", unit="whole tokens")]
    normalized_supply: Annotated[
        float, _supplied(meaning="Deprecated; the same as `supply`.", unit="whole tokens")
    ]
    burned_supply: Annotated[
        float, _supplied(meaning="What the burn addresses hold.", unit="whole tokens")
    ]
    burned_supply_pct: Annotated[
        float, _supplied(meaning="Share of the supply burned, cut to 2 decimals.", unit="percent")
    ]
    circulating_supply: Annotated[
        float, _supplied(meaning="Supply without what is burned.", unit="whole tokens")
    ]
    burn_addresses: Annotated[
        tuple[Holder, ...], _supplied(meaning="The burn addresses with a balance above 0.")
    ]

    name: Annotated[str, _other(meaning="Name of the token.")]
    symbol: Annotated[str, _other(meaning="Symbol of the token.")]
    creator_address: Annotated[
        str | None, _other(meaning="The wallet that created the token.", null=_NO_CREATION)
    ]
    creator_balance: Annotated[
        float | None,
        _other(meaning="Balance of the creator.", unit="whole tokens", null=_NO_CREATION),
    ]
    creator_percent: Annotated[
        float | None,
        _other(
            meaning="Share of the supply that the creator holds, cut to 2 decimals.",
            unit="percent",
            null=_NO_CREATION,
        ),
    ]
    top_holders: Annotated[
        tuple[Holder, ...], _other(meaning="At most ten holders, largest first.")
    ]
    is_in_dex: Annotated[
        bool | None,
        _other(
            meaning="The token is in at least one exchange.",
            null="pools were not resolved",
            compat=("is_in_dex",),
            goplus=("is_in_dex",),
        ),
    ]
    last_scanned_at: Annotated[str, _other(meaning="Time of the last analysis, ISO 8601 UTC.")]


Features = TypeVar("Features")


class Envelope(Shape, Generic[Features], frozen=True, kw_only=True):
    """Envelope of the features in every format. A refusal of a token has null features."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55; for invalid_address what was sent."""
    features: Features
    """Findings in the requested format. None: the token was refused."""
    error: str
    """Why the token was refused, as prose that can change. Empty on success."""
    error_code: str | None
    """The same as a stable code, to branch on. None: success."""
    token_usd_price: float | None
    """USD of one whole token. None: not requested, or no source has it; not zero."""
    market_cap_usd: float | None
    """`token_usd_price` times `circulating_supply`. None: no price, no circulating supply, or an
    implausible result."""
    price_source: Literal["aggregator", "network_token_info", "pool_spot", "stablecoin_pin"] | None
    """Source of the price, the first that had one. None: no price."""
    price_age_seconds: int | None
    """Age of the last observed trade. None unless the source is network_token_info."""
