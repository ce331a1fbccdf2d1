"""Protects disputes in the store: limits, one attempt at a time, and one end."""

import msgspec
import pytest

from core.evm.primitives import Address
from sql.engine.store import Store
from sql.reports.dispute_tables import (
    DISPUTE_SPAN_S,
    DisputeLimits,
    DueDispute,
    NewDispute,
    SettledDispute,
    delete_old_disputes,
    find_dispute_wait,
    list_newest_disputes,
    list_token_disputes,
    read_dispute_pack,
    settle_dispute,
    take_due_dispute,
    write_dispute,
)

NOW_S = 1_000_000
LIMITS = DisputeLimits(of_token=1, of_key=2, of_chain=4)
TOKEN = Address("0x" + "ab" * 20)
SETTLED = SettledDispute(
    settled_at_s=NOW_S + 5,
    verdict_after="warning",
    reasons_after=("high_tax", "warning_flags"),
    block_after=9,
    signer=TOKEN,
    pack=b"a pack",
)


def dispute(number: int = 0, **changes: object) -> NewDispute:
    plain = NewDispute(
        chain_id=1,
        address=Address(f"0x{number:040x}") if number else TOKEN,
        key_id=None,
        filed_at_s=NOW_S,
        sender="a team",
        statement="two\nlines",
        verdict_before="danger",
        reasons_before=("sell_failed", "danger_flags"),
        block_before=7,
    )
    return msgspec.structs.replace(plain, **changes)


def file(store: Store, filed: NewDispute) -> int | None:
    """File a dispute; return the wait instead where there is one."""
    with store.transaction() as tx:
        wait_s = find_dispute_wait(tx, filed, LIMITS)
        if wait_s is None:
            write_dispute(tx, filed)
        return wait_s


def take(
    store: Store, *, now_s: int, until_s: int, chain_ids: tuple[int, ...] = (1, 56)
) -> DueDispute | None:
    return take_due_dispute(store, chain_ids=chain_ids, now_s=now_s, until_s=until_s)


DAY = DISPUTE_SPAN_S


@pytest.mark.parametrize(
    ("before", "then", "wait_s"),
    [
        ([], dispute(), None),
        ([dispute()], dispute(filed_at_s=NOW_S + 60), DAY - 60),
        ([dispute()], dispute(filed_at_s=NOW_S + DAY), None),
        ([dispute()], dispute(chain_id=56), None),
        ([dispute(1, key_id=5), dispute(2, key_id=5)], dispute(3, key_id=5, chain_id=56), DAY),
        ([dispute(1, key_id=5), dispute(2, key_id=5)], dispute(3, key_id=6), None),
        ([dispute(1, key_id=5), dispute(2, key_id=5)], dispute(3), None),
        ([dispute(number) for number in (1, 2, 3, 4)], dispute(5), DAY),
        ([dispute(number) for number in (1, 2, 3, 4)], dispute(5, chain_id=56), None),
    ],
    ids=[
        *("first", "same token", "same token a day later", "same token elsewhere"),
        *("full key", "another key", "no key", "full chain", "another chain"),
    ],
)
def test_a_token_a_key_and_a_chain_have_a_limit(
    store: Store, before: list[NewDispute], then: NewDispute, wait_s: int | None
) -> None:
    assert [file(store, one) for one in before] == [None] * len(before)
    assert file(store, then) == wait_s


def test_a_due_dispute_has_one_attempt_at_a_time_until_it_ends(store: Store) -> None:
    file(store, dispute())
    assert take(store, now_s=NOW_S - 1, until_s=NOW_S) is None
    due = take(store, now_s=NOW_S, until_s=NOW_S + 60)
    assert due is not None
    assert (due.address, due.attempts) == (TOKEN, 0)
    assert take(store, now_s=NOW_S + 59, until_s=NOW_S + 120) is None
    again = take(store, now_s=NOW_S + 60, until_s=NOW_S + 120)
    assert again is not None
    assert (again.dispute_id, again.attempts) == (due.dispute_id, 1)
    (waiting,) = list_token_disputes(store, chain_id=1, address=TOKEN, at_most=9)
    assert (waiting.is_settled, waiting.verdict_after, waiting.reasons_after) == (False, None, None)

    settle_dispute(store, due, SETTLED)
    settle_dispute(store, again, SettledDispute(settled_at_s=NOW_S + 9, failure="late"))
    assert take(store, now_s=NOW_S + DAY, until_s=NOW_S + 2 * DAY) is None
    (ended,) = list_newest_disputes(store, chain_id=1, at_most=9)
    assert (ended.is_settled, ended.verdict_after, ended.failure) == (True, "warning", None)
    assert ended.reasons_after == ("high_tax", "warning_flags")
    assert ended.statement == "two\nlines"
    number = due.dispute_id
    for chain_id, pack in ((1, b"a pack"), (56, None)):
        found = read_dispute_pack(store, chain_id=chain_id, address=TOKEN, dispute_id=number)
        assert found == pack


def test_a_process_takes_disputes_of_its_own_chains(store: Store) -> None:
    file(store, dispute(1, filed_at_s=NOW_S + 1))
    file(store, dispute(2, chain_id=56))
    late = NOW_S + 9
    assert take(store, now_s=late, until_s=late + 60, chain_ids=()) is None
    assert take(store, now_s=late, until_s=late + 60, chain_ids=(10,)) is None
    first = take(store, now_s=late, until_s=late + 60, chain_ids=(1, 56))
    assert first is not None
    assert (first.chain_id, first.attempts) == (56, 0)  # filed first
    assert take(store, now_s=late, until_s=late + 60, chain_ids=(56,)) is None
    second = take(store, now_s=late, until_s=late + 60, chain_ids=(1,))
    assert second is not None
    assert (second.chain_id, second.attempts) == (1, 0)


def test_old_disputes_are_deleted(store: Store) -> None:
    file(store, dispute())
    file(store, dispute(filed_at_s=NOW_S + 2 * DAY))
    delete_old_disputes(store, chain_id=1, before_s=NOW_S + DAY)
    (left,) = list_newest_disputes(store, chain_id=1, at_most=9)
    assert left.filed_at_s == NOW_S + 2 * DAY
