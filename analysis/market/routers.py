"""Router discovery and trade routes: reads each configured router from the chain once, and chooses
how a pool is traded.

Trades through a router of another factory, or through none, would all revert and look like a scam.
So a pool is traded through its venue's router only where that router was seen to belong to the
pool's factory, and otherwise through our own probe router.
"""

from collections.abc import Iterable, Mapping
from functools import partial

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.market.venues.swaps import native_coin_forms
from analysis.market.venues.trade_route import CoinForm, RouterForm, TradeRoute, find_forms
from analysis.market.venues.venue import RouterTrades
from analysis.market.venues.venue_registry import ROUTER_FORMS, venue_of
from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Chain
from core.evm.primitives import Address


class RouterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """A router as read from the chain."""

    has_code: bool
    factory: Address | None
    """Answer of `factory()`. None: it does not answer."""
    forms: tuple[RouterForm, ...]
    """Known swap functions found in its code."""
    coins: tuple[CoinForm, ...] = ()
    """Known functions found in its code that swap against the native coin."""


def unread(chain: Chain, facts: Mapping[Address, RouterFacts]) -> tuple[Address, ...]:
    """Return the routers, and Permit2, that have not been read yet."""
    routers = [dex.router for dex in chain.dexes if dex.router]
    if chain.permit2 is not None:
        routers.append(chain.permit2.address)
    return tuple(dict.fromkeys(router for router in routers if router not in facts))


class RouterReads:
    """Reads of one router: its code and `factory()`."""

    def __init__(self, batch: ReadBatch, router: Address) -> None:
        self._batch = batch
        self._code = batch.code(router)
        self._factory = batch.call(router, "factory()", returns=decode_address)

    def read(self, *, wrapped: Address) -> RouterFacts:
        """Decode the answers. `wrapped` is the chain's wrapped coin. Raises UpstreamError."""
        code = self._batch[self._code]
        forms = find_forms(code, ROUTER_FORMS)
        coins = [one for form in forms for one in form.coins]
        return RouterFacts(
            has_code=bool(code),
            factory=self._batch[self._factory],
            forms=forms,
            coins=native_coin_forms.find_coin_forms(code, coins, wrapped=wrapped),
        )


def find_route(
    candidate: Candidate,
    facts: RouterFacts | None,
    *,
    free: Address,
    wrapped: Address | None = None,
) -> TradeRoute | str:
    """Return the trade route of a pool, or the reason why there is none.

    The venue's router comes first: tokens make exceptions for routers. `free`: an unused address
    for our own router. `wrapped`: the chain's wrapped coin; None: no trades for the native coin in
    pools of the wrapped one.
    """
    dex, venue = candidate.dex, venue_of(candidate.dex)
    side = wrapped if candidate.quote == wrapped else None
    router = dex.router if facts is not None and facts.has_code else None
    if router is None or facts is None:
        return venue.route(candidate, free, wrapped=side, permit2=None)
    if venue.router is None:
        return venue.route(candidate, router, wrapped=side, permit2=None)
    form = _form_for(candidate, venue.router, facts)
    if form is None:
        return venue.route(candidate, free, wrapped=side, permit2=None)
    return _routed(venue.router, router, form, facts, wrapped=side)


def find_routes(
    candidate: Candidate, facts: Mapping[Address, RouterFacts], chain: Chain, *, free: Address
) -> tuple[TradeRoute, ...] | str:
    """Return all trade routes of a pool, the usual one first, or the reason why there is none.

    `facts` are by router, as far as they were read. The second route moves tokens through Permit2
    and the chain's universal router, for tokens that can be sold only that way. It exists only
    where Permit2 has code.
    """
    dex, wrapped = candidate.dex, chain.wrapped_native.address
    own = facts.get(dex.router) if dex.router is not None else None
    usual = find_route(candidate, own, free=free, wrapped=wrapped)
    if isinstance(usual, str):
        return usual
    permit2 = chain.permit2
    if permit2 is None or permit2.address not in facts or not facts[permit2.address].has_code:
        return (usual,)
    side = wrapped if candidate.quote == wrapped else None
    other = venue_of(dex).route(
        candidate, permit2.router or free, wrapped=side, permit2=permit2.address
    )
    return (usual,) if isinstance(other, str) else (usual, other)


def knows_permit2(codes: Iterable[bytes], chain: Chain) -> bool:
    """True if one of the token's codes contains the address of Permit2 or of the universal
    router."""
    if chain.permit2 is None:
        return False
    known = [chain.permit2.address, chain.permit2.router or chain.permit2.address]
    return any(bytes.fromhex(address[2:]) in code for code in codes for address in known)


def _form_for(candidate: Candidate, trades: RouterTrades, facts: RouterFacts) -> RouterForm | None:
    """Return the best function by which the router can trade this pool. None: none that is safe."""
    if facts.factory not in (None, candidate.dex.factory):
        return None
    return next(
        (
            form
            for form in trades.forms_of(candidate)
            if form in facts.forms and (facts.factory is not None or not form.needs_factory)
        ),
        None,
    )


def _routed(
    trades: RouterTrades,
    router: Address,
    form: RouterForm,
    facts: RouterFacts,
    *,
    wrapped: Address | None,
) -> TradeRoute:
    """Return a route through the venue's router. `wrapped`: the pool's other token, if that is the
    wrapped coin."""
    coins = next((one for one in form.coins if one in facts.coins), None) if wrapped else None
    return TradeRoute(
        router=router,
        swap_data=form.data,
        coin_buy_data=coins.buy_data if coins else None,
        coin_sell_data=coins.sell_data if coins else None,
        read_coins=(
            partial(native_coin_forms.read_unwrapped, wrapped=wrapped, router=router)
            if coins and wrapped
            else None
        ),
        quote_data=form.quote.data if form.quote else None,
        must_quote=trades.must_quote,
        read_moved=trades.read_moved,
        takes_all=trades.takes_all,
    )
