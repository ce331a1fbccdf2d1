"""Protects the blocks of an answer: the analysed block, and the clock that contracts read."""

import time

import msgspec
import pytest

from analysis.token.contract_clock import ContractClock
from assay.service.followed_state import clock_of, newest_of
from core.evm.primitives import BlockRef, Hash32
from indexer.head.follower_status import FollowStatus
from tests.harness.api.sample_reports import MINED_AT_S
from tests.harness.api.world import make_chain

HEAD = BlockRef(
    number=20_000_000,
    hash=Hash32("0x" + "1" * 64),
    parent_hash=Hash32("0x" + "2" * 64),
    time_s=MINED_AT_S,
)
OWN = make_chain(1, "ethereum")
SHARED = msgspec.structs.replace(OWN, id=42161, clock="ethereum", block_time_s=0.25)


def followed(*, seen_s_ago: float = 0, head: BlockRef | None = HEAD) -> FollowStatus:
    return FollowStatus(chain_id=1, head=head, updated_at_s=time.time() - seen_s_ago)


def test_the_followed_head_is_the_clock_of_a_chain_of_its_own() -> None:
    assert clock_of(OWN, followed()) == ContractClock(
        time_s=MINED_AT_S,
        block_number=20_000_000,
        block_time_s=MINED_AT_S,
        block_interval_s=12.0,
    )


def test_a_head_that_is_not_known_or_old_is_no_clock() -> None:
    for status in (None, followed(head=None), followed(seen_s_ago=61)):
        assert clock_of(OWN, status) is None


def test_on_ethereums_clock_the_chains_own_head_says_nothing() -> None:
    assert clock_of(SHARED, followed()) is None
    assert (OWN.clock_block_time_s, SHARED.clock_block_time_s) == (12.0, 12.0)


CHAIN = msgspec.structs.replace(make_chain(1, "ethereum"), block_time_s=2.0)


def block(number: int) -> BlockRef:
    return BlockRef(
        number=number, hash=Hash32(f"0x{number:064x}"), parent_hash=Hash32("0x"), time_s=number
    )


@pytest.mark.parametrize(
    ("tip", "head", "seen_s_ago", "is_taken"),
    [
        (100, 100, 0, True),
        (98, 100, 4, True),
        (97, 100, 0, False),  # still catching up
        (100, 100, 6, False),  # nothing new for longer than blocks take
        (100, None, 0, False),
        (None, 100, 0, False),
    ],
)
def test_a_fresh_tip_is_taken(
    tip: int | None, head: int | None, seen_s_ago: float, is_taken: bool
) -> None:
    status = FollowStatus(
        chain_id=1,
        tip=None if tip is None else block(tip),
        head=None if head is None else block(head),
        updated_at_s=time.time() - seen_s_ago,
    )
    assert newest_of(CHAIN, {1: status}) == (status.tip if is_taken else None)
    assert newest_of(CHAIN, {}) is None
