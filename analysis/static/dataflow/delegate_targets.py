"""Proxy detection: finds the targets of delegate calls in the fallback.

A proxy is recognised by its behaviour: the fallback delegates the caller's own calldata. That finds
minimal clones of every form (EIP-1167 and its successors), storage proxies whatever their slot,
beacons and diamonds, and leaves out library calls of an ordinary token. All *inferred*.
"""

from typing import Final

import msgspec

from analysis.static.evm.disassembly import Program
from analysis.static.evm.expressions import Expr, Value, address_in, subterms
from analysis.static.evm.opcodes import NUMBER
from analysis.static.evm.path_state import Note, Notes
from core.evm.primitives import ADDRESS_BITS, Address, Hash32, to_hash32

_LAST_PRECOMPILE: Final = 0x11
_P256_PRECOMPILE: Final = 0x100
_DELEGATING = frozenset({NUMBER["DELEGATECALL"], NUMBER["CALLCODE"]})


class Delegation(msgspec.Struct, frozen=True, kw_only=True):
    """The targets of a fallback's delegate calls, by their source in the code. All *inferred*."""

    is_proxy: bool | None
    """None: the fallback was not fully explored, and the code has a delegating instruction."""
    targets: tuple[Address, ...] = ()
    """Target addresses that are constants of the code."""
    slots: tuple[Hash32, ...] = ()
    """Storage slots that hold a target address."""
    beacons: tuple[Address, ...] = ()
    """Constant addresses of beacons: contracts that are called for the target."""
    beacon_slots: tuple[Hash32, ...] = ()
    """Storage slots that hold a beacon's address."""
    pcs: tuple[int, ...] = ()

    @property
    def has_several(self) -> bool:
        """True if the fallback has more than one target or beacon."""
        return len(self.targets) + len(self.slots) + len(self.beacons) + len(self.beacon_slots) > 1


def find_delegation(program: Program, notes: Notes) -> Delegation:
    """Return the targets of the fallback's delegate calls.

    `is_proxy` without any target: it is looked up by selector (a diamond, EIP-2535), or computed
    in a way that was not recognised.
    """
    found = [note for note in notes.delegations.values() if _hands_on_calldata(note)]
    if not found:
        is_followed = None not in notes.unfinished
        is_harmless = is_followed or _DELEGATING.isdisjoint(program.opcodes)
        return Delegation(is_proxy=False if is_harmless else None)
    words = [address_in(note.words[0]) for note in found]
    beacon_values = [
        address_in(word.arguments[0])
        for word in words
        if isinstance(word, Expr) and word.operation == "result"
    ]
    return Delegation(
        is_proxy=True,
        targets=_literals(words),
        slots=_slots(words),
        beacons=_literals(beacon_values),
        beacon_slots=_slots(beacon_values),
        pcs=tuple(sorted({note.pc for note in found})),
    )


def _hands_on_calldata(note: Note) -> bool:
    target, head, length = note.words
    if note.entry is not None or is_precompile(target):
        return False
    is_whole_input = isinstance(head, Expr) and head.operation == "input"
    return is_whole_input or any(term.operation == "CALLDATASIZE" for term in subterms(length))


def is_precompile(target: Value) -> bool:
    """True if the target is a precompile. Zero is none: it is an immutable left blank."""
    return isinstance(target, int) and (
        0 < target <= _LAST_PRECOMPILE or target == _P256_PRECOMPILE
    )


def _literals(words: list[Value]) -> tuple[Address, ...]:
    numbers = {word for word in words if isinstance(word, int) and not word >> ADDRESS_BITS}
    return tuple(Address(f"0x{number:040x}") for number in sorted(numbers) if number)


def _slots(words: list[Value]) -> tuple[Hash32, ...]:
    slots = {
        slot
        for word in words
        if isinstance(word, Expr) and word.operation == "SLOAD"
        for slot in word.arguments
        if isinstance(slot, int)
    }
    return tuple(to_hash32(slot) for slot in sorted(slots))
