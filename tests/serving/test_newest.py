"""Protects the block at which the service analyses tokens without requesting the head."""

import time

import msgspec
import pytest

from assay.service.followed_state import newest_of
from core.evm.primitives import BlockRef, Hash32
from indexer.head.follower_status import FollowStatus
from tests.harness.api.world import make_chain

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
