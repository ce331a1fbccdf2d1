"""What is known of chains that another process follows: how far its blocks are in the store."""

import asyncio
import time
from contextlib import suppress
from typing import Final

import structlog

from assay.service.followed_state import is_recent
from assay.service.shared_parts import SharedParts
from config.chains import Chain
from core.errors import StoreError
from core.evm.primitives import BlockRef
from indexer.follower_status import FollowStatus
from indexer.stored_tip import read_tip

_LOOK_EVERY_S: Final = 0.5

_LOG = structlog.get_logger("assay")


async def keep_reading_tips(parts: SharedParts) -> None:
    """Note the status of each chain that is not followed here, until the stop.

    The store's own faults show in readiness; here they are logged and outlasted.
    """
    last_fault = ""
    while not parts.stop.is_set():
        try:
            for chain in parts.served_chains:
                tip = await asyncio.to_thread(read_tip, parts.store, chain.id)
                if chain.id not in parts.comparisons and tip is not None:
                    before = parts.statuses.get(chain.id)
                    parts.statuses[chain.id] = status_of(chain, tip, before, now_s=time.time())
            last_fault = ""
        except StoreError as error:
            if str(error) != last_fault:
                last_fault = str(error)
                _LOG.error("newest stored blocks cannot be read", why=last_fault)
        with suppress(TimeoutError):
            await asyncio.wait_for(parts.stop.wait(), _LOOK_EVERY_S)


def status_of(
    chain: Chain, tip: BlockRef, before: FollowStatus | None, *, now_s: float
) -> FollowStatus:
    """Return the status of a chain by its newest stored block.

    The block counts as the node's head while it is recent; else how far the node is ahead is not
    known. Progress is when a block was first seen here, but never later than it was recent.
    """
    updated_at_s = float(tip.time_s)
    if before is not None and before.tip is not None:
        updated_at_s = before.updated_at_s if before.tip.hash == tip.hash else now_s
    head = tip if is_recent(chain, tip, now_s=now_s) else None
    return FollowStatus(chain_id=chain.id, head=head, tip=tip, updated_at_s=updated_at_s)
