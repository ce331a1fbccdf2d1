"""Readiness of this process, by role."""

import threading
import time
from collections.abc import Callable
from functools import partial
from typing import Final

import msgspec

from api.deps import ChainState, StatusDeps, StoreState
from api.readiness import chain_state, store_state
from assay.service.follow_role import is_followed_here
from assay.service.shared_parts import SharedParts
from config.facts.chain import Chain

_LOOK_WITHIN_S: Final = 2.0


class OneLook:
    """Checks the store one request at a time.

    While the store is silent, each check blocks a thread, and requests for readiness keep coming.
    """

    def __init__(self, look: Callable[[], StoreState]) -> None:
        self._look = look
        self._lock = threading.Lock()

    def __call__(self) -> StoreState:
        """Return the state. Blocks."""
        if not self._lock.acquire(timeout=_LOOK_WITHIN_S):
            return StoreState(is_ready=False, reason="an earlier check has not ended yet")
        try:
            return self._look()
        finally:
            self._lock.release()


def process_state(parts: SharedParts) -> StatusDeps:
    """Build the inputs of health, readiness and metrics."""
    settings = parts.settings
    return StatusDeps(
        read_states=partial(_read_states, parts),
        read_store_state=OneLook(partial(store_state, parts.store, parts.ledger)),
        is_ending=parts.stop.is_set,
        must_follow=frozenset(chain.slug for chain in parts.followed)
        if "follow" in parts.roles
        else frozenset(),
        metrics=None if settings.metrics.address else parts.metrics,
        metrics_token=settings.metrics_token,
    )


async def _read_states(parts: SharedParts) -> tuple[ChainState, ...]:
    """Return the state of each chain, followed here or by another process."""
    now_s = time.time()
    return tuple(_state_of(parts, chain, now_s) for chain in parts.served_chains)


def _state_of(parts: SharedParts, chain: Chain, now_s: float) -> ChainState:
    state = chain_state(chain, parts.statuses.get(chain.id), now_s=now_s)
    stands_by = "follow" in parts.roles and chain in parts.followed
    if not stands_by or is_followed_here(parts, chain.id):
        return state
    # A standby process is ready even while no process follows the chain.
    return msgspec.structs.replace(state, is_ready=True, reason="")
