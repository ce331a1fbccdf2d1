"""Readiness of a service: its chains move, its files can be read, its disk has room."""

import shutil
from typing import Final

from api.deps import ChainState, StoreState
from config.facts.chain import Chain
from core.errors import StoreError
from indexer.head.follower_status import FollowStatus
from sql.accounts.ledger import Ledger
from sql.chain.blocks import FOLLOW, read_checkpoint
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles

_STALE_AFTER_S: Final = 60.0
"""Seconds without progress towards the head after which a chain no longer counts as followed."""

_STILL_AFTER_S: Final = 300.0
"""Age of the node's newest block from which on the chain, or the node, stands still."""

_STILL_AFTER_BLOCKS: Final = 20
"""The same in block times, for chains with slow blocks."""

LEAST_FREE_BYTES: Final = 64 << 20
"""Room on the disk below which the store may fail to take the next blocks."""


def is_fresh(status: FollowStatus, *, now_s: float) -> bool:
    """True if the follower was level with the head, or came closer to it, a short while ago."""
    return now_s - status.updated_at_s < _STALE_AFTER_S


def chain_state(chain: Chain, status: FollowStatus | None, *, now_s: float) -> ChainState:
    """Build the state of a chain. `status` None: nothing is known of its follower yet."""
    if status is None:
        return ChainState(chain=chain.slug, is_ready=False, head=None, tip=None, reason="starting")
    reason = _why_not(chain, status, now_s=now_s)
    return ChainState(
        chain=chain.slug,
        is_ready=not reason and status.tip is not None,
        head=status.head.number if status.head else None,
        tip=status.tip.number if status.tip else None,
        reason=status.last_error or reason,
    )


def _why_not(chain: Chain, status: FollowStatus, *, now_s: float) -> str:
    if status.is_on_wrong_chain:
        return "the node serves another chain"
    if not is_fresh(status, now_s=now_s):
        return "the tip has not moved for a while"
    still_after_s = max(_STILL_AFTER_S, _STILL_AFTER_BLOCKS * chain.block_time_s)
    age_s = 0.0 if status.head is None else now_s - status.head.time_s
    if age_s > still_after_s:
        return f"the node's newest block is {age_s / 60:.0f} minutes old"
    return ""


def store_state(store: Store, ledger: Ledger) -> StoreState:
    """Check that store and ledger are there and can be read, and that the disk has room. Blocks."""
    try:
        store.check_present()
        ledger.check_present()
        read_checkpoint(
            store, chain_id=0, stream=FOLLOW
        )  # any chain does: the query need only succeed
        ledger.read_key_revision()
        free_bytes = shutil.disk_usage(StoreFiles(prefix=store.path).folder).free
    except (StoreError, OSError) as error:
        return StoreState(is_ready=False, reason=str(error))
    if free_bytes < LEAST_FREE_BYTES:
        reason = f"{free_bytes >> 20} MB are left on the disk of the store"
        return StoreState(is_ready=False, reason=reason)
    return StoreState(is_ready=True)
