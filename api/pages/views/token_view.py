"""The page of a token as values: one snapshot in, everything that the template prints out. Pure."""

from collections.abc import Iterator, Mapping
from typing import Final, Literal

import msgspec

from analysis.market.token_price import TokenPrice
from api.formats.amounts import number_text, whole_tokens
from api.formats.native.native import holders_of
from api.formats.prose.prose import day, percent, usd
from api.formats.prose.rendered_report import RenderedReport, render_for_people
from api.formats.prose.time_clauses import far_dates
from api.formats.summary.summary import Summary
from api.formats.times import duration_words, iso_utc
from api.formats.token_snapshot import TokenSnapshot
from api.pages.views.finding_view import FindingGroups, view_findings
from api.pages.views.head_view import TokenHead, head_of
from api.pages.views.market_view import MarketChart, TokenMarket, chart_of
from api.pages.views.pool_view import Chart, PoolLine, plain_sales, view_charts, view_pools
from api.pages.views.power_view import PowerTable, view_powers
from api.pages.views.tile_view import Tile, view_tiles
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address, checksum
from core.report.report import Report

_MONTH_S: Final = 30 * 86_400
_MOST_DATES: Final = 6


class DateShown(msgspec.Struct, frozen=True, kw_only=True):
    """One date on the line."""

    day: str
    text: str
    at: float
    """Place on the line, 0 to 1. Dates are at equal distances, as they may be decades apart."""
    is_ahead: bool


def view_dates(rendered: RenderedReport) -> tuple[DateShown, ...]:
    """Return the dates in order. Empty: the code has none that is known."""
    now_s = rendered.report.token.block_time_s
    deadlines = {each.estimated_unix_time for each in rendered.native.timebomb_deadlines}
    found = [(time_s, _words(time_s, now_s)) for time_s in {*deadlines, *far_dates(rendered)}]
    if not found:
        return ()
    found = sorted(found)[:_MOST_DATES]
    found += [(now_s, "this analysis"), (now_s + _MONTH_S, "end of the simulated month")]
    found.sort()
    return tuple(
        DateShown(
            day=day(time_s),
            text=text,
            at=(place + 0.5) / len(found),
            is_ahead=time_s > now_s,
        )
        for place, (time_s, text) in enumerate(found)
    )


def _words(time_s: int, now_s: int) -> str:
    return "a date in the code" if time_s > now_s else "a date in the code, passed"


HolderKind = Literal[
    "pool",
    "curve",
    "burn",
    "lock",
    "token",
    "owner",
    "creator",
    "contract",
    "wallet",
    "holder",
    "others",
]

_WORDS: Final[dict[HolderKind, str]] = {
    "pool": "pool",
    "curve": "bonding curve",
    "burn": "burned",
    "lock": "lock",
    "token": "the token's own contract",
    "owner": "owner",
    "creator": "creator",
    "contract": "contract",
    "wallet": "wallet",
    "holder": "wallet or contract",
    "others": "everybody else",
}

_JUST_NOW_S: Final = 2

_LEAST_SHOWN: Final = 0.001
"""Share of the supply below which the rest is not shown."""


class HolderPart(msgspec.Struct, frozen=True, kw_only=True):
    """One holder, or all that are not listed."""

    kind: HolderKind
    words: str
    address: str | None
    """None: the holders that are not listed."""
    percent: str
    start: float
    """Start of its part of the bar, 0 to 1 of the supply."""
    share: float
    """Its part of the bar, 0 to 1, cut at the end of the supply."""


class _Kinds(msgspec.Struct, frozen=True, kw_only=True):
    accounts: tuple[Address, ...] = ()
    contracts: tuple[Address, ...] = ()


def view_holders(rendered: RenderedReport) -> tuple[HolderPart, ...]:
    """Return the burn addresses and the largest holders, largest first, then the rest."""
    report = rendered.report
    supply_raw = report.token.supply_raw
    if not supply_raw:
        return ()
    rows = (*holders_of(report.holders, "burn"), *holders_of(report.holders, "top"))
    amounts = {row.owner: row.amount_raw for row in rows if row.amount_raw > 0}
    kinds = _known_kinds(rendered)
    parts, start = list[HolderPart](), 0.0
    for owner, amount in sorted(amounts.items(), key=lambda item: (-item[1], item[0])):
        kind = kinds.get(owner, "holder")
        part = _part(kind, owner, amount / supply_raw, start)
        if kind == "lock":
            part = msgspec.structs.replace(part, words=f"lock: {rendered.locker_names[owner]}")
        parts.append(part)
        start = min(1.0, start + amount / supply_raw)
    if parts and 1 - start > _LEAST_SHOWN:
        parts.append(_part("others", None, 1 - start, start))
    return tuple(parts)


def _part(kind: HolderKind, owner: Address | None, share: float, start: float) -> HolderPart:
    return HolderPart(
        kind=kind,
        words=_WORDS[kind],
        address=None if owner is None else checksum(owner),
        percent=percent(100 * share),
        start=start,
        share=max(0.0, min(share, 1 - start)),
    )


def _known_kinds(rendered: RenderedReport) -> Mapping[Address, HolderKind]:
    """Return the kinds of addresses; the last of several answers counts."""
    report = rendered.report
    found = rendered.proofs.body("holder_kinds", _Kinds) or _Kinds()
    kinds: dict[Address, HolderKind] = dict.fromkeys(found.accounts, "wallet")
    kinds |= dict.fromkeys(found.contracts, "contract")
    kinds |= _of_roles(report)
    for pool in report.pools or ():
        kinds[pool.pool] = "curve" if pool.is_launchpad and pool.buy is None else "pool"
    kinds |= dict.fromkeys(rendered.custodians, "pool")
    kinds |= dict.fromkeys(rendered.locker_names, "lock")
    return kinds | dict.fromkeys(BURN_ADDRESSES, "burn")


def _of_roles(report: Report) -> dict[Address, HolderKind]:
    token = report.token
    roles: dict[Address, HolderKind] = {token.address: "token"}
    if token.creator_address is not None:
        roles[token.creator_address] = "creator"
    if token.owner_address is not None:
        roles[token.owner_address] = "owner"
    return roles


class TokenFact(msgspec.Struct, frozen=True, kw_only=True):
    """One fact next to the findings."""

    label: str
    text: str
    address: str | None = None
    """An address to link and to copy; the text is shown next to it."""


class CheckCount(msgspec.Struct, frozen=True, kw_only=True):
    """Count of checks with one status."""

    tone: str
    number: int
    words: str


class TokenView(msgspec.Struct, frozen=True, kw_only=True):
    """Everything on the page of one token."""

    head: TokenHead
    tiles: tuple[Tile, ...]
    counts: tuple[CheckCount, ...]
    findings: FindingGroups
    powers: PowerTable | None
    """None: not known."""
    facts: tuple[TokenFact, ...]
    pools: tuple[PoolLine, ...]
    pools_beside: int
    """Pools that are not among those shown."""
    charts: tuple[Chart, ...]
    holders: tuple[HolderPart, ...]
    dates: tuple[DateShown, ...]
    block_number: int
    scanned_at: str
    """ISO 8601, UTC."""
    age_s: float
    """Age of the report when the page is built."""
    now_s: float
    """Time when the page is built, Unix seconds."""
    created_at: int | None
    """First time that the token was seen, Unix seconds. None: unknown."""
    holder_count: int | None
    """Accounts with a balance. None: unknown."""
    liquidity_usd: float | None
    """In all pools. None: unknown."""
    sales: tuple[str, ...]
    """Sentences on simulated sales whose charts would be flat."""
    market: MarketChart | None
    """Price and volume. None: no trades are stored."""
    is_pending: bool
    """True while a part of the analysis is still running."""


def view_token(
    snapshot: TokenSnapshot, *, now_s: float, market: TokenMarket | None = None
) -> TokenView:
    """Build the page of a token from one snapshot, so that all its parts agree. `market`: what the
    index has of its trades and holders."""
    rendered = render_for_people(snapshot)
    token = rendered.report.token
    findings = view_findings(rendered)
    pools = view_pools(rendered, snapshot.chain)
    return TokenView(
        head=head_of(rendered, snapshot.chain),
        tiles=view_tiles(rendered),
        counts=tuple(_counts(rendered.summary)),
        findings=findings,
        powers=view_powers(rendered),
        facts=tuple(_facts(rendered, snapshot, now_s)),
        pools=pools,
        pools_beside=len(rendered.native.dex) - len(pools),
        charts=view_charts(rendered, snapshot.chain),
        holders=view_holders(rendered),
        dates=view_dates(rendered),
        block_number=token.block_number,
        scanned_at=iso_utc(token.scanned_at_s),
        age_s=snapshot.age_s(now_s),
        now_s=now_s,
        created_at=rendered.report.track_record.first_seen_s
        if rendered.report.track_record
        else None,
        holder_count=market.holder_count if market else None,
        liquidity_usd=rendered.summary.total_liquidity_usd,
        sales=plain_sales(rendered),
        market=chart_of(market, rendered, snapshot.chain) if market else None,
        is_pending=not snapshot.is_final,
    )


def _counts(summary: Summary) -> Iterator[CheckCount]:
    """Yield the counts of the summary, which add up: those that passed, then the others."""
    numbers = {
        "danger": summary.danger_flag_count,
        "warning": summary.warning_flag_count,
        "unknown": summary.unknown_flag_count,
    }
    passed, total = summary.passed_flag_count, summary.total_flag_count
    yield CheckCount(tone="fine", number=passed, words=f"of {total} checks passed")
    for tone, number in numbers.items():
        if number:
            plural = "s" if number > 1 and tone != "unknown" else ""
            yield CheckCount(tone=tone, number=number, words=f"{tone}{plural}")
    known = summary.info_flag_count + summary.notice_flag_count
    if known:
        yield CheckCount(tone="fine", number=known, words="good to know")


def _facts(rendered: RenderedReport, snapshot: TokenSnapshot, now_s: float) -> Iterator[TokenFact]:
    yield from _market_facts(rendered)
    if snapshot.price is not None:
        yield from _quoted_prices(snapshot.price, now_s)
    yield from _supply_facts(rendered)
    yield from _people(rendered)
    if rendered.native.is_launchpad_token:
        yield TokenFact(label="Launched on", text=_platform(rendered))
    if rendered.report.token.implementation is not None:
        target = checksum(rendered.report.token.implementation)
        yield TokenFact(label="Runs the code of", text="", address=target)
    if rendered.summary.outcomes is not None:
        yield TokenFact(label="Tokens like it", text=rendered.summary.outcomes.sentence)
    yield TokenFact(label="Chain", text=snapshot.chain.display_name)


def _market_facts(rendered: RenderedReport) -> Iterator[TokenFact]:
    priced = [pool for pool in rendered.report.pools or () if pool.token_usd is not None]
    deepest = max(priced, key=lambda pool: pool.liquidity_usd, default=None)
    token = rendered.report.token
    if deepest is not None and deepest.token_usd is not None:
        yield TokenFact(label="Price", text=f"{_price(deepest.token_usd)} in its largest pool")
        circulating = whole_tokens(token.supply_raw - token.burned_raw, decimals=token.decimals)
        yield TokenFact(label="Market cap", text=usd(deepest.token_usd * circulating))
    total = rendered.summary.total_liquidity_usd
    yield TokenFact(label="Liquidity", text="unknown" if total is None else usd(total))


def _quoted_prices(price: TokenPrice, now_s: float) -> Iterator[TokenFact]:
    """Yield a price from another source than the report's pools, with its time."""
    if price.read_at_s is not None:
        age_s = now_s - price.read_at_s
        when = "just now" if age_s < _JUST_NOW_S else f"{duration_words(age_s)} ago"
        text = f"{_price(price.usd)}, {when}"
        yield TokenFact(label=f"Price by {price.service}", text=text)
    elif price.age_s is not None:
        text = f"{_price(price.usd)}, {duration_words(price.age_s)} ago"
        yield TokenFact(label="Price in its last trade", text=text)


def _price(amount: float) -> str:
    return f"${number_text(float(f'{amount:.4g}'))}"


def _supply_facts(rendered: RenderedReport) -> Iterator[TokenFact]:
    native = rendered.native
    yield TokenFact(
        label="Supply", text=f"{native.supply:,.4g}" if native.supply < 1 else _whole(native.supply)
    )
    if native.burned_supply > 0:
        share = percent(native.burned_supply_pct)
        yield TokenFact(label="Burned", text=f"{_whole(native.burned_supply)} ({share})")


def _whole(amount: float) -> str:
    for factor, word in ((1e15, ""), (1e12, " trillion"), (1e9, " billion"), (1e6, " million")):
        if amount >= factor and word:
            return f"{amount / factor:,.4g}{word}"
        if amount >= factor:
            return f"{amount:.3g}"
    return f"{amount:,.0f}"


def _people(rendered: RenderedReport) -> Iterator[TokenFact]:
    native = rendered.native
    if native.owner_address is not None and not native.ownership_renounced:
        yield TokenFact(label="Owner", text="", address=native.owner_address)
    else:
        words = {True: "none, or gave up control", False: "in the code only"}
        renounced = native.ownership_renounced
        yield TokenFact(label="Owner", text="unknown" if renounced is None else words[renounced])
    if native.creator_address is None:
        yield TokenFact(label="Creator", text="unknown")
        return
    balance = native.creator_percent
    text = "" if balance is None else f"holds {percent(balance)}"
    yield TokenFact(label="Creator", text=text, address=native.creator_address)


def _platform(rendered: RenderedReport) -> str:
    """Return the launch platform, and the balance of its curve while the token trades there."""
    name = rendered.native.launchpad_name or "a launch platform"
    report = rendered.report
    curve = next((pool for pool in report.pools or () if pool.is_launchpad), None)
    if curve is None or not report.token.supply_raw:
        return name
    balance = _balance_of(rendered, curve.pool)
    if balance is None:
        return f"{name}, still on its bonding curve"
    share = percent(100 * balance / report.token.supply_raw)
    return f"{name}; {share} of the supply is still on its bonding curve"


def _balance_of(rendered: RenderedReport, address: Address) -> int | None:
    rows = rendered.report.holders
    return next((row.amount_raw for row in rows if row.owner == address), None)
