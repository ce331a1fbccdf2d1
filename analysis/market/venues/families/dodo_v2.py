"""DODO V2: proactive market makers that trade around a price of their owner or an oracle.

A pool trades the amount that arrived since its last trade, with any caller. Source:
DODOEX/contractV2 DVMTrader, DPPTrader, DSPTrader, DVMFactory; probes/StageRouter.sol.
"""

from collections.abc import Sequence

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.swaps import probe_router
from analysis.market.venues.trade_route import TradeRoute
from analysis.market.venues.venue import Venue
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import WORD, NoAnswer, decode_address, decode_uint
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.primitives import Address, RawAmount

_ONE = 10**18


class MarketMakerReads:
    """Reads of one pool's tokens, reserves and price."""

    def __init__(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> None:
        self._batch = batch
        self._base = batch.call(pool, "_BASE_TOKEN_()", returns=decode_address)
        self._quote = batch.call(pool, "_QUOTE_TOKEN_()", returns=decode_address)
        self._reserves = batch.call(pool, "getVaultReserve()")
        self._price = batch.call(pool, "getMidPrice()", returns=decode_uint)

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pool. None: it did not answer as its kind does. Raises
        UpstreamError."""
        reply = self._batch[self._reserves]
        if isinstance(reply, NoAnswer) or len(reply) < 2 * WORD:
            return None
        sides = self._batch[self._base], self._batch[self._quote]
        if {*sides} != {candidate.token, candidate.quote}:
            return None
        is_base = sides[0] == candidate.token
        base, quote = (int.from_bytes(reply[at : at + WORD], "big") for at in (0, WORD))
        price = self._batch[self._price]
        return PoolState(
            token_reserve_raw=RawAmount(base if is_base else quote),
            quote_reserve_raw=RawAmount(quote if is_base else base),
            in_range_liquidity=None,
            price=(price / _ONE if is_base else _ONE / price) if price else None,
        )


def _lookups(dex: Dex, token: Address, quote: Address) -> Sequence[Lookup]:
    return [
        Lookup(
            dex=dex,
            token=token,
            quote=quote,
            getter="_REGISTRY_(address,address,uint256)",
            key=(0,),  # the first pool of a base and a quote; the index knows all
            quote_first=quote_first,
        )
        for quote_first in (False, True)
    ]


def _route(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute:
    return probe_router.maker_way(router, wrapped=wrapped, permit2=permit2)


# Without `router`: pools let every contract trade.
VENUE = Venue(kind="DodoV2", lookups=_lookups, request_pool=MarketMakerReads, route=_route)
