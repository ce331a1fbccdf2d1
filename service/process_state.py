"""Whether this process does what its roles ask of it."""

import time
from functools import partial

import msgspec

from api.deps import ChainState, StatusDeps
from api.readiness import chain_state, store_state
from config.chains import Chain
from service.follow_role import is_followed_here
from service.shared_parts import SharedParts


def process_state(parts: SharedParts) -> StatusDeps:
    """Return what health, readiness and metrics of this process are made of."""
    settings = parts.settings
    return StatusDeps(
        read_states=partial(_read_states, parts),
        read_store_state=partial(store_state, parts.store, parts.ledger),
        is_ending=parts.stop.is_set,
        must_follow=frozenset(chain.slug for chain in parts.followed)
        if "follow" in parts.roles
        else frozenset(),
        metrics=None if settings.metrics.address else parts.metrics,
        metrics_token=settings.metrics_token,
    )


async def _read_states(parts: SharedParts) -> tuple[ChainState, ...]:
    """Return whether each chain is followed, here or by another process."""
    now_s = time.time()
    return tuple(_state_of(parts, chain, now_s) for chain in parts.served_chains)


def _state_of(parts: SharedParts, chain: Chain, now_s: float) -> ChainState:
    state = chain_state(chain, parts.statuses.get(chain.id), now_s=now_s)
    stands_by = "follow" in parts.roles and chain in parts.followed
    if not stands_by or is_followed_here(parts, chain.id):
        return state
    # A process that stands by does what it should also while nobody follows the chain.
    return msgspec.structs.replace(state, is_ready=True, reason="")
