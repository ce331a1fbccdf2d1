"""Protects kin by code: the same shape, the alike ones and no others, bounded and not displaced."""

import msgspec
import pytest

from assay.service.record_report import record_refusal, record_report
from core.evm.code_shape import BANDS, PART_BYTES, PARTS, CodeShape, likeness
from core.report.report import Report
from core.report.rows import RefusalRow
from sql.engine.store import Store
from sql.reports.report_tables import read_report
from sql.tokens import code_shapes, kin
from sql.tokens.code_shapes import KEPT_PLACES, delete_old_shapes
from sql.tokens.kin import CodeKin, find_kin
from tests.harness.bare_reports import bare_report
from tests.harness.store.sample_rows import LATER, address, bare_verdict
from tests.harness.store.store_contents import read_rows


def shape(name: int, *, changed: int = 0, seed: int = 0) -> CodeShape:
    """Make a shape with a new digest, and all but `changed` parts of its seed's shape."""
    kept = [seed % 1000 + part for part in range(PARTS - changed)]
    parts = [*kept, *(2000 + name * 7 + part for part in range(changed))]
    return CodeShape(
        digest=name.to_bytes(16),
        sketch=b"".join((part % 2**16).to_bytes(PART_BYTES) for part in parts),
    )


def report(number: int, its: CodeShape | None, *, chain_id: int = 1) -> Report:
    plain = bare_report(address(number), scanned_at_s=number, chain_id=chain_id)
    return msgspec.structs.replace(plain, shape=its)


def code_kin(store: Store, number: int) -> CodeKin:
    found = find_kin(store, chain_id=1, address=address(number))
    assert found is not None
    assert found.code is not None
    return found.code


def lists(store: Store, number: int) -> tuple[list[int], list[tuple[int, float]]]:
    found = code_kin(store, number)
    return (
        [int(one.address, 16) for one in found.same],
        [(int(one.kin.address, 16), round(one.likeness, 2)) for one in found.similar],
    )


def test_the_same_and_alike_codes_are_kin_and_others_are_not(store: Store) -> None:
    record_report(store, report(1, shape(1)), LATER)
    record_report(store, report(2, shape(1)), LATER, bare_verdict("danger"))
    record_report(store, report(3, shape(3, changed=16)), LATER, bare_verdict("danger"))
    record_report(store, report(4, shape(4, changed=13)), LATER)
    record_report(store, report(5, shape(5, changed=64)), LATER)  # half is too little
    record_report(store, report(6, shape(6, seed=500)), LATER)
    record_report(store, report(7, shape(1), chain_id=56), LATER)
    assert lists(store, 1) == ([2], [(4, 0.9), (3, 0.88)])
    assert lists(store, 6) == ([], [])
    assert code_kin(store, 1).same[0].verdict == "danger"


def test_a_code_of_no_known_shape_is_not_said_to_have_no_kin(store: Store) -> None:
    record_report(store, report(1, shape(1)), LATER)
    record_report(store, report(2, None), LATER)
    found = find_kin(store, chain_id=1, address=address(2))
    assert found is not None
    assert found.code is None
    record_report(store, report(1, None), LATER)
    gone = find_kin(store, chain_id=1, address=address(1))
    assert gone is not None
    assert gone.code is None


def test_a_token_whose_code_changes_has_the_kin_of_its_new_code(store: Store) -> None:
    for number in (1, 2, 3):
        record_report(store, report(number, shape(1)), LATER)
    record_report(store, report(2, shape(9, seed=500)), LATER)
    assert lists(store, 1) == ([3], [])
    refusal = RefusalRow(code="not_a_token", reason="", refused_at_s=1)
    record_refusal(store, chain_id=1, address=address(3), refusal=refusal, refresh=LATER)
    assert lists(store, 1) == ([], [])


def test_clones_share_one_row_and_a_report_does_not_hold_it(store: Store) -> None:
    for number in range(1, 6):
        record_report(store, report(number, shape(1)), LATER)
    assert read_rows(store, "select count(*) from code_shape") == [(1,)]
    assert read_rows(store, "select count(*) from shape_band") == [(BANDS,)]
    kept = read_report(store, chain_id=1, address=address(1))
    assert kept is not None
    assert kept.shape is None


def test_lists_are_bounded(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kin, "MOST_COUNTED", 2)
    for number in range(1, 6):
        record_report(store, report(number, shape(1)), LATER)
    for number in range(6, 11):
        record_report(store, report(number, shape(number, changed=8)), LATER)
    same, similar = lists(store, 1)
    assert same == [5, 4, 3]
    assert len(similar) == 3


def test_a_flood_of_alike_codes_displaces_none_of_the_first(store: Store) -> None:
    for number in range(1, 9):
        record_report(store, report(number, shape(number, changed=number)), LATER)
    for number in range(100, 100 + 3 * KEPT_PLACES):
        record_report(store, report(number, shape(number, changed=8)), LATER)
    (most,) = read_rows(store, "select max(place) + 1 from shape_band")[0]
    assert most == 2 * KEPT_PLACES
    _, similar = lists(store, 1)
    found = {number for number, _ in similar}
    assert set(range(2, 9)) <= found
    assert 100 + 3 * KEPT_PLACES - 1 in found  # the newest has taken another's place


def test_shapes_of_another_version_are_not_compared_and_go(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    for number in (1, 2):
        record_report(store, report(number, shape(1)), LATER)
    monkeypatch.setattr(code_shapes, "SHAPE_VERSION", 2)
    monkeypatch.setattr(code_shapes, "_DELETED_AT_ONCE", BANDS)
    assert find_kin(store, chain_id=1, address=address(1)).code is None  # type: ignore[union-attr]  # it has a report
    assert delete_old_shapes(store, chain_ids=[1])
    assert not delete_old_shapes(store, chain_ids=[1])
    assert read_rows(store, "select count(*) from code_shape") == [(0,)]
    assert read_rows(store, "select count(*) from shape_band") == [(0,)]
    record_report(store, report(1, shape(1)), LATER)
    assert lists(store, 1) == ([], [])


def test_likeness_is_the_share_of_equal_parts() -> None:
    assert likeness(shape(1).sketch, shape(2).sketch) == 1
    assert likeness(shape(1).sketch, shape(2, changed=32).sketch) == 0.75
    assert likeness(shape(1).sketch, shape(2, seed=500).sketch) == 0
