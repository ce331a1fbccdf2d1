"""Liquidity Book of Trader Joe (LFJ) since 2.1: pairs that keep their tokens in bins of one price
each, keyed by two tokens and bin step.

A pair's tokens X and Y stand in the order in which its creator named them. Source: joe-v2
ILBFactory, ILBPair.
"""

from collections.abc import Sequence

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.state.bin_price import bin_price
from analysis.market.venues.swaps import probe_router
from analysis.market.venues.trade_route import Reach, TradeRoute
from analysis.market.venues.venue import Venue
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import WORD, NoAnswer, decode_address, decode_uint
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.primitives import Address, RawAmount

_STEPS = (1, 2, 5, 10, 15, 20, 25, 50, 80, 100)
"""Bin steps in basis points that the factories' presets have."""


class BookReads:
    """Reads of one pair's reserves, order of tokens and current bin."""

    def __init__(
        self, batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
    ) -> None:
        self._batch = batch
        self._reserves = batch.call(pool, "getReserves()")
        self._token_x = batch.call(pool, "getTokenX()", returns=decode_address)
        self._bin = batch.call(pool, "getActiveId()", returns=decode_uint)

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pair. None: it did not answer as its kind does. Raises
        UpstreamError."""
        reply, token_x = self._batch[self._reserves], self._batch[self._token_x]
        if isinstance(reply, NoAnswer) or len(reply) < 2 * WORD:
            return None
        if token_x not in (candidate.token, candidate.quote):
            return None
        is_x = token_x == candidate.token
        x, y = (int.from_bytes(reply[at : at + WORD], "big") for at in (0, WORD))
        token, quote = (x, y) if is_x else (y, x)
        return PoolState(
            token_reserve_raw=RawAmount(token),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=None,
            price=bin_price(self._batch[self._bin], candidate.tick_spacing, token_is_x=is_x),
        )


def _lookups(dex: Dex, token: Address, quote: Address) -> Sequence[Lookup]:
    return [
        Lookup(
            dex=dex,
            token=token,
            quote=quote,
            getter="getLBPairInformation(address,address,uint256)",
            key=(step,),
            tick_spacing=step,
            address_word=1,
        )
        for step in dex.fee_tiers or _STEPS
    ]


def _route(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute:
    return probe_router.book_way(router, wrapped=wrapped, permit2=permit2)


def _reach(candidate: Candidate, *, free: Address, mark: Address) -> Reach:
    return probe_router.book_reach(free)


# Without `router`: pairs let every contract trade, and have no owner's exceptions.
VENUE = Venue(
    kind="LiquidityBook",
    liquidity_form=lambda _: "book_bins",
    lookups=_lookups,
    request_pool=BookReads,
    route=_route,
    reach=_reach,
)
