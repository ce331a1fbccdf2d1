"""The first static pass: what runtime code tells by itself, without a node.

Answers are True with proof, False only where every path was followed, and None otherwise. What
needs more than this pass finds stays None; `timebomb` stays pending.
"""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

import evmole
import msgspec

from analysis.calldata import selector_of
from analysis.static.bytecode import Program, hash_of, split, strip_metadata
from analysis.static.delegation import Delegation, find_delegation, slot_name
from analysis.static.opcodes import NUMBER
from analysis.static.path import ALLOWANCE, BALANCE_OF, Note, Notes
from analysis.static.walk import Budget, walk
from analysis.static.writers import Writers, writers_of
from config.primitives import Hash32, Selector
from sql.rows import EvidenceRow, StaticFindings

VERSION: Final = 1
"""Of this pass; stored beside its answers. Bump when any answer may change."""

_FALLBACK: Final = Selector("0x00000000")
"""Stands for code that runs without a matched selector: fallback and receive."""

_TRANSFER, _TRANSFER_FROM, _APPROVE = (
    int(selector_of(signature), 16)
    for signature in (
        "transfer(address,uint256)",
        "transferFrom(address,address,uint256)",
        "approve(address,uint256)",
    )
)
_HOLDER_FUNCTIONS: Final = frozenset({_TRANSFER, _TRANSFER_FROM, _APPROVE})
"""What every holder calls. A comparison of the caller here picks a tax or a limit (the pair, a fee
wallet), and is not a check for an owner."""

_MOST_OWNER_SLOTS: Final = 16
_CACHED_CODES: Final = 256


class Findings(msgspec.Struct, frozen=True, kw_only=True):
    """What one runtime code tells."""

    code_hash: Hash32
    """keccak256 of the code without metadata."""
    size: int
    """Bytes without metadata."""
    selectors: tuple[Selector, ...]
    findings: StaticFindings
    answers_holders: bool
    """Whether `transfer` and `balanceOf` are its own: a fallback that delegates is not what holders
    meet."""
    owner_slots: tuple[Hash32, ...]
    """Storage slots whose whole value is compared with the caller. Empty for a proxy that does not
    answer holders itself: its checks are about its admin."""
    delegation: Delegation
    evidence: tuple[EvidenceRow, ...]


@lru_cache(maxsize=_CACHED_CODES)
def examine(runtime: bytes, *, budget: Budget | None = None) -> Findings:
    """Examine one contract's own code; for a proxy, examine the implementation's code as well.

    Any bytes will do. The budget bounds the time; what it cuts off is None.
    """
    code = strip_metadata(runtime)
    program = split(code)
    listed = {int(found.selector, 16) for found in _functions(code)}
    notes = walk(program, selectors=listed, budget=budget or Budget())
    selectors = listed | notes.selectors
    answers_holders = selectors.issuperset((_TRANSFER, BALANCE_OF))
    delegation = find_delegation(program, notes)
    balances, allowances = writers_of(notes, BALANCE_OF), writers_of(notes, ALLOWANCE)
    is_front = delegation.is_proxy and not answers_holders
    owner_checks = [] if is_front else _owner_checks(notes)
    return Findings(
        code_hash=hash_of(code),
        size=len(code),
        selectors=tuple(_name(selector) for selector in sorted(selectors)),
        findings=_findings(program, notes, delegation, balances, allowances),
        answers_holders=answers_holders,
        owner_slots=_slots_of(owner_checks)[:_MOST_OWNER_SLOTS],
        delegation=delegation,
        evidence=_evidence(notes, delegation, balances, allowances, owner_checks),
    )


def _functions(code: bytes) -> list[evmole.Function]:
    return evmole.contract_info(code, selectors=True).functions or []


def _findings(
    program: Program, notes: Notes, delegation: Delegation, balances: Writers, allowances: Writers
) -> StaticFindings:
    if not (notes.returns or notes.delegations or notes.destructions):
        # code that cannot answer a call, yet stands behind a token: a precompile's marker
        return StaticFindings(timebomb=None)
    return StaticFindings(
        can_selfdestruct=_can_selfdestruct(program, notes, delegation),
        is_proxy=delegation.is_proxy,
        balance_update_function=_selectors_of(balances.notes),
        allowance_update_function=_selectors_of(allowances.notes),
    )


def _can_selfdestruct(program: Program, notes: Notes, delegation: Delegation) -> bool | None:
    if notes.destructions:
        return True
    if delegation.is_proxy is not False:
        return None
    if NUMBER["SELFDESTRUCT"] not in program.opcodes:
        return False
    return None if notes.unfinished else False


def _owner_checks(notes: Notes) -> list[Note]:
    return [
        note
        for note in notes.caller_checks.values()
        if note.entry is not None and note.entry not in _HOLDER_FUNCTIONS
    ]


def _slots_of(checks: Iterable[Note]) -> tuple[Hash32, ...]:
    slots = {word for note in checks for word in note.words if isinstance(word, int)}
    return tuple(slot_name(slot) for slot in sorted(slots))


def _selectors_of(notes: Iterable[Note]) -> tuple[Selector, ...]:
    return tuple(sorted({_name(note.entry) for note in notes}))


def _name(entry: int | None) -> Selector:
    return _FALLBACK if entry is None else Selector(f"0x{entry:08x}")


# --- evidence ---------------------------------------------------------------------------------


class Proof(msgspec.Struct, frozen=True, kw_only=True):
    """Body of an EvidenceRow from code. All *inferred*."""

    selectors: tuple[Selector, ...]
    """Entry points that reach it; 0x00000000 is the fallback."""
    pcs: tuple[int, ...]
    """Program counters in the runtime code."""
    slots: tuple[Hash32, ...] = ()
    """Storage slots it is about."""


def _evidence(
    notes: Notes,
    delegation: Delegation,
    balances: Writers,
    allowances: Writers,
    owner_checks: list[Note],
) -> tuple[EvidenceRow, ...]:
    proofs = {
        "can_selfdestruct": _proof(notes.destructions.values()),
        "balance_update_function": _proof(balances.notes, balances.roots),
        "allowance_update_function": _proof(allowances.notes, allowances.roots),
        "ownership_renounced": msgspec.structs.replace(
            _proof(owner_checks), slots=_slots_of(owner_checks)
        ),
        "is_proxy": Proof(
            selectors=(_FALLBACK,),
            pcs=delegation.pcs,
            slots=delegation.slots + delegation.beacon_slots,
        ),
    }
    return tuple(
        EvidenceRow(key=key, body=msgspec.json.encode(proof).decode())
        for key, proof in proofs.items()
        if proof.pcs
    )


def _proof(notes: Iterable[Note], roots: Iterable[int] = ()) -> Proof:
    found = list(notes)
    return Proof(
        selectors=_selectors_of(found),
        pcs=tuple(sorted({note.pc for note in found})),
        slots=tuple(slot_name(root) for root in roots),
    )
