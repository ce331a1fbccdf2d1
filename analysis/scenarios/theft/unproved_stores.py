"""Unproved stores: stores of unproved custody that remain open given the addresses now in storage.

Sends no request.
"""

from collections.abc import Iterator, Mapping, Sequence, Set

import msgspec

from analysis.scenarios.theft.theft_attempts import TheftOutcome
from analysis.static.custody.address_writers import is_dead
from analysis.static.custody.custody_report import PrivilegedParty, StoredAddress
from analysis.static.custody.simulation_hints import SimulationHints
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address
from core.report.report import EvidenceRow


class UndecidedStore(msgspec.Struct, frozen=True, kw_only=True):
    """One store because of which an answer cannot be negative."""

    selector: int | None
    pc: int
    reason: str


class UndecidedStoreEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Body of the evidence."""

    reason: str
    writes: tuple[UndecidedStore, ...]


class ContractsOnlyEvidence(msgspec.Struct, frozen=True, kw_only=True):
    """Body of the evidence where only contracts, impersonated, took a holder's tokens."""

    reason: str
    contracts: tuple[Address, ...]


_BY_CONTRACTS = "done on stage only in the name of contracts; for whom their code acts is not known"
_WORDS = {
    "debit": "lowers the balance of {account}",
    "grant": "sets an allowance of {account}",
    "unknown": "stores at a place that was not understood",
    "code": "runs another contract's code on the token's storage",
    "memory": "stores to memory, where it may replace any other word",
}
_REASON = "neither proved to be agreed to by the holder nor broken on stage"


def open_custody(
    hints: SimulationHints,
    parties: Mapping[StoredAddress, Address],
    *,
    trusted: Set[Address],
    consenting: Set[Address] = frozenset(),
) -> list[UndecidedStore]:
    """Return the stores that are neither proved nor reserved to a harmless account: one that cannot
    act, or acts with the consent of the payer that it names."""
    found = [
        UndecidedStore(
            selector=write.selector,
            pc=write.pc,
            reason=f"{_WORDS[write.kind].format(account=write.account)}; {write.condition}",
        )
        for write in hints.open_writes
        if not write.parties
        or any(
            not (write.is_of_payer and party.address in consenting)
            and _may_act(party, parties, hints)
            for party in write.parties
        )
    ]
    return found + [
        UndecidedStore(
            selector=grant.selector,
            pc=grant.pc,
            reason="gives an allowance to somebody whom the holder does not name",
        )
        for grant in hints.grants
        if not _is_trusted(grant.spender, parties, hints, trusted)
    ]


def doubt_evidence(
    key: str, answer: bool | None, doubts: Sequence[UndecidedStore]
) -> Iterator[EvidenceRow]:
    """Yield one evidence row with the doubts if there is no answer, else none."""
    if doubts and answer is None:
        body = UndecidedStoreEvidence(reason=_REASON, writes=tuple(doubts))
        yield EvidenceRow(key=f"{key}:open", body=msgspec.json.encode(body).decode())


def contract_evidence(
    key: str, answer: bool | None, seen: Sequence[TheftOutcome]
) -> Iterator[EvidenceRow]:
    """Yield one evidence row with the contracts that succeeded, if their success is no answer."""
    able = tuple(dict.fromkeys(each.attacker for each in seen if each.has_moved))
    if able and answer is None:
        body = ContractsOnlyEvidence(reason=_BY_CONTRACTS, contracts=able)
        yield EvidenceRow(key=f"{key}:contracts", body=msgspec.json.encode(body).decode())


def _may_act(
    party: PrivilegedParty, parties: Mapping[StoredAddress, Address], hints: SimulationHints
) -> bool:
    """True if the party may be an account that can act. Members of a stored list are not known, and
    a burn address may have a successor."""
    if party.place is not None:
        return not is_dead(party.place, parties, hints.writers)
    return party.address not in BURN_ADDRESSES


def _is_trusted(
    party: PrivilegedParty,
    parties: Mapping[StoredAddress, Address],
    hints: SimulationHints,
    trusted: Set[Address],
) -> bool:
    if party.place is None:
        return party.address is not None and party.address in trusted | BURN_ADDRESSES
    return parties.get(party.place) in trusted or is_dead(party.place, parties, hints.writers)
