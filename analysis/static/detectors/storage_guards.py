"""Evidence for the storage guard detectors: storage-dependent reverts of a transfer function."""

from collections.abc import Iterator

from analysis.static.dataflow.predicates import declared_slots
from analysis.static.detectors.detector import Evidence
from analysis.static.token_model.caps.amount_factors import scalings
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.guards.transfer_guards import storage_guards


def find_storage_guards(code: ContractModel, entry: int) -> Iterator[Evidence]:
    """Yield the storage guards of the function `entry`, and stores of amounts scaled by per-address
    storage."""
    for guard in storage_guards(code, entry):
        variables = [each for reading in guard.all() for each in reading.globals]
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(declared_slots(variables))
        )
    for scaling in scalings(code):
        if scaling.write.entry == entry:
            yield Evidence(
                entry=entry,
                pc=scaling.write.pc,
                slots=frozenset(declared_slots(scaling.variables)),
            )
