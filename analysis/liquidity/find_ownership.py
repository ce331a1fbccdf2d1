"""Finds the liquidity holders of several pools at one block, in at most six round trips for
all."""

from collections.abc import Mapping, Sequence
from itertools import zip_longest

import msgspec
import structlog

from analysis.liquidity.bin_holdings import bin_value_of
from analysis.liquidity.book_bins import BookBins
from analysis.liquidity.entry_bins import EntryBins
from analysis.liquidity.entry_positions import EntryPositions
from analysis.liquidity.holder_reads import LiquidityHolderReads
from analysis.liquidity.holdings import HoldingReads, PoolHoldings, ReadRound
from analysis.liquidity.liquidity_shares import (
    LiquidityShares,
    Parties,
    TokenParties,
    classify_shares,
)
from analysis.liquidity.lp_balances import LpBalances
from analysis.liquidity.minted_positions import MintedPositions
from analysis.liquidity.pool_history import PoolSpan
from analysis.liquidity.position_value import valuation_of
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.indexed_facts import FactsIndex, PoolEvents
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from config.burn import BURN_ADDRESSES
from config.facts.chain import Chain
from core.errors import StoreError
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef

_LOG = structlog.get_logger(__name__)


class OwnedPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool with the holders of its liquidity."""

    candidate: Candidate
    holdings: PoolHoldings
    ownership: LiquidityShares
    """Shares by value."""
    quote_ownership: LiquidityShares
    """Shares by the quote tokens, which are what sellers receive."""
    contracts: frozenset[Address]
    """Holders with code."""


async def find_ownership(
    chain: Chain,
    pools: Sequence[tuple[Candidate, PoolState]],
    parties: TokenParties,
    *,
    created: Mapping[str, int],
    block: BlockRef,
    node: Node,
    capabilities: NodeCapabilities,
    index: FactsIndex,
) -> list[OwnedPool]:
    """Return the pools in their order. Raises UpstreamError.

    `created`: block of a pool's creation, by Candidate.key, where it is known.
    """
    indexed = await _indexed(chain, [pool.key for pool, _ in pools], block, index)
    spans = [
        PoolSpan(
            pool=pool,
            from_block=created.get(pool.key),
            to_block=block.number,
            indexed=indexed.get(pool.key),
        )
        for pool, _ in pools
    ]
    readers = [
        _reader(chain, span, state, parties) for span, (_, state) in zip(spans, pools, strict=True)
    ]
    holder_reads = [LiquidityHolderReads(chain) for _ in readers]
    await _send(
        [
            [_with_codes(add_reads, reader, its) for add_reads in reader.rounds()]
            for reader, its in zip(readers, holder_reads, strict=True)
            if reader is not None
        ],
        block,
        node,
        capabilities,
    )
    holdings = [_NOT_READ if reader is None else reader.read() for reader in readers]
    more = [
        rounds
        for span, found, its in zip(spans, holdings, holder_reads, strict=True)
        for rounds in its.request_more(span, found)
    ]
    await _send(more, block, node, capabilities)
    quoted = [None if reader is None else reader.read_quote() for reader in readers]
    return [
        _owned(chain, pool, (found, quote or found), parties, its, now_s=block.time_s)
        for (pool, _), found, quote, its in zip(pools, holdings, quoted, holder_reads, strict=True)
    ]


async def _indexed(
    chain: Chain, pools: Sequence[str], block: BlockRef, index: FactsIndex
) -> Mapping[str, PoolEvents]:
    """Return the indexed events of the pools. Empty if the store fails: the node is queried
    then."""
    try:
        return await index.pool_events(chain, pools, block)
    except StoreError as error:
        _LOG.warning("events of pools not looked up", chain=chain.slug, why=str(error))
        return {}


def _with_codes(add_reads: ReadRound, reader: HoldingReads, its: LiquidityHolderReads) -> ReadRound:
    """Return the round with the code of the accounts that it names."""

    def both(batch: ReadBatch) -> None:
        add_reads(batch)
        its.request_codes(batch, reader.named())

    return both


async def _send(
    rounds: Sequence[Sequence[ReadRound]],
    block: BlockRef,
    node: Node,
    capabilities: NodeCapabilities,
) -> None:
    """Send the rounds of several readers in parallel, the rounds of each in turn."""
    for additions in zip_longest(*rounds):
        batch = ReadBatch(block.hash)
        for add_reads in additions:
            if add_reads is not None:
                add_reads(batch)
        await batch.send(node, capabilities)


_NOT_READ = PoolHoldings(total=1.0, gap="the holders of pools of this kind are not read")
"""All of the liquidity is unaccounted."""


def _owned(
    chain: Chain,
    pool: Candidate,
    found: tuple[PoolHoldings, PoolHoldings],
    parties: TokenParties,
    reads: LiquidityHolderReads,
    *,
    now_s: int,
) -> OwnedPool:
    """`found`: by value and by quote tokens."""
    contracts, (by_value, by_quote) = reads.contracts(), found
    known = Parties(
        pool=pool.pool,
        creator=parties.creator,
        owner=parties.owner,
        lockers=chain.locker_names,
        locks=reads.locks(),
        contracts=contracts,
    )
    return OwnedPool(
        candidate=pool,
        holdings=by_value,
        ownership=classify_shares(by_value, known, now_s=now_s),
        quote_ownership=classify_shares(by_quote, known, now_s=now_s),
        contracts=contracts,
    )


def _reader(
    chain: Chain, span: PoolSpan, state: PoolState, parties: TokenParties
) -> HoldingReads | None:
    """Return the reader of the pool's family. None: there is none, or the price is not known."""
    pool = span.pool
    form = venue_of(pool.dex).liquidity_form(pool.dex)
    makers = [one for one in (parties.creator, parties.owner) if one is not None]
    if form == "lp_tokens":
        return LpBalances(span, (*sorted(BURN_ADDRESSES), *chain.locker_names, *makers))
    if form in ("entry_bins", "book_bins"):
        worth = bin_value_of(state)
        bins = EntryBins if form == "entry_bins" else BookBins
        if worth is None:
            return None
        return bins(span, worth)
    value = valuation_of(pool, state)
    if form is None or value is None:
        return None
    if form == "entry_positions":
        return EntryPositions(span, value)
    burnt = sorted(BURN_ADDRESSES - {ZERO_ADDRESS})
    lockers = (at for one in chain.lockers if one.records in _OF_POSITIONS for at in one.contracts)
    return MintedPositions(span, value, (*makers, pool.token, *burnt, *lockers))


_OF_POSITIONS = ("uncx_v3", "never_released")
"""Records of lockers for positions."""
