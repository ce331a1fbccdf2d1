"""Which chains the fleet has: told by processes with a node, read by those that answer requests."""

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

import structlog

from analysis.pipeline.chain_memory import PRICE_AGE_S
from assay.service.analysis_parts import AnalysisParts
from assay.service.shared_parts import SharedParts
from core.errors import StoreError

if TYPE_CHECKING:
    from sql.engine.postgres.chain_registry import ChainRegistry

_EVERY_S: Final = 2.0

_LOG = structlog.get_logger("assay")


async def keep_registry(
    parts: SharedParts, registry: "ChainRegistry", analysis: AnalysisParts | None
) -> None:
    """Look at the registry again and again until the stop. Faults of the database are logged and
    outlasted: the chains stay as they were."""
    is_answering = True
    while not parts.stop.is_set():
        with suppress(TimeoutError):
            await asyncio.wait_for(parts.stop.wait(), _EVERY_S)
        try:
            await asyncio.to_thread(look_at_registry, parts, registry, analysis)
        except StoreError as error:
            if is_answering:
                _LOG.error("chains of the fleet cannot be read", why=str(error))
            is_answering = False
        else:
            is_answering = True


def look_at_registry(
    parts: SharedParts, registry: "ChainRegistry", analysis: AnalysisParts | None
) -> None:
    """Say which chains this process has a node for, and take over those of the others where it
    answers requests. Blocks. Raises StoreError."""
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
