"""Estimate of the calls that a chain needs, from one real analysis and one real following step.

The calls are counted by the client's meter; the store is in memory.
"""

import math
import time
from collections.abc import Mapping, Sequence

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from analysis.reads.indexed_facts import NoFactsIndex
from assay.doctor.provider_weights import Provider
from config.facts.chain import Chain
from config.settings import Settings
from core.evm.primitives import Address
from core.rpc.client import RpcClient
from core.rpc.request_meter import metered
from indexer.block_spans import fetch_header
from indexer.head.follower import Follower
from sql.engine.store import MEMORY, Store

_DAY_S = 86_400
_MOST_BLOCKS = 32
_POLL = "eth_getBlockByNumber"
_ANNOUNCED_FACTOR = 10
"""Polling interval relative to normal while heads are announced. Source: indexer.head.heads."""


class ProviderCost(msgspec.Struct, frozen=True, kw_only=True):
    """Cost in a provider's units."""

    provider: str
    unit: str
    scan: float
    block: float
    following_day: float
    source: str
    not_counted: tuple[str, ...]
    """Methods without a known weight: with any, the numbers are lower bounds."""


class CostEstimate(msgspec.Struct, frozen=True, kw_only=True):
    """Calls by method, retries included, as providers count them."""

    token: Address
    """Analysed token."""
    scan: dict[str, float]
    """First analysis on a chain, with empty caches: it reads routers too."""
    next_scan: dict[str, float]
    """Analysis with the caches of a running service."""
    block: dict[str, float]
    """One followed block, without the poll for the head."""
    blocks_per_day: int
    following_day: dict[str, float]
    """A day of following with polls for the head, without analyses and histories."""
    most_background_day: int
    """Most calls a day for background analyses: analysis.background_requests_per_hour."""
    providers: tuple[ProviderCost, ...]


async def estimate_cost(
    chain: Chain,
    client: RpcClient,
    settings: Settings,
    *,
    token: Address,
    providers: Sequence[Provider],
) -> CostEstimate:
    """Measure one analysis of the token, another one, and one step of following.

    Raises UpstreamError, TokenRefusedError, RangeRefusedError, InternalError.
    """
    context = ChainContext(
        chain=chain,
        node=client,
        index=NoFactsIndex(),
        settings=settings.analysis,
        now_s=time.time,
    )
    first = await _scan(context, token)
    later = await _scan(context, token)
    block = await _follow(chain, client, settings)
    blocks = round(_DAY_S / chain.block_time_s)
    polls = _DAY_S / settings.indexer.poll_s
    if client.can_subscribe:
        polls /= _ANNOUNCED_FACTOR
    day = {method: count * blocks for method, count in block.items()}
    day[_POLL] = day.get(_POLL, 0.0) + polls
    return CostEstimate(
        token=token,
        scan=first,
        next_scan=later,
        block=block,
        blocks_per_day=blocks,
        following_day=day,
        most_background_day=24 * settings.analysis.background_requests_per_hour,
        providers=tuple(_in_units(one, later, block, day) for one in providers),
    )


async def _scan(context: ChainContext, token: Address) -> dict[str, float]:
    with metered() as meter:
        async for _ in scan(context, token):
            pass
    return _counts(meter.methods, 1)


async def _follow(chain: Chain, client: RpcClient, settings: Settings) -> dict[str, float]:
    """Follow as many blocks as come between two polls, on a store in memory."""
    head = await client.fetch_head_header()
    per_poll = math.ceil(settings.indexer.poll_s / chain.block_time_s)
    count = max(1, min(per_poll, _MOST_BLOCKS, head.number))
    before = await fetch_header(client, head.number - count)
    begun = msgspec.structs.replace(chain, start_block=max(0, head.number - count))
    store = Store.open(MEMORY)
    try:
        follower = Follower(begun, client, store, settings.indexer)
        await follower.load()
        if before is not None:
            async for _ in follower.advance(before):
                pass
        with metered() as meter:
            async for _ in follower.advance(head):
                pass
    finally:
        store.close()
    return _counts(meter.methods, count)


def _counts(methods: Mapping[str, int], divisor: int) -> dict[str, float]:
    return {method: round(count / divisor, 2) for method, count in sorted(methods.items())}


def _in_units(
    provider: Provider,
    scanned: Mapping[str, float],
    block: Mapping[str, float],
    day: Mapping[str, float],
) -> ProviderCost:
    return ProviderCost(
        provider=provider.name,
        unit=provider.unit,
        scan=provider.units(scanned),
        block=provider.units(block),
        following_day=provider.units(day),
        source=provider.source,
        not_counted=provider.unweighted({**scanned, **block, **day}),
    )
