"""State published by followers, for analysis and API."""

import time
from collections.abc import Mapping

from analysis.token.contract_clock import ContractClock
from api.readiness import is_fresh
from config.facts.chain import Chain
from core.evm.primitives import BlockRef
from indexer.head.follower_status import FollowStatus

_BLOCKS_OLD = 2
"""A tip this many blocks or block times behind the head is not new any more."""

_GRACE_S = 1.0


def newest_of(chain: Chain, statuses: Mapping[int, FollowStatus]) -> BlockRef | None:
    """Return the newest block to analyse at without a request for the head. None: request it.

    This is the indexed tip, not the node's head: a head is announced before every endpoint has its
    block.
    """
    status = statuses.get(chain.id)
    lag = None if status is None else status.lag_blocks
    if status is None or lag is None or lag > _BLOCKS_OLD:
        return None
    is_fresh = time.time() - status.updated_at_s <= _BLOCKS_OLD * chain.block_time_s + _GRACE_S
    return status.tip if is_fresh else None


def is_recent(chain: Chain, block: BlockRef, *, now_s: float) -> bool:
    """True if a block's time is so recent that it may be the newest block."""
    return now_s - block.time_s <= _BLOCKS_OLD * chain.block_time_s + _GRACE_S


def clock_of(chain: Chain, status: FollowStatus | None) -> ContractClock | None:
    """Return the contract clock at the last seen head. None: no head yet, or one too old.

    None also where contracts see Ethereum's block number, which the head's own number does not
    give; there the clock read by the analysis is extrapolated.
    """
    if chain.clock != "own" or status is None or status.head is None:
        return None
    if not is_fresh(status, now_s=time.time()):
        return None
    head = status.head
    return ContractClock(
        time_s=head.time_s,
        block_number=head.number,
        block_time_s=head.time_s,
        block_interval_s=chain.clock_block_time_s,
    )
