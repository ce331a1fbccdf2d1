"""Liquidity risk of a token's pools on the analysed block, for the verdict."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, find_ownership
from analysis.liquidity.liquidity_shares import LiquidityShares, TokenParties
from analysis.liquidity.pool_age import AgeEvidence, find_liquid_before, find_older
from analysis.liquidity.token_liquidity import TokenLiquidityHolder, largest_holders
from analysis.liquidity.withdrawal_risk import (
    WORST_FIRST,
    YOUNG_S,
    LiquidityRisk,
    PoolAge,
    WeighedPool,
    combine_risk,
    usd_of_others,
)
from analysis.market.pool_ranking import ValuedPool
from analysis.market.venues.pool import Candidate
from analysis.pipeline.chain_context import ChainContext
from core.errors import UpstreamError
from core.evm.primitives import BlockRef
from core.report.report import EvidenceRow

_MOST_POOLS: Final = 3
"""Pools whose holders are read, deepest first. The others' value counts as not known."""

WAIT_S: Final = 5.0
"""Time limit for the node in seconds: some are slow with old events, which the rest of the analysis
does not need."""


class WeighedLiquidity(msgspec.Struct, frozen=True, kw_only=True):
    """A token's liquidity by what its holders can do."""

    risk: LiquidityRisk | None = None
    """None: switched off for this token, or there is no pool. `unknown`: the node did not answer in
    time."""
    of_others_usd: float | None = None
    """See `usd_of_others`. None: not read."""
    holders: tuple[TokenLiquidityHolder, ...] = ()
    """Largest first, those with free liquidity before others. Empty: none is known."""
    evidence: tuple[EvidenceRow, ...] = ()


class _KnownAge(msgspec.Struct, frozen=True, kw_only=True):
    """Age of a pool."""

    age: PoolAge
    by: AgeEvidence | None = None
    """None: there is no evidence."""


_UNKNOWN_AGE: Final = _KnownAge(age="unknown")


async def find_liquidity(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    *,
    made: Mapping[str, int],
    block: BlockRef,
    reads_old: bool,
) -> WeighedLiquidity:
    """Return the findings. `made`: block of a pool's creation, by Candidate.key, where it is known.

    `reads_old`: find the holders of old pools even where the deployment does not; the risk stays
    the same.
    """
    if context.settings.liquidity_holders == "never" or not pools:
        return WeighedLiquidity()
    limit = None if context.is_replayable else WAIT_S
    try:
        async with asyncio.timeout(limit):
            ages = await _find_ages(context, pools, made, block=block)
            read = [
                pool for pool in pools[:_MOST_POOLS] if reads_old or _is_due(context, ages, pool)
            ]
            owned = await _find_owners(context, read, parties, made, block=block)
            return await _weigh_owned(context, pools, parties, ages, owned, block=block)
    except (TimeoutError, UpstreamError):
        return WeighedLiquidity(risk="unknown")


async def _weigh_owned(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    ages: dict[str, _KnownAge],
    owned: Sequence[OwnedPool],
    *,
    block: BlockRef,
) -> WeighedLiquidity:
    """Return the findings, with more evidence of ages if they are open. Raises UpstreamError."""
    due = {pool.candidate.key for pool in pools if _is_due(context, ages, pool)}
    decisive = [one for one in owned if one.candidate.key in due]
    doubtful = [one.candidate for one in decisive if ages[one.candidate.key].age == "unknown"]
    risk, found = _worse_risk(pools, ages, decisive, now_s=block.time_s)
    if doubtful and risk != "held":
        ages |= await _find_liquid_ages(context, doubtful, block=block)
        risk, found = _worse_risk(pools, ages, decisive, now_s=block.time_s)
    found = {one.candidate.key: one.ownership for one in owned} | found
    values = {pool.candidate.key: pool.value.liquidity_usd for pool in pools}
    holders = largest_holders(
        [(values[key], shares) for key, shares in found.items()],
        total_usd=sum(values.values()),
        creator=parties.creator,
        owner=parties.owner,
    )
    of_others = [
        usd_of_others(_weigh(pools, ages, shares), parties, now_s=block.time_s)
        for shares in _measures(owned)
    ]
    return WeighedLiquidity(
        risk=risk,
        of_others_usd=min((usd for usd in of_others if usd is not None), default=None),
        holders=holders,
        evidence=_evidence_of(risk, pools, ages, found, holders),
    )


def _measures(
    owned: Sequence[OwnedPool],
) -> tuple[dict[str, LiquidityShares], dict[str, LiquidityShares]]:
    """Return the shares by Candidate.key: of the value, and of the quote tokens."""
    return (
        {one.candidate.key: one.ownership for one in owned},
        {one.candidate.key: one.quote_ownership for one in owned},
    )


def _worse_risk(
    pools: Sequence[ValuedPool],
    ages: Mapping[str, _KnownAge],
    owned: Sequence[OwnedPool],
    *,
    now_s: int,
) -> tuple[LiquidityRisk, dict[str, LiquidityShares]]:
    """Return the risk by value or by quote tokens, whichever is worse, with the shares of it."""
    risks = (
        (combine_risk(_weigh(pools, ages, found), now_s=now_s), found) for found in _measures(owned)
    )
    return min(risks, key=lambda one: WORST_FIRST.index(one[0]))


def _weigh(
    pools: Sequence[ValuedPool],
    ages: Mapping[str, _KnownAge],
    found: Mapping[str, LiquidityShares],
) -> Iterator[WeighedPool]:
    for pool in pools:
        key = pool.candidate.key
        yield WeighedPool(
            liquidity_usd=pool.value.liquidity_usd, age=ages[key].age, ownership=found.get(key)
        )


def _evidence_of(
    risk: LiquidityRisk,
    pools: Sequence[ValuedPool],
    ages: Mapping[str, _KnownAge],
    found: Mapping[str, LiquidityShares],
    holders: Sequence[TokenLiquidityHolder],
) -> tuple[EvidenceRow, ...]:
    """Return the holders, and the age and the shares of the deepest pools."""
    body = {
        "risk": risk,
        "holders": holders,
        "pools": [
            {
                "pool": key,
                "age": ages[key].age,
                "age_by": ages[key].by,
                "shares": _without_names(found.get(key)),
            }
            for key in (pool.candidate.key for pool in pools[:_MOST_POOLS])
        ],
    }
    return (EvidenceRow(key="liquidity_risk", body=msgspec.json.encode(body).decode()),)


def _without_names(shares: LiquidityShares | None) -> LiquidityShares | None:
    if shares is None:
        return None
    return msgspec.structs.replace(shares, holders=(), locks=(), withdrawers=())


def _is_due(context: ChainContext, ages: Mapping[str, _KnownAge], pool: ValuedPool) -> bool:
    is_always = context.settings.liquidity_holders == "always"
    return is_always or ages[pool.candidate.key].age != "old"


async def _find_ages(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    made: Mapping[str, int],
    *,
    block: BlockRef,
) -> dict[str, _KnownAge]:
    """Return the age of each pool. Raises UpstreamError.

    The node is queried for the deepest pools that the index lacks.
    """
    block_s = context.chain.block_time_s
    ages: dict[str, _KnownAge] = {}
    for pool in pools:
        key = pool.candidate.key
        at = made.get(key)
        is_young = at is not None and (block.number - at) * block_s < YOUNG_S
        age = _KnownAge(age="young" if is_young else "old", by="creation")
        ages[key] = _UNKNOWN_AGE if at is None else age
    unknown = [
        pool.candidate for pool in pools[:_MOST_POOLS] if ages[pool.candidate.key] == _UNKNOWN_AGE
    ]
    older = await find_older(unknown, YOUNG_S, block=block, block_time_s=block_s, node=context.node)
    return ages | dict.fromkeys(older, _KnownAge(age="old", by="event"))


async def _find_liquid_ages(
    context: ChainContext, pools: Sequence[Candidate], *, block: BlockRef
) -> dict[str, _KnownAge]:
    """Return the pools that are shown to be old by their liquidity. Raises UpstreamError."""
    found = await find_liquid_before(
        pools,
        YOUNG_S,
        block=block,
        block_time_s=context.chain.block_time_s,
        node=context.node,
        capabilities=context.capabilities,
    )
    return {key: _KnownAge(age="old", by=evidence) for key, evidence in found.items()}


async def _find_owners(
    context: ChainContext,
    pools: Sequence[ValuedPool],
    parties: TokenParties,
    made: Mapping[str, int],
    *,
    block: BlockRef,
) -> list[OwnedPool]:
    """Raises UpstreamError."""
    if not pools:
        return []
    return await find_ownership(
        context.chain,
        [(pool.candidate, pool.state) for pool in pools],
        parties,
        created=made,
        block=block,
        node=context.node,
        capabilities=context.capabilities,
        index=context.index,
    )
