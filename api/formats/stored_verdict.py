"""The summary of a report as it is stored for SQL, by the code that answers the API."""

import hashlib
from collections.abc import Iterable
from importlib.metadata import version

from api.formats.prose.headline import headline_of
from api.formats.prose.rendered_report import render_for_people
from api.formats.summary.flags import CATALOGUE
from api.formats.token_snapshot import take_snapshot
from config.facts.chain import Chain
from config.settings import AnalysisSettings
from core.report.report import Report
from core.report.verdict import FindVerdict, ReportVerdict, VerdictCheck

_DIGEST_CHARS = 8


def make_find_verdict(chains: Iterable[Chain], settings: AnalysisSettings) -> FindVerdict:
    """Build the function that summarises reports, each at the moment it was made."""
    by_id = {chain.id: chain for chain in chains}
    policy = policy_of(settings)

    def find_verdict(report: Report) -> ReportVerdict | None:
        chain = by_id.get(report.token.chain_id)
        return None if chain is None else _compute(report, chain, settings, policy)

    return find_verdict


def policy_of(settings: AnalysisSettings) -> str:
    """Return the release, a digest of its checks, and the settings that verdicts depend on."""
    checks = "\n".join(f"{each.key} {each.severity} {each.label}" for each in CATALOGUE)
    digest = hashlib.sha256(checks.encode()).hexdigest()[:_DIGEST_CHARS]
    owner = "on" if settings.owner_simulation else "off"
    return (
        f"assay {version('assay')}, checks {digest}, "
        f"min_liquidity_usd {settings.min_liquidity_usd:g}, owner_simulation {owner}, "
        f"liquidity_holders {settings.liquidity_holders}"
    )


def _compute(
    report: Report,
    chain: Chain,
    settings: AnalysisSettings,
    policy: str,
) -> ReportVerdict:
    snapshot = take_snapshot(
        report,
        chain,
        now_s=float(report.token.scanned_at_s),
        liquid_above_usd=settings.min_liquidity_usd,
        has_owner_simulation=settings.owner_simulation,
        has_liquidity_check=settings.finds_liquidity_holders,
    )
    rendered = render_for_people(snapshot)
    summary = rendered.summary
    flags = {flag.key: flag for flag in summary.flags}
    deepest = summary.dominant_pool
    return ReportVerdict(
        policy=policy,
        verdict=str(summary.verdict),
        reasons=summary.verdict_reasons,
        has_enough_liquidity=summary.has_enough_liquidity,
        liquidity_usd=summary.total_liquidity_usd,
        can_buy=summary.can_buy,
        can_sell=summary.can_sell,
        pools=summary.detected_pool_count,
        buy_tax=None if deepest is None else deepest.buy_tax,
        sell_tax=None if deepest is None else deepest.sell_tax,
        checks=tuple(
            VerdictCheck(
                key=check.key,
                label=check.label,
                severity=check.severity,
                status=flags[check.key].status,
                value=flags[check.key].value,
            )
            for check in CATALOGUE
            if check.key in flags
        ),
        headline=headline_of(rendered),
        deadlines=tuple(
            f"{deadline.clock}:{deadline.value}"
            for deadline in rendered.native.timebomb_deadlines
            if not deadline.passed
        ),
    )
