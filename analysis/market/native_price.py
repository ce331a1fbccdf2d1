"""Native coin price: the chain's Chainlink feed, then the deepest native/stable pool.

Source: Chainlink AggregatorV3Interface, latestRoundData.
"""

from collections.abc import Iterable

from analysis.market.liquidity_value import Price
from analysis.market.pool_discovery import find_lookups
from analysis.market.pool_reads import request_pool
from analysis.market.venues.pool import Candidate, PoolState
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import NoAnswer
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Anchor, Chain, Oracle
from core.evm.primitives import ZERO_ADDRESS, Address

_GRACE_S = 3_600
"""Delay past its heartbeat after which a feed's answer is stale."""

_ROUND_BYTES = 160
_HIGHEST_ANSWER = 2**255


class OracleRead:
    """Read of the feed's latest round."""

    def __init__(self, batch: ReadBatch, oracle: Oracle) -> None:
        self._batch = batch
        self._oracle = oracle
        self._round = batch.call(oracle.native_usd, "latestRoundData()")

    def read(self, *, time_s: int) -> float | None:
        """Return USD of one native coin. None: no such feed, an answer out of range, or one stale
        at `time_s`.

        Raises UpstreamError.
        """
        oracle, reply = self._oracle, self._batch[self._round]
        if isinstance(reply, NoAnswer) or len(reply) < _ROUND_BYTES:
            return None
        price = int.from_bytes(reply[32:64], "big")
        updated_at_s = int.from_bytes(reply[96:128], "big")
        if not 0 < price < _HIGHEST_ANSWER or time_s - updated_at_s > oracle.heartbeat_s + _GRACE_S:
            return None
        return float(price / 10**oracle.decimals)


def price_from_pools(
    chain: Chain, pools: Iterable[tuple[Candidate, PoolState | None]]
) -> float | None:
    """Return USD of one native coin by the native/stable pool with most stables. None: no such
    pool.

    `pools` pair the wrapped coin (as token) with a stable (as quote). A state is None where the
    pool did not answer.
    """
    native_unit = 10**chain.wrapped_native.decimals
    units = {stable.address: 10**stable.decimals for stable in chain.stables}
    deepest: tuple[float, float] | None = None
    for candidate, state in pools:
        if state is None or state.price is None or state.in_range_liquidity == 0:
            continue
        unit = units[candidate.quote]
        depth_usd, usd = state.quote_reserve_raw / unit, state.price * native_unit / unit
        if deepest is None or depth_usd > deepest[0]:
            deepest = depth_usd, usd
    return None if deepest is None else deepest[1]


def anchor_prices(chain: Chain, native_usd: float | None) -> dict[Address, Price]:
    """Return the prices of the anchors: stables at 1 USD; the native coin, wrapped or not, where
    known."""

    def price(anchor: Anchor, usd: float) -> Price:
        return Price(usd=usd, decimals=anchor.decimals)

    prices = {stable.address: price(stable, 1.0) for stable in chain.stables}
    if native_usd is not None:
        native = price(chain.wrapped_native, native_usd)
        prices |= {chain.wrapped_native.address: native, ZERO_ADDRESS: native}
    return prices


class NativePools:
    """The reads that find the native/stable pools and their reserves, and the price from their
    answers."""

    def __init__(self, batch: ReadBatch, chain: Chain) -> None:
        stables = [stable.address for stable in chain.stables]
        self._batch = batch
        self._chain = chain
        lookups = find_lookups(chain.dexes, chain.wrapped_native.address, stables)
        found = [(lookup, AnswerAddress(lookup.request(batch))) for lookup in lookups]
        self._pools = [(lookup, pool, request_pool(batch, lookup, pool)) for lookup, pool in found]

    def read(self) -> float | None:
        """Return USD of one native coin. None: no pool has a price. Raises UpstreamError."""
        return price_from_pools(
            self._chain,
            [
                (pool, reserves.read(pool))
                for lookup, address, reserves in self._pools
                if (pool := lookup.candidate(self._batch.resolve(address))) is not None
            ],
        )
