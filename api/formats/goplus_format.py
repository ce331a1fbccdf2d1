"""The GoPlus format: one token in the shape of the GoPlus Security API, for its clients.

Differences from the compat format: a share or a tax is a fraction (1 is 100 %), a key with an
unknown value is absent, addresses are in lower case, and no flag depends on ownership: flags
describe the code. A tax is that of a trade, never of a plain transfer, and is 1 where every
simulated trade failed. Every such rule is a row of `TABLE`; flags are named by their fields. If a
token's holders can be robbed, no key that covers it looks clean. Source: GoPlus Security API,
"Token Security API" response details, and its Python SDK 0.2.6.
"""

from collections.abc import Callable, Sequence
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, UnsetType

from api.formats.amounts import decimal_text, number_text, share_text
from api.formats.native.compat import Digit, digit, either
from api.formats.native.field_table import FIELDS, finding_of, keys_named, named_by
from api.formats.native.native import holders_of
from api.formats.native.shapes import NativeFeatures, figure, settled
from api.formats.prose.check_words import CHECK_WORDS
from api.formats.shape_building import Shape, complete
from api.formats.summary.power_checks import severity_by_power
from api.formats.summary.summary import can_trade
from config.burn import BURN_ADDRESSES
from config.facts.pool_family import FAMILIES
from core.evm.coin_pairs import is_pair_id
from core.evm.primitives import Address
from core.report.report import HolderRow, PoolResultRow, Report

_HUNDRED_PCT = 100

_ALL_IS_LOST = "1"
"""Tax of a trade that fails."""

_LIQUIDITY_TYPES = {family.kind: family.goplus_type or family.kind for family in FAMILIES}
"""Our liquidity types -> those of GoPlus; others are kept."""


class GoPlusDex(Shape, frozen=True, kw_only=True):
    """One pool."""

    liquidity_type: str
    """Kind of the pool in GoPlus's names: UniV2, UniV3, UniV4; others as ours."""
    name: str
    """Name of the exchange, without spaces."""
    liquidity: str | UnsetType = UNSET
    """USD of the reserves. Absent: not known."""
    pair: str
    """Address of the pair; for UniV4 the id of the pool, of 32 bytes."""
    pool_manager: str | UnsetType = UNSET
    """Contract that holds all pools of UniV4. Absent for the others."""


class GoPlusHolder(Shape, frozen=True, kw_only=True):
    """One of the largest holders."""

    address: str
    """Address of the holder, in lower case."""
    tag: str
    """Name of the holder: an exchange, or Burn Address. Empty: no name is known."""
    is_contract: Literal[0, 1] | UnsetType = UNSET
    """1: it is one of the token's pools. Absent: not known."""
    balance: str
    """Balance in whole tokens, exact."""
    percent: str
    """Share of total supply, 0 to 1."""
    is_locked: Literal[0, 1]
    """1: it is a burn address. 0 is no proof that the tokens can be sold, as no lockers are known
    here."""


_ORDER = (
    *("token_name", "token_symbol", "total_supply", "is_open_source", "is_proxy", "is_mintable"),
    *("owner_address", "owner_change_balance", "hidden_owner", "selfdestruct", "external_call"),
    *("is_in_dex", "buy_tax", "sell_tax", "cannot_buy", "is_honeypot", "slippage_modifiable"),
    *("transfer_pausable", "is_blacklisted", "is_whitelisted", "is_anti_whale"),
    *("anti_whale_modifiable", "trading_cooldown", "creator_address", "creator_balance"),
    *("creator_percent", "dex", "holders", "other_potential_risks"),
)
"""Keys in the order in which they are sent; a new one comes last."""


@complete(keys_named("goplus", Digit | UnsetType, unknown="absent"), order=_ORDER, default=UNSET)
class GoPlusToken(Shape, frozen=True, kw_only=True):
    """Findings on one token; unknown ones are absent.

    Fields add the keys that they name for this format.
    """

    token_name: Annotated[str, Meta(description="Name of the token.")]
    token_symbol: Annotated[str, Meta(description="Symbol of the token.")]
    total_supply: Annotated[str, Meta(description="Total supply in whole tokens, exact.")]
    owner_address: Annotated[
        str | UnsetType, Meta(description="Empty: there is no owner, or none can be found.")
    ] = UNSET
    hidden_owner: Annotated[
        Digit | UnsetType,
        Meta(
            description="Named addresses can move tokens without approval, or hold powers that no "
            "getter names. Absent: not known, or any account can."
        ),
    ] = UNSET
    owner_change_balance: Annotated[
        Digit | UnsetType,
        Meta(
            description="The owner can change any holder's balance, or any account can move tokens "
            "without approval. Absent: not assessed."
        ),
    ] = UNSET
    buy_tax: Annotated[
        str | UnsetType, Meta(description="Fraction; '1' also where it cannot be bought.")
    ] = UNSET
    sell_tax: Annotated[
        str | UnsetType, Meta(description="Fraction; '1' also where it cannot be sold.")
    ] = UNSET
    is_honeypot: Annotated[
        Digit | UnsetType,
        Meta(
            description="It can be bought and not sold, or not always; or another account can take "
            "holders' tokens, which the original counts as malicious. '0' needs a passing sale."
        ),
    ] = UNSET
    creator_address: Annotated[
        str | UnsetType, Meta(description="The wallet that created the token.")
    ] = UNSET
    creator_balance: Annotated[
        str | UnsetType, Meta(description="Balance of the creator in whole tokens, exact.")
    ] = UNSET
    creator_percent: Annotated[
        str | UnsetType, Meta(description="Share of total supply, 0 to 1.")
    ] = UNSET
    dex: Annotated[tuple[GoPlusDex, ...] | UnsetType, Meta(description="Deepest first.")] = UNSET
    holders: Annotated[
        tuple[GoPlusHolder, ...] | UnsetType, Meta(description="At most ten, largest first.")
    ] = UNSET
    other_potential_risks: Annotated[
        str | UnsetType,
        Meta(description="Dangers found for which the original has no key, in words."),
    ] = UNSET


class _Known(msgspec.Struct, frozen=True, kw_only=True):
    """Input of the rules."""

    report: Report
    native: NativeFeatures


_SALES_THAT_FAIL = (
    *("sell_blocked_later", "sell_blocked_after_others", "sell_depends_on_size"),
    "sell_depends_on_conditions",
)
"""Findings on sales that pass only under conditions."""

GoplusRule = Callable[[_Known], str | None]


def _any_of(keys: Sequence[str]) -> GoplusRule:
    return lambda known: digit(
        either(*(finding_of(key, known.report, known.native) for key in keys))
    )


def _owner(known: _Known) -> str | None:
    token = known.report.token
    if token.owner_address is not None:
        return token.owner_address
    return "" if known.native.ownership_renounced else None


def _hidden_owner(known: _Known) -> Digit | None:
    """Return None for a bypass open to anyone, as it has no owner; else the bypass flag."""
    native, controls = known.native, known.report.scan.hidden_owner_controls
    if controls or (native.allowance_bypass and native.privileged_spenders):
        return "1"
    if _can_be_robbed(native):
        return None
    return digit(either(native.allowance_bypass, controls))


def _owner_change_balance(known: _Known) -> Digit | None:
    """Return '1' also if any account can move tokens without approval, which includes the owner."""
    native = known.native
    if native.allowance_bypass and not native.privileged_spenders:
        return "1"
    found = digit(native.owner_can_change_balance)
    return None if found == "0" and _can_be_robbed(native) else found


def _can_be_robbed(native: NativeFeatures) -> bool:
    """True if a simulated account took a holder's tokens."""
    return native.funds_can_be_drained is True or native.allowance_bypass is True


def _danger_labels(known: _Known) -> str | None:
    """Return the labels of danger checks that failed and have no key in the original. None: there
    are none."""
    found = []
    for key, field in FIELDS.items():
        check = field.check
        if check is None or (check.severity == "danger" and field.goplus):
            continue
        severity, note = severity_by_power(check.key or key, check.severity, known.report)
        value = settled(finding_of(key, known.report, known.native))
        is_found = value is not None and (value is not check.is_negated) is check.finding
        if severity == "danger" and is_found:
            label = CHECK_WORDS[check.key or key].label
            found.append(f"{label} ({note})" if note else label)
    return "; ".join(found) or None


def _honeypot(known: _Known) -> Digit | None:
    """Return '1' for tokens that can be bought but not safely kept or sold.

    '1': no sale passed; no sale was simulated and transfers fail; a sale that passes today fails
    later or for others; or another account can take a holder's tokens. '0' needs a passing sale, a
    passing transfer, and checks of custody that found nothing. None: untested; a token that nobody
    can buy may only not have opened yet.
    """
    native, scan = known.native, known.report.scan
    fails_sometimes = [getattr(scan, key) for key in _SALES_THAT_FAIL]
    if _can_be_robbed(native) or True in fails_sometimes:
        return "1"
    can_buy = can_trade(pool.buy_success for pool in native.dex)
    can_sell = can_trade(pool.sell_success for pool in native.dex)
    if can_sell is None and native.transfer_success is False:
        can_sell = False
    if can_sell is False:
        return None if can_buy is False else "1"
    robbers = (native.funds_can_be_drained, native.allowance_bypass)
    is_clean = native.transfer_success is True and all(found is False for found in robbers)
    is_clean = is_clean and scan.sell_tax_rises is not True
    return "0" if can_sell and is_clean else None


def _tax(success: str, tax: str) -> GoplusRule:
    """Return a rule for the tax in the deepest pool with a figure; '1' where every trade failed."""

    def read(known: _Known) -> str | None:
        pools = known.native.dex
        if can_trade(getattr(pool, success) for pool in pools) is False:
            return _ALL_IS_LOST
        pct = next(
            (p for p in (figure(getattr(pool, tax)) for pool in pools) if p is not None), None
        )
        return None if pct is None else number_text(pct / _HUNDRED_PCT)

    return read


def _creator_balance(known: _Known) -> str | None:
    token = known.report.token
    if token.creator_balance_raw is None:
        return None
    return decimal_text(token.creator_balance_raw, decimals=token.decimals)


def _creator_share(known: _Known) -> str | None:
    token = known.report.token
    balance_raw = token.creator_balance_raw
    return None if balance_raw is None else share_text(balance_raw, of_raw=token.supply_raw)


TABLE: dict[str, GoplusRule] = {
    **{name: _any_of(keys) for name, keys in named_by("goplus").items()},
    "token_name": lambda known: known.native.name,
    "token_symbol": lambda known: known.native.symbol,
    "total_supply": lambda known: decimal_text(
        known.report.token.supply_raw, decimals=known.report.token.decimals
    ),
    "owner_address": _owner,
    "hidden_owner": _hidden_owner,
    "owner_change_balance": _owner_change_balance,
    "buy_tax": _tax("buy_success", "buy_tax"),
    "sell_tax": _tax("sell_success", "sell_tax"),
    "is_honeypot": _honeypot,
    "creator_address": lambda known: known.report.token.creator_address,
    "creator_balance": _creator_balance,
    "creator_percent": _creator_share,
    "other_potential_risks": _danger_labels,
}
"""GoPlus key -> its value. None: not known, so the key is absent."""


def render_goplus(report: Report, native: NativeFeatures) -> GoPlusToken:
    """Return the token in the GoPlus shape. `native` are the current native features of the
    report."""
    known = _Known(report=report, native=native)
    values: dict[str, Any] = {key: rule(known) for key, rule in TABLE.items()}
    if report.pools is not None:
        values["dex"] = tuple(map(_dex, report.pools))
    holders = holders_of(report.holders, "top")
    if holders:
        values["holders"] = tuple(_holder(row, report) for row in holders)
    return GoPlusToken(**{key: value for key, value in values.items() if value is not None})


def _dex(pool: PoolResultRow) -> GoPlusDex:
    entry = pool.pool_id
    if entry is not None and is_pair_id(pool.pool, entry):
        entry = None
    return GoPlusDex(
        liquidity_type=_LIQUIDITY_TYPES.get(pool.kind, pool.kind),
        name=_name(pool.dex),
        liquidity=number_text(pool.liquidity_usd) if pool.is_valued else UNSET,
        pair=entry or pool.pool,
        pool_manager=pool.pool if entry else UNSET,
    )


def _holder(row: HolderRow, report: Report) -> GoPlusHolder:
    token = report.token
    pools: dict[Address, str] = {pool.pool: pool.dex for pool in report.pools or ()}
    is_burnt = row.owner in BURN_ADDRESSES
    tag = "Burn Address" if is_burnt else _name(pools.get(row.owner, ""))
    return GoPlusHolder(
        address=row.owner,
        tag=tag,
        is_contract=1 if row.owner in pools else UNSET,
        balance=decimal_text(row.amount_raw, decimals=token.decimals),
        percent=share_text(row.amount_raw, of_raw=token.supply_raw),
        is_locked=1 if is_burnt else 0,
    )


def _name(dex: str) -> str:
    """Return the exchange name in GoPlus style: UniswapV2."""
    return dex.replace(" ", "")
