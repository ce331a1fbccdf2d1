"""Clauses on programs attached to pools (hooks): their fees and the only router. Pure."""

from api.formats.prose.proofs import HookSeen
from api.formats.prose.prose import percent, short
from api.formats.prose.rendered_report import RenderedReport

HOOK = "a program of its pool (a hook)"
"""Name of a hook in sentences."""

SHOWN_FEE_PCT = 1.0
"""Percent. A lower fee is that of an ordinary pool."""


def hook_of(rendered: RenderedReport) -> HookSeen | None:
    """Return the hook of the deepest pool. None: it has none."""
    pools = rendered.report.pools or ()
    first = pools[0] if pools else None
    keys = () if first is None else (first.pool, first.pool_id)
    return next((hook for hook in rendered.proofs.hooks() if hook.pool in keys), None)


def hook_fee_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on the fee that a hook sets. None: there is none, or it is small."""
    hook = hook_of(rendered)
    if hook is None or hook.fee_pct is None or hook.fee_pct < SHOWN_FEE_PCT:
        return None
    fee = percent(hook.fee_pct)
    return f"each trade costs a {fee} fee, which {HOOK} can change"


def router_clause(rendered: RenderedReport) -> str | None:
    """Build the clause on the only router. None: no such rule was found."""
    hook = hook_of(rendered)
    if hook is None or hook.only_router is None:
        return None
    return f"you can trade it only through one router, {short(hook.only_router)}"


def takes_tax(rendered: RenderedReport) -> bool:
    """True if the taxes of trades are the hook's: the token itself takes none."""
    hook, token = hook_of(rendered), rendered.report.token
    is_untaxed = not token.send_tax and not token.receive_tax
    of_code = rendered.report.static.has_tax_functionality
    return hook is not None and hook.takes_part and is_untaxed and of_code is False
