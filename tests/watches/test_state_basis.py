"""Protects the basis that later blocks are compared with: nothing reported twice, no slow move
missed."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.market.venues.state.uniswap_v4_state import liquidity_slot
from analysis.reads.bulk_words import MOST_SLOTS, BalanceRead, BulkRead, WordsRead
from assay.service.background.state_basis import (
    LEAST_MOVE,
    Basis,
    Compared,
    after_observations,
    deadlines_of,
    differences,
    has_come,
    moved_to,
    name_of,
    pool_reads,
    words_of,
)
from core.evm.coin_pairs import pair_id
from core.evm.primitives import Address, BlockRef, Hash32
from core.report.report import ClockLimitRow, StateWord
from sql.tokens.observations import Observation
from tests.harness.api.sample_reports import make_pool
from tests.harness.bare_reports import bare_report
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.store.sample_rows import address, hash32

(ETHEREUM,) = (chain for chain in BUILT_IN_CHAINS if chain.slug == "ethereum")
(ARBITRUM,) = (chain for chain in BUILT_IN_CHAINS if chain.id == 42161)

words = st.dictionaries(
    st.tuples(st.integers(1, 3), st.integers(0, 400)), st.integers(0, 2**256 - 1), max_size=12
)


def state(values: dict[tuple[int, int], int]) -> list[StateWord]:
    return [
        StateWord(contract=address(contract), slot=hash32(slot), word=hash32(word))
        for (contract, slot), word in values.items()
    ]


def read_again(compared: Compared, values: dict[tuple[int, int], int]) -> bytes:
    """Return the node's answer with these values in storage."""
    read = compared.read
    assert isinstance(read, WordsRead)
    slots = [read.slots[at : at + 32] for at in range(0, len(read.slots), 32)]
    contract = int(read.contract, 16)
    return b"".join(values[contract, int.from_bytes(slot)].to_bytes(32) for slot in slots)


def observed(compared: Compared, answer: bytes, number: int) -> list[Observation]:
    return [
        Observation(
            chain_id=1,
            block_number=number,
            block_time_s=number,
            token_id=1,
            kind=kind,
            what=what,
            detail=detail,
        )
        for kind, what, detail in differences(compared, answer)
    ]


@given(before=words, data=st.data())
def test_words_that_changed_are_told_once_also_after_a_restart(
    before: dict[tuple[int, int], int], data: st.DataObject
) -> None:
    basis = Basis(token_id=1, report_block=1, compared=words_of(state(before)), deadlines=())
    now, stored = basis, list[Observation]()
    for number in range(2, 5):
        changed = data.draw(st.sets(st.sampled_from(sorted(before)))) if before else set()
        values = {
            place: word ^ (1 << number) if place in changed else word
            for place, word in before.items()
        }
        answers = [read_again(each, values) for each in now.compared]
        seen = [
            one
            for each, answer in zip(now.compared, answers, strict=True)
            for one in observed(each, answer, number)
        ]
        places = {f"{address(contract)} {hash32(slot)}" for contract, slot in changed}
        assert {one.what for one in seen} == places
        stored = [*seen, *stored]
        both = zip(now.compared, answers, strict=True)
        now = msgspec.structs.replace(now, compared=tuple(moved_to(*each) for each in both))
        assert after_observations(basis, stored) == now
        before = values


def test_one_read_has_no_more_slots_than_a_call_takes() -> None:
    many = state({(1, slot): slot for slot in range(2 * MOST_SLOTS + 1)})
    sizes = [len(each.words) // 32 for each in words_of(many)]
    assert sizes == [MOST_SLOTS, MOST_SLOTS, 1]


def pool(reserve: int) -> Compared:
    return Compared(
        read=BalanceRead(token=Address(address(1)), account=address(2)),
        words=reserve.to_bytes(32),
        pool=address(2),
    )


@given(steps=st.lists(st.floats(0.93, 1.07), max_size=60))
def test_many_small_moves_of_liquidity_make_a_large_one(steps: list[float]) -> None:
    """The last reported value, or the report's, is never more than a tenth off."""
    reserve = 10**24
    compared = pool(reserve)
    for number, step in enumerate(steps):
        reserve = int(reserve * step)
        told_before = int.from_bytes(compared.words)
        seen = observed(compared, reserve.to_bytes(32), number)
        compared = moved_to(compared, reserve.to_bytes(32))
        assert bool(seen) == (abs(reserve - told_before) >= LEAST_MOVE * told_before)
        known = int.from_bytes(compared.words)
        assert abs(reserve - known) < LEAST_MOVE * known


@pytest.mark.parametrize(("was", "now", "is_told"), [(0, 0, 0), (0, 1, 1), (9, 0, 1), (100, 91, 0)])
def test_pools_that_are_filled_or_emptied_count(was: int, now: int, is_told: bool) -> None:
    assert bool(observed(pool(was), now.to_bytes(32), 1)) == is_told


V4 = next(dex for dex in ETHEREUM.dexes if dex.kind == "AmmV4").factory


@pytest.mark.parametrize(
    ("where", "pool_id", "read"),
    [
        (address(7), None, BalanceRead(token=address(8), account=address(7))),
        (address(7), pair_id(address(7), 1, 2), BalanceRead(token=address(8), account=address(7))),
        (V4, hash32(9), WordsRead(contract=V4, slots=liquidity_slot(hash32(9), ETHEREUM.dexes[0]))),
        (address(7), hash32(9), None),
    ],
    ids=["contract", "two coins of many", "entry of a manager", "entry of a stranger"],
)
def test_a_pool_is_compared_where_its_tokens_lie(
    where: Address, pool_id: Hash32 | None, read: BulkRead | None
) -> None:
    row = make_pool(pool=where, pool_id=pool_id, quote=address(8))
    report = msgspec.structs.replace(bare_report(address(1), scanned_at_s=1), pools=(row,))
    assert [reserve_side for _, reserve_side in pool_reads(report, ETHEREUM)] == (
        [read] if read else []
    )


def limit(
    value: int | None, compared_with: str | None = "timestamp", source: str = "storage"
) -> ClockLimitRow:
    row = {"source": source, "slot": None, "value": value, "compared_with": compared_with}
    return msgspec.convert(row, ClockLimitRow)


def test_only_what_is_still_to_come_is_waited_for() -> None:
    report = bare_report(address(1), scanned_at_s=1)
    head = msgspec.structs.replace(
        report.token, clock_block=1_000, clock_time_s=1_700_000_000, block_number=5_000
    )
    limits = (
        limit(1_700_000_100),
        limit(1_700_000_050, None),
        limit(1_700_000_000),
        limit(1_600_000_000),
        limit(2**256 - 1),
        limit(None),
        limit(1_700_000_100, source="stamp"),
        limit(1_010, "block"),
        limit(1_000, "block"),
    )
    report = msgspec.structs.replace(report, token=head, clock_limits=limits)
    own = deadlines_of(report, ETHEREUM)
    assert [name_of(one) for one in own] == [
        "timestamp 1700000050",
        "timestamp 1700000100",
        "block 1010",
    ]
    assert own[2].block_number == 1_010
    # Contracts there see Ethereum's block number, so this chain's has no bearing.
    (other,) = [one for one in deadlines_of(report, ARBITRUM) if one.clock == "block"]
    assert other.block_number is None
    assert other.time_s == 1_700_000_120


@pytest.mark.parametrize(("number", "time_s", "come"), [(9, 99, 0), (10, 99, 1), (9, 100, 2)])
def test_a_deadline_has_come_with_the_block_that_shows_it(
    number: int, time_s: int, come: int
) -> None:
    report = bare_report(address(1), scanned_at_s=1)
    head = msgspec.structs.replace(report.token, clock_block=1, clock_time_s=1)
    limits = (limit(10, "block"), limit(100))
    report = msgspec.structs.replace(report, token=head, clock_limits=limits)
    block = BlockRef(number=number, hash=hash32(1), parent_hash=hash32(0), time_s=time_s)
    has = [each.clock for each in deadlines_of(report, ETHEREUM) if has_come(each, block)]
    assert has == [[], ["block"], ["timestamp"]][come]
