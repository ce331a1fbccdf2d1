"""What the configured routers really are, read from the chain once and remembered; and how a pool
is traded, which follows from it.

A router of another factory, or none at all, would make every trade fail and look like a scam; so a
pool is traded through its venue's router only where that was seen to belong to its factory, and
else through a router of our own.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from analysis.abi import call, code_at, decode_address, read_code, read_reply
from analysis.discovery import Candidate
from analysis.market import TRADED_KINDS
from analysis.node import RpcAnswer
from analysis.venues import amm_v2, amm_v3, solid, stage_router, v4_swap
from analysis.venues.swap import RouterForm, Way, find_forms
from config.chains import Dex
from config.jsonrpc import RpcRequest
from config.primitives import Address, Hash32

_ALL_FORMS = (
    *amm_v2.FORMS,
    *solid.FORMS,
    *amm_v3.FORMS_BY_FEE,
    *amm_v3.FORMS_BY_SPACING,
    *amm_v3.FORMS_ALGEBRA,
)


class RouterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One router as found on the chain."""

    has_code: bool
    factory: Address | None
    """What factory() answers. None: it does not."""
    forms: tuple[RouterForm, ...]
    """The known ways to swap that it has."""


def unread(dexes: Iterable[Dex], facts: Mapping[Address, RouterFacts]) -> tuple[Address, ...]:
    """Routers of traded kinds that have not been read yet."""
    routers = (dex.router for dex in dexes if dex.kind in TRADED_KINDS and dex.router)
    return tuple(dict.fromkeys(router for router in routers if router not in facts))


def requests(router: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Code and factory."""
    return code_at(router, block=block), call(router, "factory()", block=block)


def read(answers: Sequence[RpcAnswer]) -> RouterFacts:
    """Raises UpstreamError."""
    code = read_code(answers[0])
    return RouterFacts(
        has_code=bool(code),
        factory=decode_address(read_reply(answers[1])),
        forms=find_forms(code, _ALL_FORMS),
    )


def way_of(candidate: Candidate, facts: RouterFacts | None, *, free: Address) -> Way | str:
    """How to trade in this pool, or why it cannot be done.

    The venue's router comes first: tokens make exceptions for routers. `free` is an address that
    nobody knows, where a router of ours may stand.
    """
    dex = candidate.dex
    if dex.kind == "AmmV4":
        return _managed(candidate, facts, free=free)
    form = _form_for(candidate, facts) if facts is not None and facts.has_code else None
    if form is not None and dex.router is not None:
        return _routed(candidate, dex.router, form)
    if dex.kind in ("AmmV2", "Solid"):
        return stage_router.pair_way(free, fee_bp=dex.fee_bp)
    if amm_v3.has_pool_call(candidate):
        return stage_router.pool_way(free)
    return f"how pools of {dex.name} are called is not known"


def _form_for(candidate: Candidate, facts: RouterFacts) -> RouterForm | None:
    """The best form in which the router can be asked for this pool. None: none that is safe.

    A router that names no factory is trusted where a mistake would be seen: V2's quote fails then,
    and Aerodrome's path names the factory itself.
    """
    forms = [form for form in _forms_of(candidate) if form in facts.forms]
    if facts.factory is None:
        forms = [form for form in forms if form in (*amm_v2.FORMS, solid.FORM_OF_FACTORY)]
    return forms[0] if forms and facts.factory in (None, candidate.dex.factory) else None


def _forms_of(candidate: Candidate) -> tuple[RouterForm, ...]:
    if candidate.dex.kind == "AmmV2":
        return amm_v2.FORMS
    return solid.FORMS if candidate.dex.kind == "Solid" else amm_v3.forms_of(candidate)


def _routed(candidate: Candidate, router: Address, form: RouterForm) -> Way:
    is_pair = candidate.dex.kind in ("AmmV2", "Solid")
    return Way(
        router=router,
        swap_data=form.data,
        quote_data=form.quote.data if form.quote else None,
        # V2's reads reserves only. A stable curve may have no answer for an amount.
        must_quote=candidate.dex.kind == "AmmV2",
        read_moved=amm_v2.read_moved if is_pair else amm_v3.read_moved,
        takes_all=is_pair,
    )


def _managed(candidate: Candidate, facts: RouterFacts | None, *, free: Address) -> Way | str:
    """V4's managers let every contract swap, so ours does; it takes the place of the venue's router
    where there is one, because hooks tell apart who calls, and the forms of the real one change
    from release to release."""
    dex = candidate.dex
    if dex.variant is not None:
        return f"pools of {dex.name} are traded otherwise than Uniswap's"
    key = v4_swap.pool_key(candidate)
    if key is None:
        return "the pool's key is not known"
    known = dex.router if facts is not None and facts.has_code else None
    return stage_router.managed_way(known or free, key)
