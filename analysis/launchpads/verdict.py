"""Verdict on a token's issuer: the first of five signals, from the cheapest to the most expensive.

1. a creation event, by its emitter    2. the platform's registry    3. the token's code
4. the issuer that the token names, if that contract confirms it
5. the address, on chain 56 only

Source: the specification, "Launchpad".
"""

from collections.abc import Iterable, Sequence

import msgspec

from analysis.launchpads.origin import OriginEvidence, Signal
from analysis.launchpads.registries import RegistryQuestion, RegistryReads, RegistryRecord, Word
from analysis.reads.read_batch import ReadBatch
from analysis.static.analyse_code import analyse_code
from analysis.token.metadata import Metadata
from config.facts.launchpad import Launchpad
from core.evm.keccak import keccak
from core.evm.primitives import Address
from core.report.report import EvidenceRow

UNNAMED = "launchpad"
"""Name for an issuer that is provably a launch platform, but not configured. Source: the
specification."""


class IssuerOrigin(msgspec.Struct, frozen=True, kw_only=True):
    """Launch platform of a token, with the signal that proves it."""

    is_launchpad: bool | None
    """None: a read failed, and no other signal is positive."""
    name: str | None
    signal: Signal | None
    issuer: Address | None
    """Contract that announced, recorded or confirmed the token."""
    unread: tuple[str, ...]
    unasked: tuple[str, ...]
    """Platforms that only the index can see, where it does not cover all of their past."""

    @property
    def evidence(self) -> EvidenceRow:
        """Return the evidence row of the verdict."""
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


class ConfirmationReads:
    """Reads of the second batch: confirmation by the issuer that the token names.

    Nothing is read where another signal has decided.
    """

    def __init__(self, batch: ReadBatch, lead: OriginEvidence) -> None:
        claims = lead.claims if lead.proof is None else ()
        self._registries = [(claim, RegistryReads(batch, claim, lead.token)) for claim in claims]

    def read(self) -> tuple[tuple[RegistryQuestion, Word], ...]:
        """Return the answer of each issuer about the token."""
        return tuple((claim, registry.read()) for claim, registry in self._registries)


def conclude(
    lead: OriginEvidence,
    confirmed: Sequence[tuple[RegistryQuestion, Word]],
    *,
    code: bytes,
    metadata: Metadata,
    has_pool: bool,
) -> IssuerOrigin:
    """Return the verdict. `confirmed` is from `ConfirmationReads`, `has_pool` about ordinary pools.

    Analyses the code where it may be that of a minimal clone.
    """
    if lead.proof is not None:
        pad, signal, issuer = lead.proof
        return _yes(lead, pad.slug, signal, issuer)
    undenied = [pad for pad in lead.pads if pad not in lead.denied]
    for pad in _platforms_by_code(code, undenied):
        return _yes(lead, pad.slug, "code", None)
    unread = list(lead.unread)
    for question, word in confirmed:
        if isinstance(word, RegistryRecord):
            return _yes(lead, UNNAMED, "getter", question.at)
        if word == "unread":
            unread.append(f"{question.registry.read} of {question.at}")
    silent = [pad for pad in undenied if pad not in lead.unread_pads]
    alike = _platform_by_address(lead.token, metadata, silent) if has_pool else None
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


def _yes(lead: OriginEvidence, name: str, signal: Signal, issuer: Address | None) -> IssuerOrigin:
    return IssuerOrigin(
        is_launchpad=True,
        name=name,
        signal=signal,
        issuer=issuer,
        unread=lead.unread,
        unasked=lead.unasked,
    )


_ISSUED_DECIMALS = 18
_ISSUED_SUPPLY_RAW = 10**9 * 10**_ISSUED_DECIMALS
"""Supply that four.meme, flap and the Pons forks issue; burning can only have lowered it."""


def _platform_by_address(
    token: Address, metadata: Metadata, pads: Iterable[Launchpad]
) -> Launchpad | None:
    """Return the first platform whose pattern fits. None: none does."""
    if metadata.decimals != _ISSUED_DECIMALS or not 0 < metadata.supply_raw <= _ISSUED_SUPPLY_RAW:
        return None
    return next((pad for pad in pads if pad.suffixes and token.endswith(pad.suffixes)), None)


_LONGEST_CLONE = 128
"""Longest code of a clone, in bytes. EIP-1167 takes 45, its successors with stored arguments
somewhat more."""


def _platforms_by_code(code: bytes, pads: Iterable[Launchpad]) -> tuple[Launchpad, ...]:
    """Return the platforms whose code this is, in their order."""
    known = [pad for pad in pads if pad.clones_of or pad.code_hashes]
    if not known or not code:
        return ()
    targets = analyse_code(code).delegation.targets if len(code) <= _LONGEST_CLONE else ()
    digest = "0x" + keccak(code).hex()
    return tuple(
        pad
        for pad in known
        if digest in pad.code_hashes or any(target in pad.clones_of for target in targets)
    )
