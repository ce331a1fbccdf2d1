"""The compat format: derived from native features by a table with one row per field.

Booleans become '1' and '0', numbers the shortest exact decimal string, null stays null. A field
names its compat keys itself; every change of scale or direction is a row of `TABLE`.
"""

from collections.abc import Callable, Sequence
from types import NoneType
from typing import Annotated, Any, Literal, get_type_hints

import msgspec
from msgspec import Meta

from api.formats.amounts import decimal_text, number_text, share_text
from api.formats.native.field_table import keys_named, named_by, value_of
from api.formats.native.native import holders_of
from api.formats.native.shapes import NativeFeatures, figure, settled
from api.formats.shape_building import Shape, complete
from core.evm.primitives import checksum
from core.report.fields.field import Pending
from core.report.report import Report

Digit = Literal["0", "1"]
"""'1' is true, '0' is false."""


class CompatHolder(Shape, frozen=True, kw_only=True):
    """One of the largest holders."""

    address: str
    """Address of the holder, with the checksum of EIP-55."""
    balance: str
    """Balance in whole tokens, exact."""
    percent: str
    """Share of the total supply, 0 to 1."""


_NeverFilled = Annotated[None, Meta(description="Never filled, so null has no meaning.")]

_ORDER = (
    *("is_open_source", "is_proxy", "is_mintable", "owner_address", "selfdestruct"),
    *("external_call", "is_in_dex", "buy_tax", "sell_tax", "cannot_buy", "slippage_modifiable"),
    *("trading_cooldown", "creator_address", "creator_percent", "launchpad_token"),
    *("transfer_pausable", "is_blacklisted", "is_whitelisted", "is_anti_whale"),
    *("anti_whale_modifiable", "hidden_owner", "owner_change_balance"),
    *("token_name", "token_symbol", "total_supply", "holders"),
)
"""Keys in the order of the specification; the others come after these."""


@complete(keys_named("compat", Digit | None, unknown="null"), order=_ORDER)
class CompatFeatures(Shape, frozen=True, kw_only=True):
    """The feature set of the compat format.

    Fields add the keys that they name for this format.
    """

    owner_address: Annotated[
        str | None, Meta(description="What an owner getter returns; no sign of renouncement.")
    ]
    buy_tax: Annotated[str | None, Meta(description="Of the first pool with a figure, in percent.")]
    sell_tax: Annotated[str | None, Meta(description="As `buy_tax`, of a sale.")]
    creator_address: Annotated[
        str | None, Meta(description="The wallet that created the token. null: not found.")
    ]
    creator_percent: Annotated[
        str | None, Meta(description="Percent of the supply that the creator holds.")
    ]
    hidden_owner: Annotated[
        Digit | None, Meta(description="Named addresses can move tokens without approval.")
    ]
    token_name: Annotated[str, Meta(description="Name of the token.")]
    token_symbol: Annotated[str, Meta(description="Symbol of the token.")]
    total_supply: Annotated[str, Meta(description="Total supply in whole tokens, exact.")]
    holders: Annotated[tuple[CompatHolder, ...], Meta(description="At most ten, largest first.")]

    cannot_sell_all: _NeverFilled
    can_take_back_ownership: _NeverFilled
    gas_abuse: _NeverFilled
    personal_slippage_modifiable: _NeverFilled
    lp_total_supply: _NeverFilled
    is_airdrop_scam: _NeverFilled
    trust_list: _NeverFilled
    holder_count: _NeverFilled
    owner_balance: _NeverFilled
    owner_percent: _NeverFilled
    is_honeypot: _NeverFilled


ALWAYS_NULL = [key for key, kind in get_type_hints(CompatFeatures).items() if kind is NoneType]
"""Fields of the format that are never filled."""


def digit(value: bool | Pending | msgspec.UnsetType | None) -> Digit | None:
    """Return '1' or '0'; None where there is no answer yet."""
    answer = settled(value)
    if answer is None:
        return None
    return "1" if answer else "0"


def either(*values: bool | Pending | None) -> bool | None:
    """True if any is true; else None if any has no answer; else False."""
    if any(value is True for value in values):
        return True
    return False if all(value is False for value in values) else None


def _text(value: float | None) -> str | None:
    return None if value is None else number_text(value)


def _first_figure(*values: float | Pending | None) -> str | None:
    """Return the first number as text; `pending` and null are skipped."""
    return _text(next((value for value in map(figure, values) if value is not None), None))


def _hidden_owner(native: NativeFeatures) -> Digit | None:
    """Return '1' only for an allowance bypass restricted to named spenders; for a universal one
    '0'."""
    if native.allowance_bypass is None:
        return None
    return digit(native.allowance_bypass and bool(native.privileged_spenders))


CompatRule = Callable[[Report, NativeFeatures], str | None]


def _any_of(keys: Sequence[str]) -> CompatRule:
    return lambda report, native: digit(either(*(value_of(key, report, native) for key in keys)))


TABLE: dict[str, CompatRule] = {
    **{name: _any_of(keys) for name, keys in named_by("compat").items()},
    "owner_address": lambda _, native: native.owner_address,
    # In a plain transfer the buyer's loss is the receive tax, the seller's the send tax.
    "buy_tax": lambda _, n: _first_figure(*(pool.buy_tax for pool in n.dex), n.receive_tax),
    "sell_tax": lambda _, n: _first_figure(*(pool.sell_tax for pool in n.dex), n.send_tax),
    "creator_address": lambda _, native: native.creator_address,
    "creator_percent": lambda _, native: _text(native.creator_percent),
    "hidden_owner": lambda _, native: _hidden_owner(native),
}
"""Compat key -> its rule, after the owner gate."""


def render_compat(report: Report, native: NativeFeatures) -> CompatFeatures:
    """Return the compat features. Amounts are taken from the report, where they are exact."""
    by_rule: dict[str, Any] = {name: rule(report, native) for name, rule in TABLE.items()}
    return CompatFeatures(
        **by_rule,
        **dict.fromkeys(ALWAYS_NULL),
        token_name=native.name,
        token_symbol=native.symbol,
        total_supply=decimal_text(report.token.supply_raw, decimals=native.decimals),
        holders=_holders(report),
    )


def _holders(report: Report) -> tuple[CompatHolder, ...]:
    token = report.token
    return tuple(
        CompatHolder(
            address=checksum(row.owner),
            balance=decimal_text(row.amount_raw, decimals=token.decimals),
            percent=share_text(row.amount_raw, of_raw=token.supply_raw),
        )
        for row in holders_of(report.holders, "top")
    )
