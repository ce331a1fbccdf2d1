"""Protects the outcomes of tokens with the same findings: a hundred or nothing, each token once.

No share is rounded to none or all, and page, API and ledger have the same numbers.
"""

import pytest

from api.formats.stored_verdict import make_find_verdict
from config.settings import AnalysisSettings
from core.evm.primitives import Address
from core.report.finding_outcomes import (
    LEAST_KNOWN,
    FindingOutcomes,
    find_outcomes,
    findings_key,
    outcome_sentence,
)
from core.report.report import Report
from sql.engine.store import Store
from sql.reports.outcome_counts import FirstDayOutcome, put_outcomes
from tests.harness.api.sample_reports import LIQUID_USD, make_pool, make_report
from tests.harness.api.sign_in import PAGES
from tests.harness.api.world import CHAINS, World


def honeypot() -> Report:
    return make_report(pools=(make_pool(sell="refused", sell_tax=None),))


def key_of(report: Report) -> str:
    """Key of a report's findings, from the verdict that is stored with it."""
    verdict = make_find_verdict(CHAINS, AnalysisSettings(min_liquidity_usd=LIQUID_USD))(report)
    assert verdict is not None
    return findings_key(((one.key, one.status) for one in verdict.checks), verdict.reasons)


def record(store: Store, findings: str, *, trapped: int, sold: int, chain_id: int = 1) -> None:
    outcomes = [
        FirstDayOutcome(
            address=Address(f"0x{findings.encode().hex()[:20]:0<20}{number:020x}"),
            findings=findings,
            is_trapped=number < trapped,
            block_number=7,
        )
        for number in range(trapped + sold)
    ]
    with store.transaction(chain_id=chain_id) as tx:
        put_outcomes(tx, outcomes, chain_id=chain_id)


@pytest.mark.parametrize(
    ("trapped", "known", "share"),
    [
        (780, 812, "96 %"),
        (0, 100, "none"),
        (1, 1_000, "less than 1 %"),
        (999, 1_000, "more than 99 %"),
        (1_000, 1_000, "all"),
    ],
)
def test_a_share_is_never_rounded_to_none_or_all(trapped: int, known: int, share: str) -> None:
    sentence = outcome_sentence(FindingOutcomes(findings="a", known=known, trapped=trapped))
    assert sentence == (
        f"Of {known:,} tokens with these findings on this chain and a known outcome, "
        f"{share} trapped a buyer within a day."
    )


def test_findings_are_a_set_of_problems() -> None:
    statuses = [("tax", "warning"), ("blacklist", "danger"), ("proxy", "info"), ("mint", "unknown")]
    key = findings_key(statuses, ("sell_failed", "danger_flags", "tax"))
    assert key == "blacklist,sell_failed,tax"
    assert key == findings_key(reversed(statuses), ("sell_failed",))


def test_nothing_is_known_below_a_hundred_or_without_findings() -> None:
    few = FindingOutcomes(findings="a", known=LEAST_KNOWN - 1, trapped=90)
    many = FindingOutcomes(findings="", known=LEAST_KNOWN, trapped=1)
    assert find_outcomes({"a": few, "": many}, "a") is None
    assert find_outcomes({"a": few, "": many}, "") is None


async def test_page_api_and_ledger_have_the_outcomes_of_the_same_findings(
    world: World, world_store: Store
) -> None:
    report = honeypot()
    world.analysis.outcome = report
    record(world_store, key_of(report), trapped=96, sold=4)
    record(world_store, key_of(report), trapped=0, sold=LEAST_KNOWN, chain_id=56)
    client = world.client(store=world_store)
    headers = {"X-API-Key": world.new_key()}
    summary = (await client.get(f"/token/1/{report.token.address}/summary", headers=headers)).json()
    sentence = (
        "Of 100 tokens with these findings on this chain and a known outcome, "
        "96 % trapped a buyer within a day."
    )
    assert summary["outcomes"] == {"known": 100, "trapped": 96, "sentence": sentence}
    assert sentence in (await client.get(f"/t/ethereum/{report.token.address}", headers=PAGES)).text
    (group,) = (await client.get("/accuracy", headers=headers)).json()["outcomes"]
    assert (group["chain"], ",".join(group["findings"])) == ("ethereum", key_of(report))
    assert (group["known"], group["trapped"], group["trapped_share"]) == (100, 96, 0.96)
    # Bounds of 96 in 100, by the formula's own tables.
    assert group["share_low"] == pytest.approx(0.9016, abs=1e-3)
    assert group["share_high"] == pytest.approx(0.9843, abs=1e-3)
    ledger = (await client.get("/ledger", headers=PAGES)).text
    assert "96.00 %" in ledger


async def test_other_findings_have_no_outcomes(world: World, world_store: Store) -> None:
    report = honeypot()
    world.analysis.outcome = report
    record(world_store, key_of(report), trapped=95, sold=4)
    record(world_store, "another", trapped=96, sold=4)
    client = world.client(store=world_store)
    headers = {"X-API-Key": world.new_key()}
    summary = (await client.get(f"/token/1/{report.token.address}/summary", headers=headers)).json()
    assert summary["outcomes"] is None
