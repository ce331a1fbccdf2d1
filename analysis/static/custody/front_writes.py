"""Stores of a proxy's front: its own code runs on the storage in which the code behind it keeps
balances.

A front may store where it keeps its target, its beacon and its administrators, and whatever an
administrator who may replace the target decides. Any other store may be that of a balance.
"""

from collections.abc import Iterator
from typing import Final

from analysis.static.custody.custody_report import PrivilegedParty, UnprovedWrite, party_of
from analysis.static.custody.privileged_callers import PrivilegedCallers
from analysis.static.dataflow.addresses import party
from analysis.static.dataflow.delegate_targets import is_precompile
from analysis.static.dataflow.storage_layout import StorageLocation
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import Expr, Value
from analysis.static.token_model.contract_model import ContractModel
from core.evm.primitives import to_hash32

_MOST_WRITES: Final = 16
_HANDING_ON: Final = frozenset({"DELEGATECALL", "CALLCODE"})


def find_front_writes(code: ContractModel, gates: PrivilegedCallers) -> tuple[UnprovedWrite, ...]:
    """Return the stores of a front, and its runs of other code, that may reach balances.

    Empty for code that answers holders itself.
    """
    if not code.delegation.is_proxy or code.answers_holders:
        return ()
    return tuple(_Front(code, gates).writes())[:_MOST_WRITES]


class _Front:
    def __init__(self, code: ContractModel, gates: PrivilegedCallers) -> None:
        self._code = code
        self._gates = gates
        named = code.delegation.slots + code.delegation.beacon_slots
        self._targets = {int(slot, 16) for slot in named}
        self._admins = set[Value]()
        checked_slots = {note.words[0] for note in code.notes.caller_checks.values()}
        self._owners = {slot for slot in checked_slots if isinstance(slot, int)}
        self._installed = set[Value]()
        """Values that are stored as a target, and may be run immediately."""
        for write in code.writes.all:
            if write.place.root in self._targets:
                parties, lists = gates.callers_required_before(write.entry, {write.pc}) or ((), ())
                self._admins.update(parties, lists)
                self._installed.add(party(write.value))

    def writes(self) -> Iterator[UnprovedWrite]:
        found = dict.fromkeys(
            (write.entry, write.pc)
            for write in self._code.writes.all
            if not self._is_own(write.place)
        )
        for entry, pc in found:
            yield from self._judged(entry, pc, kind="unknown")
        for entry, effect in self._code.calls():
            is_fallback = entry is None and effect.pc in self._code.delegation.pcs
            if (
                effect.kind in _HANDING_ON
                and not is_fallback
                and not self._is_target(effect.words[0])
            ):
                yield from self._judged(entry, effect.pc, kind="code")

    def _judged(self, entry: FunctionId, pc: int, *, kind: str) -> Iterator[UnprovedWrite]:
        required_callers = self._gates.callers_required_before(entry, {pc})
        if required_callers is not None and self._admins.issuperset(
            (*required_callers[0], *required_callers[1])
        ):
            return
        parties, lists = required_callers or ((), ())
        yield UnprovedWrite(
            selector=entry,
            pc=pc,
            kind=kind,
            account="",
            condition="in the proxy's own code",
            parties=(
                *dict.fromkeys(party_of(self._code, each) for each in parties),
                *(PrivilegedParty() for _ in lists),
            ),
        )

    def _is_own(self, place: StorageLocation) -> bool:
        return not place.keys and place.root in self._targets | self._owners

    def _is_target(self, word: Value) -> bool:
        """True if the code that runs is the one behind the proxy, a new one, or a precompile."""
        meanings = self._code.dependencies.phi_values(word)
        return all(
            is_precompile(bare) or bare in self._installed or self._is_named(bare)
            for bare in map(party, meanings)
        )

    def _is_named(self, bare: Value) -> bool:
        if isinstance(bare, int):
            return f"0x{bare:040x}" in self._code.delegation.targets
        if bare.operation == "result":
            return bool(self._code.delegation.beacons or self._code.delegation.beacon_slots)
        return isinstance(bare, Expr) and any(
            isinstance(slot, int) and to_hash32(slot) in self._code.delegation.slots
            for slot, _ in self._code.dependencies.reads(bare)
        )
