"""Protects sentences on powers: they name the holder, and never call a live power dead."""

from typing import Any

import msgspec
import pytest
from hypothesis import given

from api.formats.prose.finding_clauses import wrong_clause
from api.formats.prose.headline import headline_of
from api.formats.prose.power_clauses import idle_clause, power_clause
from api.formats.prose.rendered_report import RenderedReport, render_for_people
from api.formats.summary.power_checks import POWER_FIELDS, hurtful_powers
from api.formats.token_snapshot import take_snapshot
from core.evm.primitives import Address
from core.report.powers import Power
from core.report.report import EvidenceRow, Report
from tests.harness.api.sample_reports import (
    LIQUID_USD,
    MINED_AT_S,
    OWNER,
    make_pool,
    make_power,
    make_record,
    make_report,
    make_static,
    reports,
)
from tests.harness.api.world import make_chain

PAUSE, SUPPLY, TAX = (
    "pause_status_can_be_modified",
    "mint_or_burn_function",
    "tax_can_be_modified",
)
OTHER = Address("0x" + "12" * 20)
SHOWN = "0x1212…1212"


def rendered(report: Report) -> RenderedReport:
    snapshot = take_snapshot(
        report, make_chain(1, "ethereum"), now_s=MINED_AT_S, liquid_above_usd=LIQUID_USD
    )
    return render_for_people(snapshot)


def sentence(check: str, *powers: Power, **changes: Any) -> str:
    report = make_report(
        static=make_static(**{check: True}), owner_address=OWNER, powers=powers, **changes
    )
    return wrong_clause(check, rendered(report))


def power(check: str, what: str, kind: str, **changes: Any) -> Power:
    return make_power(check=check, what=what, **{"holder_kind": kind, "holder": None, **changes})


@pytest.mark.parametrize(
    ("check", "given", "words"),
    [
        (
            SUPPLY,
            power(SUPPLY, "mint", "multisig", holder=OTHER, detail="3 of 5"),
            "a 3 of 5 multisig can create tokens",
        ),
        (
            PAUSE,
            power(PAUSE, "stop", "wallet", holder=OTHER),
            f"one wallet, {SHOWN}, can pause all transfers",
        ),
        (
            PAUSE,
            power(PAUSE, "stop", "wallet", holder=OWNER),
            "the owner can pause all transfers",
        ),
        (
            PAUSE,
            power(PAUSE, "stop", "wallet", holder=OTHER, detail="a Safe that 1 of 2 owners sign"),
            f"a Safe that 1 of 2 owners sign, {SHOWN}, can pause all transfers",
        ),
        (
            PAUSE,
            power(PAUSE, "stop", "anybody"),
            "anyone can call a function that pauses all transfers",
        ),
        (
            PAUSE,
            power(PAUSE, "stop", "nobody"),
            "nobody can pause all transfers any more",
        ),
        (SUPPLY, power(SUPPLY, "burn", "holders"), "holders can burn their own"),
        (SUPPLY, power(SUPPLY, "mint", "holders"), "the supply can be changed"),
        (
            SUPPLY,
            power(SUPPLY, "burn", "contract", holder=OTHER),
            f"a contract, {SHOWN}, can destroy other people's tokens",
        ),
        (
            TAX,
            power(TAX, "tax", "unknown", holder=OTHER, bound="low", detail="at most 5 %"),
            f"{SHOWN} can change the tax (at most 5 %)",
        ),
        (TAX, power(TAX, "tax", "unknown"), "someone can change the tax"),
        (
            "has_owner_functionality",
            power(PAUSE, "stop", "nobody"),
            "some addresses have special rights",
        ),
    ],
)
def test_a_power_is_told_with_its_holder(check: str, given: Power, words: str) -> None:
    assert sentence(check, given) == words


def test_the_worst_live_power_is_told() -> None:
    dead = power(SUPPLY, "mint", "nobody")
    own = power(SUPPLY, "burn", "holders")
    live = power(SUPPLY, "mint", "wallet", holder=OTHER)
    others = power(SUPPLY, "burn", "wallet", holder=OTHER)
    assert sentence(SUPPLY, dead, own) == (
        "nobody can create tokens any more and holders can burn their own"
    )
    assert sentence(SUPPLY, own, live) == f"one wallet, {SHOWN}, can create tokens"
    assert (
        sentence(SUPPLY, dead, others) == f"one wallet, {SHOWN}, can destroy other people's tokens"
    )
    bound = power(SUPPLY, "mint", "multisig", holder=OWNER, detail="3 of 5")
    assert sentence(SUPPLY, bound, others) == (
        f"one wallet, {SHOWN}, can destroy other people's tokens"
    )
    second = power(SUPPLY, "mint", "wallet", holder=Address("0x" + "34" * 20))
    assert sentence(SUPPLY, live, second) == "two wallets can create tokens"
    assert sentence(SUPPLY, live, live) == f"one wallet, {SHOWN}, can create tokens"
    by_list, by_anyone = power(SUPPLY, "mint", "list"), power(SUPPLY, "mint", "anybody")
    assert sentence(SUPPLY, by_list, live) == "several accounts can create tokens"
    assert sentence(SUPPLY, by_anyone, live) == "anyone can call a function that creates tokens"


HIDDEN = "hidden_owner_controls"


def test_one_holders_powers_are_one_sentence() -> None:
    powers = [
        power(check, what, "wallet", holder=OTHER)
        for check, what in ((HIDDEN, "condition"), (SUPPLY, "mint"))
    ]
    report = make_report(
        static=make_static(**{SUPPLY: True}),
        hidden_owner_controls=True,
        ownership_renounced=False,
        powers=tuple(powers),
    )
    assert headline_of(rendered(report)) == (
        f"You can buy and sell it, but one wallet, {SHOWN}, can create tokens and change the rules "
        "of trades"
    )


def test_a_danger_comes_before_a_warning() -> None:
    """A wallet that kept control over sales is one, once ownership was renounced."""
    kept = power(HIDDEN, "condition", "wallet", holder=OTHER)
    mint = power(SUPPLY, "mint", "anybody")
    report = make_report(
        static=make_static(**{SUPPLY: True}),
        hidden_owner_controls=True,
        ownership_renounced=True,
        powers=(mint, kept),
    )
    assert headline_of(rendered(report)) == (
        f"One wallet, {SHOWN}, can change the rules of trades. Anyone can call a function that "
        "creates tokens"
    )


def test_what_only_trades_change_has_no_holder() -> None:
    given = power(TAX, "tax", "trades")
    assert sentence(TAX, given, ownership_renounced=True) == (
        "only trades can change the tax, as tested"
    )


def test_a_rule_that_stands_is_not_called_dead() -> None:
    """Nobody can change the wait, and every address still has to wait."""
    check = "trading_cooldown"
    words = "you must wait between two transfers"
    assert sentence(check, power(check, "stop", "nobody")) == words


def proxied(*powers: Power) -> str:
    report = make_report(
        static=make_static(is_proxy=True), owner_address=OWNER, powers=powers, implementation=OTHER
    )
    row = EvidenceRow(key="is_proxy", body='{"slots": ["0x01"]}')
    return wrong_clause("is_proxy", rendered(msgspec.structs.replace(report, evidence=(row,))))


def test_a_proxy_names_the_holder_of_its_code() -> None:
    delayed = power("is_proxy", "replace", "timelock", holder=OTHER, detail="48 hours")
    assert proxied(delayed) == "a timelock can replace its code after 48 hours"
    unknown = power("is_proxy", "replace", "unknown")
    assert proxied(unknown) == "its code can be replaced at any time"
    assert proxied(power("is_proxy", "replace", "nobody")) == (
        "nobody can replace its code any more"
    )


def test_a_bounded_tax_is_told_with_its_bound_in_the_headline() -> None:
    low = power(TAX, "tax", "unknown", holder=OWNER, bound="low", detail="at most 10 %")
    report = make_report(
        static=make_static(**{TAX: True}),
        owner_address=OWNER,
        powers=(low,),
        pools=(make_pool(sell_tax=3.0),),
    )
    assert headline_of(rendered(report)) == (
        "You pay 3 % tax on sales. The owner can change the tax (at most 10 %). "
        "No other problems found"
    )


def test_a_report_without_powers_reads_as_before() -> None:
    report = make_report(static=make_static(**{PAUSE: True}), owner_address=OWNER)
    assert wrong_clause(PAUSE, rendered(report)) == "someone can pause all transfers"


def test_an_issuers_contract_is_told_as_one() -> None:
    given = power(PAUSE, "stop", "contract", holder=OTHER)
    words = f"a contract, {SHOWN}, can pause all transfers"
    assert sentence(PAUSE, given, track_record=make_record()) == words


@given(reports())
def test_what_can_hurt_is_never_told_as_idle(report: Report) -> None:
    shown = rendered(report)
    hurtful = {each.check for each in hurtful_powers(report) if each.bound != "tight"}
    for check, fields in POWER_FIELDS.items():
        if hurtful & set(fields):
            assert idle_clause(shown, check) is None
            assert "any more" not in wrong_clause(check, shown)
        clause = power_clause(shown, check)
        assert clause is None or clause.isprintable()
