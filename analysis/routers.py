"""What the configured routers really are, read from the chain once and remembered.

A router of another factory, or none at all, would make every trade fail and look like a scam; so a
pool is only traded through a router that was seen to belong to its factory.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from analysis.abi import call, code_at, decode_address, read_code, read_reply
from analysis.discovery import Candidate
from analysis.market import TRADED_KINDS
from analysis.node import RpcAnswer
from analysis.venues import amm_v3
from config.chains import Dex
from config.jsonrpc import RpcRequest
from config.primitives import Address, Hash32


class RouterFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One router as found on the chain."""

    has_code: bool
    factory: Address | None
    """What factory() answers. None: it does not."""
    form: amm_v3.RouterForm | None
    """The V3 call shape it speaks. None: none that we know."""


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
        form=amm_v3.find_form(code),
    )


def fault_of(candidate: Candidate, facts: RouterFacts | None) -> str | None:
    """Why this pool cannot be traded through its venue's router. None: it can."""
    dex = candidate.dex
    if facts is None:
        return f"{dex.name} has no router configured"
    if not facts.has_code:
        return f"there is no contract at the router of {dex.name}"
    if facts.factory not in (None, dex.factory):
        return f"the router of {dex.name} belongs to another factory"
    if dex.kind == "AmmV3" and (facts.form is None or candidate.fee is None):
        return f"the router of {dex.name} speaks no known form of exactInputSingle"
    return None
