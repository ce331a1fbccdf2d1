"""What the configured routers really are, read from the chain once and remembered; and how a pool
is traded, which follows from it.

A router of another factory, or none at all, would make every trade fail and look like a scam; so a
pool is traded through its venue's router only where that was seen to belong to its factory, and
else through a router of our own.
"""

from collections.abc import Iterable, Mapping, Sequence
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
from analysis.reads.eth_reads import call, code_at, decode_address, read_code, read_reply
from config.chains import Chain, Dex
from config.jsonrpc import RpcAnswer, RpcRequest
from config.primitives import Address, Hash32

_ALL_FORMS = (
    *uniswap_v2.FORMS,
    *solidly.FORMS,
    *uniswap_v3.FORMS_BY_FEE,
    *uniswap_v3.FORMS_BY_SPACING,
    *uniswap_v3.FORMS_ALGEBRA,
)


class RouterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One router as found on the chain."""

    has_code: bool
    factory: Address | None
    """What factory() answers. None: it does not."""
    forms: tuple[RouterForm, ...]
    """The known ways to swap that it has."""
    coins: tuple[CoinForm, ...] = ()
    """Those that trade for the chain's coin."""


def unread(chain: Chain, facts: Mapping[Address, RouterFacts]) -> tuple[Address, ...]:
    """Routers of traded kinds, and Permit2, as far as they have not been read yet."""
    routers = [dex.router for dex in chain.dexes if dex.kind in TRADED_KINDS and dex.router]
    if chain.permit2 is not None:
        routers.append(chain.permit2.address)
    return tuple(dict.fromkeys(router for router in routers if router not in facts))


def requests(router: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Code and factory."""
    return code_at(router, block=block), call(router, "factory()", block=block)


def read(answers: Sequence[RpcAnswer], *, wrapped: Address) -> RouterFacts:
    """`wrapped`: the chain's wrapped coin. Raises UpstreamError."""
    code = read_code(answers[0])
    forms = find_forms(code, _ALL_FORMS)
    coins = [one for form in forms for one in form.coins]
    return RouterFacts(
        has_code=bool(code),
        factory=decode_address(read_reply(answers[1])),
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
    """How to trade in this pool, or why it cannot be done.

    The venue's router comes first: tokens make exceptions for routers. `free` is an address that
    nobody knows, where a router of ours may stand. `wrapped`: the chain's wrapped coin; None: no
    trades for the coin itself in its pools.
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
    """Every way to trade in this pool, the usual one first; or why it cannot be done.

    `facts` by router, as far as they were read. The second way is the one of wallets that ask
    Permit2 to move tokens, through the chain's universal router: for what sells only so. It is
    there where Permit2 has code.
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
    """Whether one of the token's codes names Permit2 or the universal router."""
    if chain.permit2 is None:
        return False
    known = [chain.permit2.address, chain.permit2.router or chain.permit2.address]
    return any(bytes.fromhex(address[2:]) in code for code in codes for address in known)


def reach_of(candidate: Candidate, *, free: Address, mark: Address) -> Reach | None:
    """How this pool is asked what it would take and give. None: its kind always trades, or how it
    is called is not known. `free` and `mark`: addresses that nobody knows, the router of nobody."""
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
    """Through a router of ours at this address. On V4 it takes the place of the venue's router
    where there is one: every contract may swap there, hooks tell apart who calls, and the forms of
    the real one change from release to release."""
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
    """The best form in which the router can be asked for this pool. None: none that is safe.

    A router that names no factory is trusted where a mistake would be seen: V2's quote fails then,
    and Aerodrome's path names the factory itself.
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
    """`wrapped`: the other side is this, the wrapped coin."""
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
        # V2's reads reserves only. A stable curve may have no answer for an amount.
        must_quote=candidate.dex.kind == "AmmV2",
        read_moved=uniswap_v2.read_moved if is_pair else uniswap_v3.read_moved,
        takes_all=is_pair,
    )
