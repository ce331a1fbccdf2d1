"""Protects the clock of an answer: the followed head where contracts read it, else the report's."""

import time

import msgspec

from analysis.token.contract_clock import ContractClock
from assay.service.followed_state import clock_of
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
