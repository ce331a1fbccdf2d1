"""Protects conclusions of a history of transfers on unlisted holders."""

import pytest

from analysis.reads.indexed_facts import IndexedFacts, TransferHistory
from analysis.token.holders import left_for_others
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount
from tests.harness.store.sample_rows import address

A, B, C, D = map(address, range(0x11, 0x15))
BURNT = max(BURN_ADDRESSES)


@pytest.mark.parametrize(
    ("held_raw", "summed", "balances", "listed", "expected"),
    [
        (None, {A: 60}, {A: 60}, {A}, None),
        (100, {A: 60, B: 30}, {A: 60, B: 30}, {A, B}, 10),
        # Queried and not listed: the token's own answer counts, not the balance left by transfers.
        (100, {A: 60, B: 30}, {A: 60, B: 30}, {A}, 40),
        (100, {A: 60, B: 30}, {A: 60, B: 5}, {A}, 15),
        (100, {A: 60, B: 30}, {A: 60}, {A}, 10),
        # A burn address is listed elsewhere.
        (100, {A: 60, BURNT: 30}, {A: 60, BURNT: 30}, {A}, 10),
        (100, {A: 60, ZERO_ADDRESS: 30}, {A: 60}, {A}, 40),
        # A pool queried in addition, and not among the largest by transfers, is no other.
        (100, {A: 60}, {A: 60, C: 7}, {A, C}, 40),
        # More than there is: so much of it is not true.
        (130, {A: 60, B: 30}, {A: 60, B: 30}, {A, B}, 10),
        (150, {A: 60}, {A: 60}, {A}, 40),
        (2**300, {A: 60}, {A: 60}, {A}, 40),
        (300, {A: 250}, {A: 0}, set(), 0),
        # Less than there is: the rest is with nobody known.
        (70, {A: 60}, {A: 60}, {A}, 10),
        (0, {}, {}, set(), 0),
    ],
)
def test_what_is_left_for_others(
    held_raw: int | None,
    summed: dict[Address, int],
    balances: dict[Address, int],
    listed: set[Address],
    expected: int | None,
) -> None:
    known = IndexedFacts(
        holders=tuple((owner, RawAmount(raw)) for owner, raw in summed.items()),
        past=TransferHistory(from_block=0, is_whole=held_raw is not None, held_raw=held_raw),
    )
    assert left_for_others(known, balances, listed=listed, supply_raw=100) == expected
