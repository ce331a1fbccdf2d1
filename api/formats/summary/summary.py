"""The summary format: counted flags and one verdict derived from a report."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final, Literal

import msgspec

from api.formats.native.native import has_more_than
from api.formats.native.shapes import NativeFeatures, Pool, figure, settled
from api.formats.prose.check_words import CHECK_WORDS
from api.formats.shape_building import Shape
from api.formats.summary.flags import (
    CATALOGUE,
    DISGUISED_CODE,
    HIGH_TAX,
    HIGHLIGHTS,
    LIQUIDITY_CAN_LEAVE,
    STATUS_ORDER,
    CheckInput,
    Flag,
    Status,
    SummaryCheck,
    catalogue,
    resolve,
    transfer_restrictions,
)
from api.formats.summary.power_checks import (
    OF_CODE,
    PowerShown,
    hurtful_powers,
    is_established,
    show_power,
)
from api.formats.summary.record_shown import (
    OutcomesShown,
    TrackRecordShown,
    show_outcomes,
    show_record,
)
from core.evm.primitives import Address
from core.report.fields.field import Pending
from core.report.finding_outcomes import KnownOutcomes, find_outcomes, findings_key
from core.report.report import Report

Verdict = Literal["danger", "warning", "safe", "not_tested"]


def _reasons_of(severity: Literal["danger", "warning"]) -> dict[str, Verdict]:
    """Return the checks of a severity that are reasons, with the verdict."""
    return {c.key: severity for c in CATALOGUE if c.is_reason and c.severity == severity}


VERDICTS: dict[str, Verdict] = {
    "sell_failed": "danger",
    "buy_failed": "danger",
    "danger_flags": "danger",
    **_reasons_of("danger"),
    "no_liquidity": "warning",
    "warning_flags": "warning",
    "live_powers": "warning",
    **_reasons_of("warning"),
    "unanswered_danger_checks": "warning",
    "no_trade_simulated": "not_tested",
}
"""Reason -> verdict, most severe reason first. The first reason that holds decides."""


_OF_RECORD: Final = frozenset({"allowance_bypass", "funds_can_be_drained", LIQUIDITY_CAN_LEAVE.key})
"""Checks without an answer where a proof is missing, for which a track record stands in."""


class DominantPool(Shape, frozen=True, kw_only=True):
    """The deepest pool."""

    type: str
    """Kind of the pool, as `liquidity_type` of the native format."""
    address: str
    """Address of the pool, as `pair` of the native format."""
    liquidity: float | None
    """USD of the reserves, both sides. None: what the pool holds is not known."""
    can_buy: bool | None
    """A simulated buy passed. None: no buy was settled."""
    can_sell: bool | None
    """A simulated sale passed. None: no sale was settled."""
    buy_tax: float | None
    """Tax on a buy, in percent. None: there is no figure."""
    sell_tax: float | None
    """Tax on a sale, in percent. None: there is no figure."""


class Summary(Shape, frozen=True, kw_only=True):
    """The summary response. A refusal has a null verdict and every check unknown."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55; for invalid_address what was sent."""
    error: str
    """Why the token was refused, as prose that can change. Empty on success."""
    error_code: str | None
    """The same as a stable code, to branch on. None: success."""
    verdict: Verdict | None
    """The verdict, decided by the first of `verdict_reasons`. safe covers only what was tested.
    None: no analysis was produced."""
    verdict_reasons: tuple[str, ...]
    """Every cause that holds, most severe first. Empty: the verdict is safe or null. Keys are added
    over time."""
    active_flag_count: int
    """Checks that found something: danger, warning and info."""
    evaluated_flag_count: int
    """Checks with an answer: active, passed and notice. The denominator of a share."""
    total_flag_count: int
    """Checks in the catalogue: evaluated and unknown."""
    passed_flag_count: int
    """Checks that ran and found nothing."""
    notice_flag_count: int
    """Checks that are neither a pass nor a finding."""
    unknown_flag_count: int
    """Checks with no answer; never a pass."""
    danger_flag_count: int
    """Active checks of the severity danger."""
    warning_flag_count: int
    """Active checks of the severity warning."""
    info_flag_count: int
    """Active checks of the severity info."""
    flags: tuple[Flag, ...]
    """Every check, ordered danger, warning, info, notice, safe, unknown."""
    highlights: tuple[Flag, ...]
    """Three checks to show first: access, transfers, liquidity."""
    access_restrictions: bool | None
    """Addresses can be kept from trading. None: not known."""
    transfer_restrictions: bool | None
    """The code can cap a trade or a position. None: not known."""
    funds_can_be_drained: bool | None
    """An account other than the holder can move tokens out of a wallet. None: not known."""
    has_enough_liquidity: bool | None
    """The deepest pool holds more than the deployment's minimum, 100 USD unless set. None: pools
    were not resolved."""
    total_liquidity_usd: float | None
    """USD of all pools. None: no pool was found, or what one holds is not known."""
    can_buy: bool | None
    """A buy passed in at least one simulated pool; false: it failed in all. None: no buy was
    settled."""
    can_sell: bool | None
    """A sale passed in at least one simulated pool; false: it failed in all. None: no sale was
    settled."""
    detected_pool_count: int
    """Pools found."""
    dominant_pool: DominantPool | None
    """The pool with the most liquidity. None: no pool was found."""
    powers: tuple[PowerShown, ...]
    """Powers over the token, and the accounts that hold them. Empty: none was found, or the report
    is of an earlier release."""
    track_record: TrackRecordShown | None
    """Real trades of the token. None: this deployment's index does not have it."""
    outcomes: OutcomesShown | None
    """Outcomes of other tokens with the same findings. None: nothing was found, or fewer than 100
    outcomes are known."""


def render_summary(
    report: Report,
    native: NativeFeatures,
    *,
    chain: str,
    address: str,
    liquid_above_usd: float,
    has_owner_simulation: bool = False,
    has_liquidity_check: bool = True,
    custodians: frozenset[Address] = frozenset(),
) -> Summary:
    """Build the summary of one report. `address`: the token's, checksummed; `custodians`: as in
    CheckInput; the two booleans: checks that the deployment's settings turn on."""
    inputs = CheckInput(
        report=report,
        native=native,
        has_enough_liquidity=_has_enough_liquidity(report, liquid_above_usd),
        custodians=custodians,
    )
    checks = catalogue(
        report, has_owner_simulation=has_owner_simulation, has_liquidity_check=has_liquidity_check
    )
    flags = _in_order(resolve(check, inputs) for check in checks)
    can_buy = can_trade(pool.buy_success for pool in native.dex)
    can_sell = can_trade(pool.sell_success for pool in native.dex)
    reasons = _reasons(
        flags,
        has_live_powers=any(power.what != "withdraw" for power in hurtful_powers(report)),
        can_buy=can_buy,
        can_sell=can_sell,
        has_enough_liquidity=inputs.has_enough_liquidity,
        unanswered=_unanswered_dangers(checks, flags, report, can_buy=can_buy, can_sell=can_sell),
    )
    return Summary(
        chain=chain,
        contract_address=address,
        error="",
        error_code=None,
        verdict=VERDICTS[reasons[0]] if reasons else "safe",
        verdict_reasons=reasons,
        **_counts(Counter(flag.status for flag in flags)),
        flags=flags,
        highlights=tuple(resolve(check, inputs) for check in HIGHLIGHTS),
        access_restrictions=report.static.has_blacklist_or_whitelist,
        transfer_restrictions=transfer_restrictions(report.static),
        funds_can_be_drained=native.funds_can_be_drained,
        has_enough_liquidity=inputs.has_enough_liquidity,
        total_liquidity_usd=_total_liquidity(native.dex),
        can_buy=can_buy,
        can_sell=can_sell,
        detected_pool_count=len(native.dex),
        dominant_pool=_dominant(native.dex[0]) if native.dex else None,
        powers=tuple(show_power(power, report) for power in report.powers),
        track_record=show_record(report.track_record),
        outcomes=None,
    )


def with_outcomes(summary: Summary, known: KnownOutcomes) -> Summary:
    """Add the outcomes of tokens with the same findings, if enough are known."""
    found = find_outcomes(known, findings_of(summary))
    return msgspec.structs.replace(summary, outcomes=show_outcomes(found))


def findings_of(summary: Summary) -> str:
    """Return the key of the findings, by which outcomes are counted."""
    statuses = ((flag.key, flag.status) for flag in summary.flags)
    return findings_key(statuses, summary.verdict_reasons)


def refuse_summary(
    *,
    chain: str,
    address: str,
    error: str,
    error_code: str,
    has_owner_simulation: bool = False,
    has_liquidity_check: bool = True,
) -> Summary:
    """Return the summary of a refused token: the same keys, all unknown."""
    checks = catalogue(
        None,
        has_owner_simulation=has_owner_simulation,
        has_liquidity_check=has_liquidity_check,
    )
    flags = tuple(_unanswered(check.key) for check in checks)
    return Summary(
        chain=chain,
        contract_address=address,
        error=error,
        error_code=error_code,
        verdict=None,
        verdict_reasons=(),
        **_counts(Counter[Status](flag.status for flag in flags)),
        flags=flags,
        highlights=tuple(_unanswered(check.key) for check in HIGHLIGHTS),
        access_restrictions=None,
        transfer_restrictions=None,
        funds_can_be_drained=None,
        has_enough_liquidity=None,
        total_liquidity_usd=None,
        can_buy=None,
        can_sell=None,
        detected_pool_count=0,
        dominant_pool=None,
        powers=(),
        track_record=None,
        outcomes=None,
    )


def _unanswered(key: str) -> Flag:
    label = f"Unknown: {CHECK_WORDS[key].unknown}"
    return Flag(key=key, label=label, status="unknown", active=False, value=None)


def _in_order(flags: Iterable[Flag]) -> tuple[Flag, ...]:
    """Return the flags by status; within one in catalogue order."""
    return tuple(sorted(flags, key=lambda flag: STATUS_ORDER.index(flag.status)))


def _counts(by_status: Counter[Status]) -> dict[str, int]:
    active = by_status["danger"] + by_status["warning"] + by_status["info"]
    evaluated = active + by_status["safe"] + by_status["notice"]
    return {
        "active_flag_count": active,
        "evaluated_flag_count": evaluated,
        "total_flag_count": evaluated + by_status["unknown"],
        "passed_flag_count": by_status["safe"],
        "notice_flag_count": by_status["notice"],
        "unknown_flag_count": by_status["unknown"],
        "danger_flag_count": by_status["danger"],
        "warning_flag_count": by_status["warning"],
        "info_flag_count": by_status["info"],
    }


def _has_enough_liquidity(report: Report, liquid_above_usd: float) -> bool | None:
    """True if the deepest pool's liquidity is above the minimum. None: not known."""
    return has_more_than(liquid_above_usd, report.pools, lambda pool: pool.liquidity_usd)


def _total_liquidity(pools: Sequence[Pool]) -> float | None:
    """Return the USD of all pools with known liquidity. None: there is none."""
    known = [pool.liquidity for pool in pools if pool.liquidity is not None]
    return sum(known) if known else None


def can_trade(results: Iterable[bool | Pending | None]) -> bool | None:
    """True if a trade passed in one pool, False if it failed in every settled one, else None."""
    answers = [answer for answer in map(settled, results) if answer is not None]
    return any(answers) if answers else None


def _unanswered_dangers(
    checks: Sequence[SummaryCheck],
    flags: Iterable[Flag],
    report: Report,
    *,
    can_buy: bool | None,
    can_sell: bool | None,
) -> bool:
    """True if a check that could have been a danger has no answer; a reason that is a warning
    counts as one, as what it did not settle might be. Where no trade was simulated, checks that
    need one are left out, as that is already a reason; so is liquidity that was not examined."""
    reasons = {check.key for check in checks if check.is_reason}
    dangers = {check.key for check in checks if check.severity == "danger"} | reasons
    if can_sell is True and is_established(report):
        dangers -= {*OF_CODE, *_OF_RECORD}
    if can_buy is None and can_sell is None:
        dangers -= {HIGH_TAX.key, *reasons}
    if report.scan.liquidity_risk is None:
        dangers.discard(LIQUIDITY_CAN_LEAVE.key)
    if report.scan.hidden_creation is None:
        dangers.discard(DISGUISED_CODE.key)
    return any(flag.value is None and flag.key in dangers for flag in flags)


def _reasons(
    flags: tuple[Flag, ...],
    *,
    has_live_powers: bool,
    can_buy: bool | None,
    can_sell: bool | None,
    has_enough_liquidity: bool | None,
    unanswered: bool,
) -> tuple[str, ...]:
    statuses = {flag.status for flag in flags}
    active = {flag.key for flag in flags if flag.status in ("danger", "warning")}
    holds = {
        "sell_failed": can_sell is False,
        "buy_failed": can_buy is False,
        "danger_flags": "danger" in statuses,
        "no_liquidity": has_enough_liquidity is False,
        "warning_flags": "warning" in statuses,
        "live_powers": has_live_powers,
        "unanswered_danger_checks": unanswered,
        "no_trade_simulated": can_buy is None and can_sell is None,
    }
    return tuple(reason for reason in VERDICTS if holds.get(reason, reason in active))


def _dominant(pool: Pool) -> DominantPool:
    return DominantPool(
        type=pool.liquidity_type,
        address=pool.pair,
        liquidity=pool.liquidity,
        can_buy=settled(pool.buy_success),
        can_sell=settled(pool.sell_success),
        buy_tax=figure(pool.buy_tax),
        sell_tax=figure(pool.sell_tax),
    )
