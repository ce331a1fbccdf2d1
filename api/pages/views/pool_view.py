"""Pools of a token as rows, and the charts of their reserves and of losses in trades."""

from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from api.formats.native.shapes import Pool
from api.formats.prose.proofs import CurveSeen, LaterSeen, SoldSeen, TradeSeen
from api.formats.prose.prose import percent, usd
from api.formats.prose.rendered_report import RenderedReport
from api.formats.prose.trade_clauses import refusal_reason
from config.facts.chain import Chain
from core.evm.primitives import ZERO_ADDRESS, Address, checksum
from core.report.report import PoolResultRow

MOST_ROWS: Final = 20
"""Pools shown, the deepest ones."""

_BARS: Final = 8
_BY_POOL: Final = "Liquidity by pool"

Tone = Literal["fine", "warning", "danger", "unknown"]

_WARNING_TAX_PCT: Final = 10
_DANGER_TAX_PCT: Final = 50


class Side(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a purchase or a sale in one pool."""

    tone: Tone
    text: str


class PoolLine(msgspec.Struct, frozen=True, kw_only=True):
    """One pool."""

    dex: str
    kind: str
    address: str
    pool_id: str | None
    quote: str
    """Symbol of the other side, or its address."""
    liquidity: str
    buy: Side
    sell: Side


class Bar(msgspec.Struct, frozen=True, kw_only=True):
    """One bar of a chart."""

    label: str
    text: str
    share: float
    """Length, 0 to 1."""
    tone: Tone


class Chart(msgspec.Struct, frozen=True, kw_only=True):
    """Bars under one title. Every number is in a label, so that nothing depends on the picture."""

    title: str
    bars: tuple[Bar, ...]


def view_pools(rendered: RenderedReport, chain: Chain) -> tuple[PoolLine, ...]:
    """Return the deepest pools."""
    rows = {(row.pool_id or row.pool).lower(): row for row in rendered.report.pools or ()}
    return tuple(
        _line(pool, rows[(pool.pool_id or pool.pair).lower()], chain)
        for pool in rendered.native.dex[:MOST_ROWS]
    )


def _line(pool: Pool, row: PoolResultRow, chain: Chain) -> PoolLine:
    return PoolLine(
        dex=row.dex,
        kind=pool.liquidity_type,
        address=pool.pair,
        pool_id=pool.pool_id,
        quote=quote_symbol(row.quote, chain),
        liquidity="unknown" if pool.liquidity is None else usd(pool.liquidity),
        buy=_side(row.buy, pool.buy_tax),
        sell=_side(row.sell, pool.sell_tax),
    )


def quote_symbol(quote: Address, chain: Chain) -> str:
    """Return the symbol of a pool's other side, or its address."""
    if quote == ZERO_ADDRESS:
        return chain.native_symbol
    symbols = {anchor.address: anchor.symbol for anchor in chain.anchors}
    return symbols.get(quote) or f"{checksum(quote)[:6]}…{quote[-4:]}"


def _side(outcome: str | None, tax: float | Literal["pending"] | None) -> Side:
    match outcome:
        case "passed" if isinstance(tax, float | int):
            text = f"works, {percent(tax)} tax" if tax else "works, no tax"
            return Side(tone=_tone(tax), text=text)
        case "passed":
            return Side(tone="warning", text="works, tax unknown")
        case "refused":
            return Side(tone="danger", text="fails")
        case "pending":
            return Side(tone="unknown", text="being tested")
    return Side(tone="unknown", text="not tested")


def _tone(tax: float) -> Tone:
    if tax >= _DANGER_TAX_PCT:
        return "danger"
    return "warning" if tax >= _WARNING_TAX_PCT else "fine"


# --- charts ------------------------------------------------------------------------------------


def view_charts(rendered: RenderedReport, chain: Chain) -> tuple[Chart, ...]:
    """Return the charts that the report has figures for."""
    made = (
        _of_curve(rendered, chain),
        _by_pool(rendered, chain),
        _by_size(rendered, chain),
        _by_time(rendered),
    )
    return tuple(chart for chart in made if chart is not None and _says_more(chart))


def _says_more(chart: Chart) -> bool:
    """True if the bars differ, or the only one is no pool, which the table has."""
    if len(chart.bars) == 1:
        return chart.title != _BY_POOL
    return len({(bar.text, bar.tone) for bar in chart.bars}) > 1


def plain_sales(rendered: RenderedReport) -> tuple[str, ...]:
    """Return what flat charts would show: one sentence where all sales are alike."""
    sizes: list[TradeSeen] = []
    moments: list[TradeSeen] = []
    for key in rendered.proofs.keys_under("sell")[:1]:
        sold = rendered.proofs.outcome(key, SoldSeen)
        sizes = [size.outcome for size in sold.sizes] if sold else []
    for key in rendered.proofs.keys_under("sell_later")[:1]:
        later = rendered.proofs.outcome(key, LaterSeen)
        moments = [moment.sale for moment in later.moments] if later else []
    month = "up to 30 days after buying"
    same = _same([*sizes, *moments], f"at every tested size and time {month}", rendered)
    if sizes and moments and same:
        return (same,)
    found = (
        _same(sizes, "at every tested size", rendered),
        _same(moments, f"at every tested time {month}", rendered),
    )
    return tuple(sentence for sentence in found if sentence)


def _same(sales: Sequence[TradeSeen], where: str, rendered: RenderedReport) -> str:
    """Return the sentence on sales that all came out alike. Empty: they differ."""
    outcomes = {(sale.is_refused, None if sale.is_refused else sale.tax) for sale in sales}
    if len(sales) <= 1 or len(outcomes) != 1:
        return ""
    ((is_refused, tax),) = outcomes
    if is_refused:
        reason = refusal_reason(rendered)
        return f"Sells fail {where}{f': {reason}' if reason else ''}"
    if tax is None:
        return ""
    return f"Sells work {where}, {f'with {percent(tax)} tax' if tax else 'without tax'}"


def _of_curve(rendered: RenderedReport, chain: Chain) -> Chart | None:
    """Build the chart of the launch curve's progress towards a pool."""
    curve = rendered.proofs.body("launch_curve", CurveSeen)
    if curve is None or curve.progress is None:
        return None
    label, target = "of the tokens that it sells before there is a pool", curve.quote_target_raw
    decimals = decimals_by_quote(chain).get(curve.quote)
    if target is not None and decimals is not None:
        paid = f"{curve.quote_paid_raw / 10**decimals:.4g}"
        label = f"{paid} of {target / 10**decimals:.4g} {quote_symbol(curve.quote, chain)} paid in"
    elif target is not None:
        label = "of what is to be paid in before there is a pool"
    text = percent(100 * curve.progress)
    bar = Bar(label=label, text=text, share=curve.progress, tone="fine")
    return Chart(title="Progress of the bonding curve", bars=(bar,))


def _by_pool(rendered: RenderedReport, chain: Chain) -> Chart | None:
    rows = sorted(rendered.report.pools or (), key=lambda row: -row.liquidity_usd)[:_BARS]
    valued = [row for row in rows if row.is_valued and row.liquidity_usd > 0]
    if not valued:
        return None
    most = valued[0].liquidity_usd
    bars = tuple(
        Bar(
            label=f"{row.dex}, {quote_symbol(row.quote, chain)}",
            text=usd(row.liquidity_usd),
            share=row.liquidity_usd / most,
            tone="fine",
        )
        for row in valued
    )
    return Chart(title=_BY_POOL, bars=bars)


def _by_size(rendered: RenderedReport, chain: Chain) -> Chart | None:
    """Build the chart of a sale's loss by the size of the purchase, in the first traded pool."""
    for key in rendered.proofs.keys_under("sell"):
        sold = rendered.proofs.outcome(key, SoldSeen)
        if sold is None or not sold.sizes:
            continue
        row = _row_of(rendered, key.partition(":")[2])
        bars = [
            _outcome_bar(_size_words(at, size.amount_in, row, chain), size.outcome)
            for at, size in enumerate(sold.sizes, 1)
        ]
        return Chart(title="Loss when selling, by size", bars=tuple(bars))
    return None


def _row_of(rendered: RenderedReport, key: str) -> PoolResultRow | None:
    rows = rendered.report.pools or ()
    return next((row for row in rows if key in (row.pool, row.pool_id)), None)


def _size_words(at: int, raw: int, row: PoolResultRow | None, chain: Chain) -> str:
    """Return the size of a purchase in words where the quote token is an anchor; else its rank, the
    largest first."""
    decimals = decimals_by_quote(chain)
    if row is None or row.quote not in decimals:
        return f"purchase {at}, largest first"
    return f"bought for {raw / 10 ** decimals[row.quote]:.3g} {quote_symbol(row.quote, chain)}"


def decimals_by_quote(chain: Chain) -> dict[Address, int]:
    """Return the decimals of the coins that pools are quoted in."""
    return {anchor.address: anchor.decimals for anchor in chain.anchors} | {ZERO_ADDRESS: 18}


def _by_time(rendered: RenderedReport) -> Chart | None:
    for key in rendered.proofs.keys_under("sell_later"):
        later = rendered.proofs.outcome(key, LaterSeen)
        if later is not None and later.moments:
            bars = tuple(_outcome_bar(_moment(each.when), each.sale) for each in later.moments)
            return Chart(title="Loss when selling, by time after buying", bars=bars)
    return None


def _moment(when: str) -> str:
    return when.replace("+", "after ")


def _outcome_bar(label: str, sale: TradeSeen) -> Bar:
    if sale.is_refused:
        return Bar(label=label, text="fails", share=1.0, tone="danger")
    if sale.tax is None:
        return Bar(label=label, text="unknown", share=0.0, tone="unknown")
    return Bar(label=label, text=percent(sale.tax), share=sale.tax / 100, tone=_tone(sale.tax))
