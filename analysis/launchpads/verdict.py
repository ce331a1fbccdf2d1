"""Who issued a token: the signals from the cheapest to the most expensive, the first one decides.

1. a creation event, by its emitter    2. the platform's registry    3. the token's code
4. who the token itself names, if that contract confirms it    5. the address, on chain 56 only

Source: the specification, "Launchpad".
"""

from collections.abc import Sequence

import msgspec

from analysis.launchpads import address_pattern, code_identity, registries
from analysis.launchpads.origin import Lead, Signal
from analysis.launchpads.registries import Record
from analysis.token.metadata import Metadata
from config.jsonrpc import RpcAnswer, RpcRequest
from config.primitives import Address, Hash32
from sql.rows import EvidenceRow

UNNAMED = "launchpad"
"""Provably issued by a launch platform that has no name here. Source: the specification."""


class IssuerOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """The verdict."""

    is_launchpad: bool | None
    """None: a read failed, and nothing else says yes."""
    name: str | None
    signal: Signal | None
    issuer: Address | None
    """The contract that announced, recorded or confirmed it."""
    unread: tuple[str, ...]
    unasked: tuple[str, ...]
    """Platforms that only the index can see, where it has not looked at all of their past."""

    @property
    def evidence(self) -> EvidenceRow:
        """What the verdict rests on."""
        body = msgspec.json.encode(
            {
                "platform": self.name,
                "signal": self.signal,
                "issuer": self.issuer,
                "not_read": self.unread,
                "not_asked": self.unasked,
            }
        )
        return EvidenceRow(key="is_launchpad_token", body=body.decode())


def confirm_requests(lead: Lead, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """The second round: does the issuer that the token names know it? Asked only where nothing
    else has answered."""
    if lead.proof is not None:
        return ()
    return tuple(
        one
        for question in lead.claims
        for one in registries.requests(question, lead.token, block=block)
    )


def conclude(
    lead: Lead,
    answers: Sequence[RpcAnswer],
    *,
    code: bytes,
    metadata: Metadata,
    has_pool: bool,
) -> IssuerOrigin:
    """The verdict. `answers` are those to `confirm_requests`; `has_pool` tells of ordinary pools.

    Examines the code where it is that of a minimal clone.
    """
    if lead.proof is not None:
        pad, signal, issuer = lead.proof
        return _yes(lead, pad.slug, signal, issuer)
    undenied = [pad for pad in lead.pads if pad not in lead.denied]
    for pad in code_identity.platforms_of(code, undenied):
        return _yes(lead, pad.slug, "code", None)
    unread = list(lead.unread)
    rest = iter(answers)
    for question in lead.claims:
        word = registries.read(question, lead.token, [next(rest), next(rest)])
        if isinstance(word, Record):
            return _yes(lead, UNNAMED, "getter", question.at)
        if word == "unread":
            unread.append(f"{question.registry.read} of {question.at}")
    silent = [pad for pad in undenied if pad not in lead.unread_pads]
    alike = address_pattern.platform_of(lead.token, metadata, silent) if has_pool else None
    if alike is not None:
        return _yes(lead, alike.slug, "address", None)
    return IssuerOrigin(
        is_launchpad=None if unread else False,
        name=None,
        signal=None,
        issuer=None,
        unread=tuple(unread),
        unasked=lead.unasked,
    )


def _yes(lead: Lead, name: str, signal: Signal, issuer: Address | None) -> IssuerOrigin:
    return IssuerOrigin(
        is_launchpad=True,
        name=name,
        signal=signal,
        issuer=issuer,
        unread=lead.unread,
        unasked=lead.unasked,
    )
