"""Exchange of chains, prices and tips between the processes of a fleet."""

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import structlog

from analysis.pipeline.chain_memory import PRICE_AGE_S
from assay.service.analysis_parts import AnalysisParts
from assay.service.followed_state import is_recent
from assay.service.shared_parts import SharedParts
from config.facts.chain import Chain
from core.errors import StoreError
from core.evm.primitives import BlockRef
from indexer.head.follower_status import FollowStatus
from indexer.head.stored_tip import read_tip

if TYPE_CHECKING:
    from sql.engine.postgres.chain_registry import ChainRegistry


_EVERY_S: Final = 2.0

_LOG = structlog.get_logger("assay")


async def keep_registry(
    parts: SharedParts, registry: "ChainRegistry", analysis: AnalysisParts | None
) -> None:
    """Update the registry until the stop. Database errors are logged; the chains then stay as they
    were."""
    is_answering = True
    while not parts.stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(parts.stop.wait(), _EVERY_S)
        try:
            await asyncio.to_thread(update_registry, parts, registry, analysis)
        except StoreError as error:
            if is_answering:
                _LOG.error("chains of the fleet cannot be read", why=str(error))
            is_answering = False
        else:
            is_answering = True


def update_registry(
    parts: SharedParts, registry: "ChainRegistry", analysis: AnalysisParts | None
) -> None:
    """Register the chains that this process has a node for. With the role `api`, serve those of
    the other processes too. Blocks. Raises StoreError."""
    ids = [chain.id for chain in parts.followed]
    if "follow" in parts.roles:
        registry.renew("follow", dict.fromkeys(ids))
    if "analyse" in parts.roles and analysis is not None:
        contexts = analysis.contexts.values()
        registry.renew(
            "analyse",
            {context.chain.id: context.memory.recall_native_usd() for context in contexts},
        )
    if "api" in parts.roles:
        _take_over(parts, registry)


def _take_over(parts: SharedParts, registry: "ChainRegistry") -> None:
    found = {one.chain_id: one.native_usd for one in registry.chains(priced_s=PRICE_AGE_S)}
    served = {chain.slug for chain in parts.chains if chain.id in found or chain in parts.followed}
    for slug in served.symmetric_difference(parts.served):
        is_new = slug in served
        _LOG.info("chain of the fleet", chain=slug, served=is_new)
        (parts.served.add if is_new else parts.served.discard)(slug)
    prices = {chain_id: usd for chain_id, usd in found.items() if usd is not None}
    parts.native_usd.update(prices)
    for chain_id in parts.native_usd.keys() - prices.keys():
        del parts.native_usd[chain_id]


_LOOK_EVERY_S: Final = 0.5


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
