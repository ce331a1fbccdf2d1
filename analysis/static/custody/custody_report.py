"""Custody report of one code: stores that are not proved to be authorised, and third-party grants.

Runs the path search over every function and converts its findings into serialisable structs for
`SimulationHints`. At most `_MOST_WRITES` stores are kept, unprivileged ones first.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain, islice
from typing import Final

import msgspec

from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_search import prove
from analysis.static.custody.custody_state import UnprovedStore
from analysis.static.custody.memory_proof import MemoryProof
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expression_text import render, render_condition
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, lowest_bit
from analysis.static.evm.path_state import ALLOWANCE, BALANCE_OF, TOTAL_SUPPLY, rank
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.guarded_stores import is_guarded
from analysis.static.token_model.storage.owned_variables import address_bits
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address, Hash32, low_address, to_hash32

_MOST_WRITES: Final = 16
_MOST_CONDITIONS: Final = 4
_TELLING: Final = frozenset({"CALLER", "ORIGIN", "CALLDATALOAD", "CALLDATASIZE", "result", "SLOAD"})


class StoredAddress(msgspec.Struct, frozen=True, kw_only=True):
    """An address kept in storage."""

    slot: Hash32
    shift: int
    """Bits to the right of the address in its slot."""


class PrivilegedParty(msgspec.Struct, frozen=True, kw_only=True):
    """An address that a function requires the caller to be."""

    address: Address | None = None
    """The address, where it is a constant of the code."""
    slot: Hash32 | None = None
    """Storage that holds it. Neither: an entry of a list, or the result of another contract."""
    shift: int = 0
    """Bits to the right of the address in its slot."""

    @property
    def place(self) -> StoredAddress | None:
        """Return the place in storage that holds it, if one does."""
        return None if self.slot is None else StoredAddress(slot=self.slot, shift=self.shift)


class UnprovedWrite(msgspec.Struct, frozen=True, kw_only=True):
    """A store that lowers a balance or sets an allowance, and is not proved to be authorised."""

    selector: int | None
    pc: int
    kind: str
    """`debit`, `grant`, `unknown` (location not known) or `code` (foreign code on this storage).

    `memory`: a store to memory that may hit any word."""
    account: str
    """The debited or granting account, as readable text. Empty: not known."""
    condition: str
    """The last conditions on the path to the store, as readable text."""
    parties: tuple[PrivilegedParty, ...] = ()
    """Accounts that may call it, where the write is privileged. Empty: any account."""
    is_of_payer: bool = False
    """True if it takes from the account that the standard's function names, no more than its
    amount."""


class ThirdPartyGrant(msgspec.Struct, frozen=True, kw_only=True):
    """An allowance over a holder's tokens given to a spender that the caller did not name."""

    selector: int | None
    pc: int
    spender: PrivilegedParty


class CustodyReport(msgspec.Struct, frozen=True, kw_only=True):
    """The findings of the proof."""

    writes: tuple[UnprovedWrite, ...]
    grants: tuple[ThirdPartyGrant, ...]
    opens: tuple[UnprovedStore, ...]
    """The same stores as `writes`, with their paths; not serialised."""
    unproved: Mapping[FunctionId, tuple[PrivilegedParty, ...] | None]
    """All functions with such a store, with the callers that they require. None: anybody."""


def find_custody(code: ContractModel, prover: CustodyProver) -> CustodyReport:
    """Run the proof on every function and collect what it leaves unproved."""
    opens = [
        found
        for entry in sorted(code.functions.entries, key=rank)
        for found in prove(prover, entry).found.values()
    ]
    opens.sort(
        key=lambda each: (
            *(bool(each.parties or each.lists), each.is_of_payer),
            *(str(each.entry), each.debt.pc),
        )
    )
    writes = chain(_memory_writes(code, prover), (_stored(code, each) for each in opens))
    return CustodyReport(
        writes=tuple(islice(writes, _MOST_WRITES)),
        grants=tuple(dict.fromkeys(_third_parties(code, prover))),
        opens=tuple(opens[:_MOST_WRITES]),
        unproved=_callers_of(code, opens),
    )


def _memory_writes(code: ContractModel, prover: CustodyProver) -> Iterator[UnprovedWrite]:
    """Yield a store to memory that is not proved apart from other words, one a function.

    Only of functions that store, and of the getters. Those of the owner count as the owner's.
    """
    proof = MemoryProof(code, prover.reach)
    for entry in sorted(code.functions.entries, key=rank) if code.answers_holders else ():
        writes = [write for write in code.writes.all if write.entry == entry]
        if not writes and entry not in (BALANCE_OF, ALLOWANCE, TOTAL_SUPPLY):
            continue
        store = proof.unproved(entry)
        if store is not None:
            is_owners = bool(writes) and all(is_guarded(code, write) for write in writes)
            yield UnprovedWrite(
                selector=entry,
                pc=store.pc,
                kind="memory",
                account="",
                condition=f"at {render(store.words[0])}",
                parties=_checked_callers(code, entry) if is_owners else (),
            )


def _checked_callers(code: ContractModel, entry: FunctionId) -> tuple[PrivilegedParty, ...]:
    """Return the storage whose address the function compares the caller with."""
    found = (note.words for note in code.notes.caller_checks.values() if note.entry == entry)
    slots = dict.fromkeys(words for words in found if all(isinstance(each, int) for each in words))
    return tuple(
        PrivilegedParty(slot=to_hash32(slot), shift=shift)
        for slot, shift in slots
        if isinstance(slot, int) and isinstance(shift, int)
    )


def _callers_of(
    code: ContractModel, opens: Iterable[UnprovedStore]
) -> dict[FunctionId, tuple[PrivilegedParty, ...] | None]:
    found: dict[FunctionId, tuple[PrivilegedParty, ...] | None] = {}
    for each in opens:
        known, parties = found.get(each.entry, ()), _parties_of(code, each)
        found[each.entry] = (*known, *parties) if known is not None and parties else None
    return found


def _parties_of(code: ContractModel, found: UnprovedStore) -> tuple[PrivilegedParty, ...]:
    named = (party_of(code, each) for each in found.parties)
    return tuple(dict.fromkeys((*named, *(PrivilegedParty() for _ in found.lists))))


def _stored(code: ContractModel, found: UnprovedStore) -> UnprovedWrite:
    whose = found.debt.whose
    return UnprovedWrite(
        selector=found.entry,
        pc=found.debt.pc,
        kind=found.debt.kind,
        account="" if whose is None else render(whose),
        condition=_conditions_on(found),
        parties=_parties_of(code, found),
        is_of_payer=found.is_of_payer,
    )


def _conditions_on(found: UnprovedStore) -> str:
    conditions = [pair for pair in found.path if isinstance(pair[0], Expr)][-_MOST_CONDITIONS:]
    texts = [
        render_condition(condition, holds=holds)
        for condition, holds in conditions
        if isinstance(condition, Expr)
    ]
    return " and ".join(dict.fromkeys(texts)) or found.why


def party_of(code: ContractModel, word: Value) -> PrivilegedParty:
    """Return the party that an address expression stands for."""
    bare = address_in(word)
    if isinstance(bare, int):
        return PrivilegedParty(address=low_address(bare))
    for slot, read in code.dependencies.reads(bare):
        if isinstance(slot, int):
            bits = address_bits(code).get(slot, read) if read == MASK else read
            return PrivilegedParty(slot=to_hash32(slot), shift=lowest_bit(bits))
    return PrivilegedParty()


def _third_parties(code: ContractModel, prover: CustodyProver) -> Iterator[ThirdPartyGrant]:
    for write in code.writes.all:
        if write.place.root not in code.storage.roles.allowances or write.value == 0:
            continue
        whose, spender = prover.holder_of(write.place), prover.spender_of(write.place)
        if whose is None or spender is None or not prover.is_holders(whose):
            continue
        if not prover.is_given(spender) and not _lowers(code, write.value, write.slot):
            party = party_of(code, spender)
            if party.address not in BURN_ADDRESSES:
                yield ThirdPartyGrant(selector=write.entry, pc=write.pc, spender=party)


def _lowers(code: ContractModel, value: Value, slot: Value) -> bool:
    deltas = [delta_of(meaning, slot) for meaning in code.dependencies.phi_values(value)]
    return all(delta is not None and not delta.added for delta in deltas)
