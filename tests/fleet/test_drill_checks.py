"""Protects the comparisons of fleet drills: wrong states are reported as wrong."""

import random

import msgspec
import pytest

from core.evm.primitives import Address
from tests.harness.fleet.answer_check import CalmAnswer, wrong_in_native, wrong_in_summary
from tests.harness.fleet.call_tally import CallTally, TalliedCall
from tests.harness.fleet.fleet_callers import GRACE_S, Excuse
from tests.harness.fleet.fleet_faults import FAULTS, Fault, draw_fault
from tests.harness.fleet.traded_chain import KnownToken

TOKEN = KnownToken(address=Address("0x" + "1a" * 20), can_sell=False, buy_tax=7.0, sell_tax=None)
CALM = CalmAnswer(verdict="danger", unknown=2)
RIGHT: dict[str, object] = {
    "contract_address": "0x" + "1A" * 20,
    "error_code": None,
    "verdict": "danger",
    "unknown_flag_count": 2,
    "can_buy": True,
    "can_sell": False,
    "dominant_pool": {"buy_tax": 7.01, "sell_tax": None},
}


def summary(**changes: object) -> list[str]:
    return wrong_in_summary(msgspec.json.encode(RIGHT | changes), TOKEN, CALM)


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({}, []),
        ({"can_sell": None, "verdict": "not_tested"}, []),
        ({"unknown_flag_count": 3, "verdict": "warning"}, []),
        ({"can_sell": True}, ["can_sell True"]),
        ({"verdict": "safe"}, ["verdict safe, not of ['danger']"]),
        ({"verdict": "warning"}, ["verdict warning, not of ['danger']"]),
        ({"can_sell": None, "verdict": "safe"}, ["verdict safe, not of"]),
        ({"dominant_pool": {"buy_tax": 0.0, "sell_tax": None}}, ["buy_tax 0.0, not 7.0"]),
        ({"dominant_pool": {"buy_tax": 7.0, "sell_tax": 3.0}}, ["sell_tax 3.0, not None"]),
        ({"contract_address": "0x" + "2b" * 20}, ["it is about 0x2b"]),
    ],
)
def test_a_summary_is_right_or_says_less(changes: dict[str, object], wrong: list[str]) -> None:
    found = summary(**changes)
    assert len(found) == len(wrong)
    assert all(one.startswith(start) for one, start in zip(found, wrong, strict=True))


def test_what_is_no_answer_is_wrong() -> None:
    assert wrong_in_summary(b"{}", TOKEN, CALM)
    assert wrong_in_native(b'{"features": null}', TOKEN)


@pytest.mark.parametrize(
    ("sell_success", "count"), [(False, 0), (None, 0), ("pending", 0), (True, 1)]
)
def test_a_native_answer_is_right_or_says_less(sell_success: object, count: int) -> None:
    pool = {"buy_success": True, "buy_tax": 7, "sell_success": sell_success, "sell_tax": None}
    body = {
        "contract_address": TOKEN.address,
        "error_code": None,
        "features": {"dex": [pool]},
    }
    assert len(wrong_in_native(msgspec.json.encode(body), TOKEN)) == count


def tally(calls: int, *, before: int = 0, limit: int | None = None) -> CallTally:
    made = CallTally(1, "key", before=before, limit=limit)
    for at in range(calls):
        made.answered(TalliedCall(float(at), at + 0.1, "api 1"))
    return made


def test_calls_are_lost_doubled_or_beyond() -> None:
    assert not tally(5).differences(5)
    assert "1 calls lost" in tally(5).differences(4)[0]
    assert "1 calls doubled" in tally(5).differences(6)[0]
    assert not tally(8, before=92, limit=100).differences(100)
    assert tally(9, before=92, limit=100).differences(101)
    spent = tally(7, before=92, limit=100)
    assert not spent.differences(99)
    spent.is_spent = True
    assert "refused for good" in spent.differences(99)[0]


def test_a_kill_excuses_the_last_second_of_that_process_alone() -> None:
    killed = tally(5)
    killed.forgive(4.2, "api 1")
    assert not killed.differences(4)
    assert killed.differences(3)
    other = tally(5)
    other.forgive(4.2, "api 2")
    assert other.differences(4)
    limited = tally(5, limit=100)
    limited.forgive(4.2, "api 1")
    assert limited.differences(4)


def test_an_untold_call_may_be_counted_or_not() -> None:
    unsure = tally(5)
    unsure.maybe_counted()
    assert not unsure.differences(5)
    assert not unsure.differences(6)
    assert unsure.differences(7)


def test_calls_within_a_window_are_those_surely_inside() -> None:
    assert tally(20).most_within(3.0) == 3


def test_an_excuse_is_for_its_time_place_and_status() -> None:
    excuse = Excuse(began_s=10, over_s=20, statuses=frozenset({503}), members=frozenset({"api 1"}))
    assert excuse.covers(5, 11, "api 1", 503)
    assert excuse.covers(20 + GRACE_S - 1, 99, "api 1", 503)
    assert not excuse.covers(5, 9, "api 1", 503)
    assert not excuse.covers(20 + GRACE_S + 1, 99, "api 1", 503)
    assert not excuse.covers(11, 12, "api 2", 503)
    assert not excuse.covers(11, 12, "api 1", 500)
    assert not excuse.covers(11, 12, "api 1", None)


def test_a_seed_draws_the_same_faults_and_all_kinds_of_them() -> None:
    def drawn(seed: int) -> list[Fault]:
        dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
        return [
            draw_fault(dice, ["a", "b"], FAULTS, longest_s=5, with_minutes=True) for _ in range(300)
        ]

    assert drawn(1) == drawn(1) != drawn(2)
    assert {fault.kind for fault in drawn(1)} == set(FAULTS)
