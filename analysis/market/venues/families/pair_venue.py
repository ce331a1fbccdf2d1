"""Venues of pairs: a contract per two tokens, or per two tokens and curve, that keeps reserves.

Sources: the pool interfaces of Uniswap V2 and Solidly.
"""

from collections.abc import Callable, Sequence

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate, PoolState
from analysis.market.venues.swaps import pair_swap, probe_router
from analysis.market.venues.trade_route import RouterForm, TradeRoute
from analysis.market.venues.venue import RouterTrades, Venue
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import NoAnswer
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from config.facts.pool_family import DexKind
from core.evm.primitives import Address, RawAmount

_RESERVES_BYTES = 64


class ReserveReads:
    """The read of one pair's reserves."""

    def __init__(
        self,
        batch: ReadBatch,
        pair: Candidate | Lookup,
        pool: Address | AnswerAddress,
    ) -> None:
        self._batch = batch
        self._reserves = batch.call(pool, "getReserves()")

    def read(self, candidate: Candidate) -> PoolState | None:
        """Decode the state of the pair. None: it did not answer as pairs do. Raises
        UpstreamError."""
        reply = self._batch[self._reserves]
        if isinstance(reply, NoAnswer) or len(reply) < _RESERVES_BYTES:
            return None
        reserves = int.from_bytes(reply[:32], "big"), int.from_bytes(reply[32:64], "big")
        token, quote = reserves if candidate.token_is_0 else reserves[::-1]
        return PoolState(
            token_reserve_raw=RawAmount(token),
            quote_reserve_raw=RawAmount(quote),
            in_range_liquidity=None,
            # The price of a stable pair depends on decimals that are not read here.
            price=quote / token if token and not candidate.stable else None,
        )


def pair_venue(
    *,
    kind: DexKind,
    lookups: Callable[[Dex, Address, Address], Sequence[Lookup]],
    every_form: tuple[RouterForm, ...],
    must_quote: bool = False,
) -> Venue:
    """Return a venue of pairs. Routers may have any of the forms, the best first."""
    return Venue(
        kind=kind,
        lookups=lookups,
        request_pool=ReserveReads,
        liquidity_form=lambda _: "lp_tokens",
        router=RouterTrades(
            every_form=every_form,
            forms_of=lambda _: every_form,
            read_moved=pair_swap.read_moved,
            must_quote=must_quote,
            takes_all=True,
        ),
        route=_route,
    )


def _route(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute:
    fee_bp = candidate.dex.fee_bp
    return probe_router.pair_way(router, fee_bp=fee_bp, wrapped=wrapped, permit2=permit2)
