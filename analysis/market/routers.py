"""Router discovery and trade routes: reads each configured router from the chain once, and chooses
how a pool is traded.

Trades through a router of another factory, or through none, would all revert and look like a scam.
So a pool is traded through its venue's router only where that router was seen to belong to the
pool's factory, and otherwise through our own probe router.
"""

from collections.abc import Iterable, Mapping
from functools import partial

import msgspec

from analysis.market.pool_ranking import TRADED_KINDS
from analysis.market.venues import (
    native_coin_forms,
    probe_router,
    solidly,
    uniswap_v2,
    uniswap_v3,
    uniswap_v4_swap,
)
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import CoinForm, Reach, RouterForm, TradeRoute, find_forms
from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from config.chains import Chain, Dex
from core.primitives import Address

_ALL_FORMS = (
    *uniswap_v2.FORMS,
    *solidly.FORMS,
    *uniswap_v3.FORMS_BY_FEE,
    *uniswap_v3.FORMS_BY_SPACING,
    *uniswap_v3.FORMS_ALGEBRA,
)


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
    """Return the routers of traded kinds, and Permit2, that have not been read yet."""
    routers = [dex.router for dex in chain.dexes if dex.kind in TRADED_KINDS and dex.router]
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
        forms = find_forms(code, _ALL_FORMS)
        coins = [one for form in forms for one in form.coins]
        return RouterFacts(
            has_code=bool(code),
            factory=self._batch[self._factory],
            forms=forms,
            coins=native_coin_forms.find_coin_forms(code, coins, wrapped=wrapped),
        )


def way_of(
    candidate: Candidate,
    facts: RouterFacts | None,
    *,
    free: Address,
    wrapped: Address | None = None,
) -> TradeRoute | str:
    """Return the route by which this pool is traded, or a text that says why there is none.

    The venue's router comes first: tokens make exceptions for routers. `free` is an unused address
    where our own router may be put. `wrapped` is the chain's wrapped coin; None: no trades for the
    native coin in pools of the wrapped one.
    """
    dex = candidate.dex
    form = _form_for(candidate, facts) if facts is not None and facts.has_code else None
    side = wrapped if candidate.quote == wrapped else None
    if form is not None and facts is not None and dex.router is not None:
        return _routed(candidate, dex.router, form, facts, wrapped=side)
    router = _known_router(dex, facts) if dex.kind == "AmmV4" else None
    return _ours(candidate, router or free, wrapped=side, permit2=None)


def ways_of(
    candidate: Candidate, facts: Mapping[Address, RouterFacts], chain: Chain, *, free: Address
) -> tuple[TradeRoute, ...] | str:
    """Return every route by which this pool is traded, the usual one first, or a text that says why
    there is none.

    `facts` are by router, as far as they were read. The second route moves tokens through Permit2
    and the chain's universal router, as wallets do, for tokens that can be sold only so. It is
    there only where Permit2 has code.
    """
    dex, wrapped = candidate.dex, chain.wrapped_native.address
    own = facts.get(dex.router) if dex.router is not None else None
    usual = way_of(candidate, own, free=free, wrapped=wrapped)
    if isinstance(usual, str):
        return usual
    permit2 = chain.permit2
    if permit2 is None or permit2.address not in facts or not facts[permit2.address].has_code:
        return (usual,)
    side = wrapped if candidate.quote == wrapped else None
    other = _ours(candidate, permit2.router or free, wrapped=side, permit2=permit2.address)
    return (usual,) if isinstance(other, str) else (usual, other)


def knows_permit2(codes: Iterable[bytes], chain: Chain) -> bool:
    """True if one of the token's codes contains the address of Permit2 or of the universal
    router."""
    if chain.permit2 is None:
        return False
    known = [chain.permit2.address, chain.permit2.router or chain.permit2.address]
    return any(bytes.fromhex(address[2:]) in code for code in codes for address in known)


def reach_of(candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
    """Return the call that measures what this pool would take and give without any payment. None:
    pools of its kind always trade, or how it is called is not known.

    `free` is an unused address for our own router. `mark` is a secret value that authenticates the
    answer, so that a token cannot answer in the pool's place.
    """
    if candidate.dex.kind == "AmmV4":
        key = uniswap_v4_swap.pool_key(candidate)
        if key is None or candidate.dex.variant is not None:
            return None
        return probe_router.managed_reach(free, key, mark=mark, hooks=candidate.hooks)
    if candidate.dex.kind in ("AmmV2", "Solid") or not uniswap_v3.has_pool_call(candidate):
        return None
    return probe_router.pool_reach(free, mark=mark)


def _ours(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute | str:
    """Return a route through our own router at `router`, or a text that says why there is none.

    On V4 our router replaces the venue's at its address where there is one: every contract may swap
    there, hooks distinguish callers, and the forms of the real router change from release to
    release.
    """
    dex = candidate.dex
    if dex.kind == "AmmV4":
        if dex.variant is not None:
            return f"pools of {dex.name} are traded otherwise than Uniswap's"
        key = uniswap_v4_swap.pool_key(candidate)
        if key is None:
            return "the pool's key is not known"
        return probe_router.managed_way(router, key, permit2=permit2)
    if dex.kind in ("AmmV2", "Solid"):
        return probe_router.pair_way(router, fee_bp=dex.fee_bp, wrapped=wrapped, permit2=permit2)
    if uniswap_v3.has_pool_call(candidate):
        return probe_router.pool_way(router, wrapped=wrapped, permit2=permit2)
    return f"how pools of {dex.name} are called is not known"


def _known_router(dex: Dex, facts: RouterFacts | None) -> Address | None:
    return dex.router if facts is not None and facts.has_code else None


def _form_for(candidate: Candidate, facts: RouterFacts) -> RouterForm | None:
    """Return the best function by which the router can trade this pool. None: none that is safe.

    A router without `factory()` is used only where a mistake would show: V2's quote fails then, and
    Aerodrome's path contains the factory itself.
    """
    forms = [form for form in _forms_of(candidate) if form in facts.forms]
    if facts.factory is None:
        forms = [form for form in forms if form in (*uniswap_v2.FORMS, solidly.FORM_OF_FACTORY)]
    return forms[0] if forms and facts.factory in (None, candidate.dex.factory) else None


def _forms_of(candidate: Candidate) -> tuple[RouterForm, ...]:
    if candidate.dex.kind == "AmmV4":
        return ()
    if candidate.dex.kind == "AmmV2":
        return uniswap_v2.FORMS
    return solidly.FORMS if candidate.dex.kind == "Solid" else uniswap_v3.forms_of(candidate)


def _routed(
    candidate: Candidate,
    router: Address,
    form: RouterForm,
    facts: RouterFacts,
    *,
    wrapped: Address | None,
) -> TradeRoute:
    """Return a route through the venue's router. `wrapped`: the pool's other token, if that is the
    wrapped coin."""
    is_pair = candidate.dex.kind in ("AmmV2", "Solid")
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
        # V2's quote reads reserves only. A stable curve may have no quote for an amount.
        must_quote=candidate.dex.kind == "AmmV2",
        read_moved=uniswap_v2.read_moved if is_pair else uniswap_v3.read_moved,
        takes_all=is_pair,
    )
