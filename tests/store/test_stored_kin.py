"""Protects kin: those of a reading of all reports, in order, bounded, on one chain alone."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.service.record_report import record_refusal, record_report
from core.evm.primitives import Address
from core.report.report import Report
from core.report.rows import RefusalRow
from core.text.look_alikes import skeleton
from sql.engine.store import Store
from sql.engine.table_rows import FunderRow
from sql.tokens import kin
from sql.tokens.funder_tables import write_funder
from sql.tokens.kin import Kin, find_kin
from sql.tokens.task_queue import take_tasks
from tests.harness.bare_reports import bare_report
from tests.harness.examples import one_in
from tests.harness.store.sample_rows import LATER, address, bare_verdict, hash32, pool_result

CYRILLIC = "\u0420\u0415\u0420\u0415"


def token(
    number: int, symbol: str, creator: int | None, usd: float = 0.0, *, chain_id: int = 1
) -> Report:
    """A report on the token at the address of that number."""
    plain = bare_report(address(number), scanned_at_s=number)
    head = msgspec.structs.replace(
        plain.token,
        name="",
        symbol=symbol,
        chain_id=chain_id,
        creator_address=None if creator is None else address(creator),
    )
    pool = msgspec.structs.replace(pool_result(ordinal=0), quote_side_usd=usd)
    return msgspec.structs.replace(plain, token=head, pools=(pool,))


def numbers(found: list[Kin] | None) -> list[int] | None:
    return None if found is None else [int(one.address, 16) for one in found]


def lists(store: Store, number: int) -> tuple[list[int] | None, list[int] | None]:
    found = find_kin(store, chain_id=1, address=address(number))
    assert found is not None
    same = found.same_creator
    return numbers(None if same is None else list(same)), numbers(list(found.look_alikes))


def test_kin_share_a_creator_or_look_alike(store: Store) -> None:
    record_report(store, token(1, "PEPE", 90), LATER)
    record_report(store, token(2, CYRILLIC, 91, 5e6), LATER, bare_verdict("danger"))
    record_report(store, token(3, "PEPE", None, 10.0), LATER)
    record_report(store, token(4, "CAT", 90), LATER, bare_verdict("safe"))
    record_report(store, token(5, "PEPE", 90, chain_id=56), LATER)
    assert lists(store, 1) == ([4], [2, 3])
    assert lists(store, 3) == (None, [2, 1])
    found = find_kin(store, chain_id=1, address=address(1))
    assert found is not None
    assert found.creator == address(90)
    assert [one.verdict for one in found.look_alikes] == ["danger", None]
    assert find_kin(store, chain_id=1, address=address(5)) is None


def test_kin_by_funder_are_of_other_creators(store: Store) -> None:
    for number, creator in ((1, 90), (2, 90), (3, 91), (4, 92), (5, 93), (6, None)):
        record_report(store, token(number, f"T{number}", creator), LATER)
    for creator, funder, block_number in ((90, 80, 7), (91, 80, 5), (92, 80, 6), (93, 81, 4)):
        fund(store, creator, address(funder), block_number)
    found = find_kin(store, chain_id=1, address=address(1))
    assert found is not None
    assert found.funder is not None
    assert (found.funder.funder, found.funder.accounts) == (address(80), 3)
    assert numbers(list(found.funder.tokens)) == [4, 3]
    fund(store, 93, None, 4)
    for number in (5, 6):  # it is known that it is not known; the creator is not
        other = find_kin(store, chain_id=1, address=address(number))
        assert other is not None
        assert other.funder is None


def fund(store: Store, account: int, funder: Address | None, block_number: int) -> None:
    row = FunderRow(
        chain_id=1,
        account=address(account),
        funder=funder,
        block_number=block_number,
        tx_hash=None if funder is None else hash32(block_number),
    )
    (task,) = take_tasks(store, "funder", chain_id=1, now_s=2**40, again_s=2**41, at_most=1)
    write_funder(store, row, task.token)


def test_a_refused_token_is_no_kin_any_more(store: Store) -> None:
    for number in (1, 2):
        record_report(store, token(number, "PEPE", 90), LATER)
    refusal = RefusalRow(code="not_a_token", reason="", refused_at_s=1)
    record_refusal(store, chain_id=1, address=address(2), refusal=refusal, refresh=LATER)
    assert lists(store, 1) == ([], [])


def test_lists_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kin, "MOST_COUNTED", 2)
    for number in range(1, 7):
        record_report(store, token(number, "PEPE", 90, 10.0**number), LATER)
    assert lists(store, 1) == ([6, 5, 4], [6, 5, 4])


@settings(max_examples=one_in(4), suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    rows=st.lists(
        st.tuples(
            st.sampled_from(("PEPE", CYRILLIC, "p\u0435pe", "CAT", "C4T", "")),
            st.sampled_from((None, 90, 91)),
        ),
        min_size=1,
        max_size=6,
    )
)
def test_kin_are_those_of_all_reports(
    file_store: Store, rows: list[tuple[str, int | None]]
) -> None:
    known = dict(enumerate(rows, start=1))
    for number, (symbol, creator) in known.items():
        record_report(file_store, token(number, symbol, creator), LATER)
    for number in range(len(rows) + 1, 7):  # of earlier examples
        record_report(file_store, token(number, f"other{number}", None), LATER)
    for number, (symbol, creator) in known.items():
        others = {other: row for other, row in known.items() if other != number}
        same, alike = lists(file_store, number)
        made = {other for other, (_, by) in others.items() if by == creator}
        assert (same is None) if creator is None else (set(same or ()) == made)
        key = skeleton(symbol)
        assert set(alike or ()) == {
            other for other, (its, _) in others.items() if key and skeleton(its) == key
        }
