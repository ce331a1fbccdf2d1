"""The compat format: derived from native features by a table with one row per field.

Booleans become '1' and '0', numbers the shortest exact decimal string, null stays null. Every
change of scale or direction is a row of `TABLE`.
"""

from collections.abc import Callable
from typing import Any, Literal

import msgspec

from api.formats.amounts import decimal_text, number_text
from api.formats.native import holders_of
from api.formats.shapes import NativeFeatures, Shape, figure, settled
from core.primitives import checksum
from core.report import Pending, Report

Digit = Literal["0", "1"]
"""'1' is true, '0' is false."""


class CompatHolder(Shape, frozen=True, kw_only=True):
    """One of the largest holders."""

    address: str
    balance: str
    """Whole tokens."""
    percent: str
    """Share of total supply, 0 to 1."""


class CompatFeatures(Shape, frozen=True, kw_only=True):
    """The feature set of the compat format."""

    is_open_source: Digit | None
    is_proxy: Digit | None
    is_mintable: Digit | None
    owner_address: str | None
    selfdestruct: Digit | None
    external_call: Digit | None
    is_in_dex: Digit | None
    buy_tax: str | None
    """Percent."""
    sell_tax: str | None
    """Percent."""
    cannot_buy: Digit | None
    slippage_modifiable: Digit | None
    trading_cooldown: Digit | None
    creator_address: str | None
    creator_percent: str | None
    """Percent."""
    launchpad_token: Digit | None

    transfer_pausable: Digit | None
    is_blacklisted: Digit | None
    is_whitelisted: Digit | None
    is_anti_whale: Digit | None
    anti_whale_modifiable: Digit | None
    hidden_owner: Digit | None
    owner_change_balance: Digit | None

    token_name: str
    token_symbol: str
    total_supply: str
    """Whole tokens."""
    holders: tuple[CompatHolder, ...]

    cannot_sell_all: None
    can_take_back_ownership: None
    gas_abuse: None
    personal_slippage_modifiable: None
    lp_total_supply: None
    is_airdrop_scam: None
    trust_list: None
    holder_count: None
    owner_balance: None
    owner_percent: None
    is_honeypot: None


ALWAYS_NULL = (
    "cannot_sell_all",
    "can_take_back_ownership",
    "gas_abuse",
    "personal_slippage_modifiable",
    "lp_total_supply",
    "is_airdrop_scam",
    "trust_list",
    "holder_count",
    "owner_balance",
    "owner_percent",
    "is_honeypot",
)
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


CompatRule = Callable[[NativeFeatures], str | None]


def _same(name: str) -> CompatRule:
    return lambda native: digit(getattr(native, name))


def _any_of(*names: str) -> CompatRule:
    return lambda native: digit(either(*(getattr(native, name) for name in names)))


TABLE: dict[str, CompatRule] = {
    "is_open_source": _same("is_open_source"),
    "is_proxy": _same("is_proxy"),
    "is_mintable": _same("mint_or_burn_function"),
    "owner_address": lambda native: native.owner_address,
    "selfdestruct": _same("can_selfdestruct"),
    "external_call": _same("external_call"),
    "is_in_dex": _same("is_in_dex"),
    # In a plain transfer the buyer's loss is the receive tax, the seller's the send tax.
    "buy_tax": lambda n: _first_figure(*(pool.buy_tax for pool in n.dex), n.receive_tax),
    "sell_tax": lambda n: _first_figure(*(pool.sell_tax for pool in n.dex), n.send_tax),
    "cannot_buy": _same("cannot_buy"),
    "slippage_modifiable": _same("tax_can_be_modified"),
    "trading_cooldown": _same("trading_cooldown"),
    "creator_address": lambda native: native.creator_address,
    "creator_percent": lambda native: _text(native.creator_percent),
    "launchpad_token": _same("is_launchpad_token"),
    "transfer_pausable": _any_of("cannot_buy", "pause_status_can_be_modified"),
    "is_blacklisted": _same("has_blacklist_or_whitelist"),
    "is_whitelisted": _same("has_blacklist_or_whitelist"),
    "is_anti_whale": _any_of("has_trading_cap", "has_position_cap"),
    "anti_whale_modifiable": _any_of("trading_cap_can_be_modified", "position_cap_can_be_modified"),
    "hidden_owner": _hidden_owner,
    "owner_change_balance": _same("owner_can_change_balance"),
}
"""Compat field -> its rule over the native features, after the owner gate."""


def render_compat(report: Report, native: NativeFeatures) -> CompatFeatures:
    """Return the compat features. Amounts are taken from the report, where they are exact."""
    from_native: dict[str, Any] = {name: rule(native) for name, rule in TABLE.items()}
    return CompatFeatures(
        **from_native,
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
            percent=number_text(row.amount_raw / token.supply_raw if token.supply_raw else 0.0),
        )
        for row in holders_of(report.holders, "top")
    )
