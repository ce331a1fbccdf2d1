"""Comparison of the service's answers on traps with real outcomes."""

import asyncio
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from api.formats.native.native import render_native
from api.formats.native.shapes import NativeFeatures, settled
from api.formats.summary.summary import Summary, render_summary
from api.formats.token_snapshot import clock_after
from assay.demo.layout import World
from core.errors import TokenRefusedError
from core.report.fields.static_findings import StaticFindings
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.placed_traps import Placed
from tests.harness.redteam.real_outcomes import RUINOUS_PCT, Truth, live

TAX_POINTS = 5.0
"""Points by which a reported tax may lie below the real one."""
_DANGER_NAMED = (
    "sell_blocked_later",
    "sell_tax_rises",
    "sell_depends_on_size",
    "sell_blocked_after_others",
    "sell_depends_on_conditions",
)
"""Reasons that name the effect, whatever its cause."""


_UNANSWERED = "unanswered_danger_checks"
_ANSWERED = (
    "allowance_bypass",
    "funds_can_be_drained",
    "transfer_failed",
    "view_function_modifies_state",
    "high_tax",
)
"""Danger checks that a plain token gets an answer to."""


class Said(msgspec.Struct, frozen=True, kw_only=True):
    """Compared parts of an answer."""

    verdict: str | None
    reasons: tuple[str, ...]
    active: tuple[str, ...]
    """Flags that fired."""
    open: tuple[str, ...]
    """Flags without an answer."""
    buy: bool | None
    buy_tax: float | None
    sell: bool | None
    sell_tax: float | None
    drained: bool | None
    bypassed: bool | None
    mints: bool | None


_NOTHING = Said(
    verdict=None,
    reasons=(),
    active=(),
    open=(),
    buy=None,
    buy_tax=None,
    sell=None,
    sell_tax=None,
    drained=None,
    bypassed=None,
    mints=None,
)
"""Answer on a token that the gate refuses; the reason is the refusal's code."""


class Finding(msgspec.Struct, frozen=True, kw_only=True):
    """One trap, its outcome and the answer."""

    label: str
    axis: str
    is_honest: bool
    hurts: bool
    truth: str
    said: Said
    wrong: tuple[str, ...]
    """Errors of the answer: the keys of `WRONG`."""
    is_named: bool
    """`danger`, or the true cause among flags and reasons."""

    @property
    def is_silent(self) -> bool:
        """Nothing about this very token keeps the answer from `safe`: only a check that no token
        gets an answer to."""
        said = self.said
        general = (
            said.verdict is not None
            and not {*said.open} & {*_ANSWERED}
            and {*said.reasons} <= {_UNANSWERED}
        )
        return general and not self.is_honest and self.hurts


WRONG = {
    "false_safe": "a trap is called safe",
    "false_sell": "sell_success is true where every sale of today was refused",
    "false_sell_tax": "the tax of today's sale is said too low",
    "false_buy": "buy_success is true where every buyer of today got nothing",
    "false_drain": "funds_can_be_drained is false beside a real theft",
    "false_bypass": "allowance_bypass is false beside a real theft by transferFrom",
    "false_mint": "neither mint_or_burn_function nor unproved_code beside tokens really made",
    "honest_danger": "an honest double is called danger",
    "honest_refused": "an honest double is refused by the gate",
    "honest_trade": "an honest double's trade is said to fail",
    "honest_theft": "an honest double is called a thief",
}


async def ask(context: ChainContext, placed: Placed) -> Said:
    """The settled answer of one analysis, as the service renders it."""
    address = placed.token.address
    try:
        *_, report = [report async for report in scan(context, address)]
    except TokenRefusedError as refused:
        return msgspec.structs.replace(_NOTHING, reasons=(str(refused.code),))
    liquid = context.settings.min_liquidity_usd
    clock = clock_after(report, context.chain, now_s=context.now_s())
    native = render_native(report, clock=clock, liquid_above_usd=liquid)
    summary = render_summary(
        report, native, chain=context.chain.slug, address=address, liquid_above_usd=liquid
    )
    return _said(placed, native, report.static, summary)


def _said(placed: Placed, native: NativeFeatures, static: StaticFindings, summary: Summary) -> Said:
    mine = placed.token.pool
    keys = {str(key).lower() for key in (mine.address, mine.pool_id) if key}
    pools = [
        pool
        for pool in native.dex
        if {str(pool.pair).lower(), str(pool.pool_id or "").lower()} & keys
    ]
    pool = pools[0] if pools else None
    return Said(
        verdict=summary.verdict,
        reasons=summary.verdict_reasons,
        active=tuple(flag.key for flag in summary.flags if flag.active),
        open=tuple(flag.key for flag in summary.flags if flag.status == "unknown"),
        buy=settled(pool.buy_success) if pool else None,
        buy_tax=_number(pool.buy_tax) if pool else None,
        sell=settled(pool.sell_success) if pool else None,
        sell_tax=_number(pool.sell_tax) if pool else None,
        drained=native.funds_can_be_drained,
        bypassed=native.allowance_bypass,
        mints=static.mint_or_burn_function,
    )


def _number(value: object) -> float | None:
    return float(value) if isinstance(value, int | float) else None


def compare(placed: Placed, truth: Truth, said: Said) -> Finding:
    """Return the errors of the answer."""
    trap = placed.trap
    check = _wrong_of_honest if trap.is_honest else _wrong_of_trap
    known = {*said.active, *said.reasons}
    return Finding(
        label=trap.label,
        axis=trap.axis,
        is_honest=trap.is_honest,
        hurts=truth.hurts,
        truth=truth.words,
        said=said,
        wrong=tuple(check(placed, truth, said)),
        is_named=said.verdict == "danger" or bool(known & {*trap.cause, *_DANGER_NAMED}),
    )


def _wrong_of_honest(_: Placed, truth: Truth, said: Said) -> list[str]:
    if truth.hurts:
        return []
    checks = {
        "honest_danger": said.verdict == "danger",
        "honest_refused": said.verdict is None,
        "honest_trade": said.sell is False or said.buy is False,
        "honest_theft": said.drained is True or said.bypassed is True,
    }
    return [key for key, holds in checks.items() if holds]


def _wrong_of_trap(placed: Placed, truth: Truth, said: Said) -> list[str]:
    sales, buys = truth.first_sales, truth.first_buys
    least = min((deal.tax for deal in sales), default=100.0)
    is_refused = bool(sales) and not any(deal.went for deal in sales)
    is_taken = all(deal.tax >= RUINOUS_PCT for deal in buys)
    is_low = said.sell_tax is not None and said.sell_tax + TAX_POINTS < least
    checks = {
        "false_safe": truth.hurts and said.verdict == "safe",
        "false_sell": is_refused and said.sell is True and said.verdict != "danger",
        "false_sell_tax": bool(sales)
        and not is_refused
        and said.sell is True
        and is_low
        and said.verdict != "danger",
        "false_buy": is_taken
        and said.buy is True
        and said.verdict != "danger"
        and (said.buy_tax or 0) + TAX_POINTS < RUINOUS_PCT,
        "false_drain": truth.is_stolen and said.drained is False,
        "false_bypass": truth.is_stolen and placed.trap.bypasses and said.bypassed is False,
        "false_mint": truth.is_minted
        and said.mints is False
        and "unproved_code" not in said.active,
    }
    return [key for key, holds in checks.items() if holds]


async def judge_all(
    context: ChainContext, people: People, world: World, placed: Sequence[Placed]
) -> list[Finding]:
    """Analyse every trap as it stands, then trade it."""
    findings = []
    for one in placed:
        said = await ask(context, one)
        truth = await asyncio.to_thread(live, people, world, one)
        findings.append(compare(one, truth, said))
    return findings


def render(findings: Sequence[Finding]) -> str:
    """Counts by class, then everything wrong, one line each."""
    scams = [one for one in findings if not one.is_honest and one.hurts]
    honest = [one for one in findings if one.is_honest and not one.hurts]
    by_axis: dict[str, Counter[str]] = defaultdict(Counter)
    for one in findings:
        row = by_axis[one.axis]
        row["honest" if one.is_honest else "traps" if one.hurts else "harmless"] += 1
        if not one.is_honest and one.hurts:
            row[one.said.verdict or "none"] += 1
            row["named"] += one.is_named
        row["wrong"] += bool(one.wrong)
        row["silent"] += one.is_silent
    names = (
        *("traps", "safe", "silent", "warning", "danger", "none", "named"),
        *("harmless", "honest", "wrong"),
    )
    lines = [f"{'class':20}" + "".join(f"{name:>11}" for name in names)]
    for axis, row in sorted(by_axis.items()):
        lines.append(f"{axis:20}" + "".join(f"{row[name]:11}" for name in names))
    total = Counter(key for one in findings for key in one.wrong)
    named = sum(one.is_named for one in scams)
    lines += [
        f"{len(scams)} traps that hurt, {named} named ({100 * named // max(1, len(scams))} %), "
        f"{sum(one.is_silent for one in scams)} with nothing but a check that no token gets an "
        "answer to",
        f"{len(honest)} honest doubles: {_counted(one.said.verdict for one in honest)}; "
        f"{_counted(reason for one in honest for reason in one.said.reasons)}",
        *(f"{total[key]:5} {key}: {words}" for key, words in WRONG.items() if total[key]),
    ]
    for one in sorted(findings, key=lambda one: (one.wrong, one.axis)):
        if one.wrong:
            said = one.said
            lines.append(
                f"{','.join(one.wrong)} | {one.label} | real: {one.truth} | said: {said.verdict} "
                f"{list(said.reasons)} buy {said.buy} {said.buy_tax} sell {said.sell} "
                f"{said.sell_tax} drain {said.drained} bypass {said.bypassed}; "
                f"flags {list(said.active)}"
            )
    lines += [
        f"silent | {one.label} | real: {one.truth}"
        for one in findings
        if one.is_silent and not one.wrong
    ]
    return "\n".join(lines)


def _counted(words: Iterable[str | None]) -> str:
    return ", ".join(f"{count} {word}" for word, count in Counter(words).most_common())
