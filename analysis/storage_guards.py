"""Where one of the two transfer functions can be refused because of what is stored."""

from collections.abc import Iterator

from analysis.code.facts import Code
from analysis.code.limits import storage_guards
from analysis.code.scaling import scalings
from analysis.detector import Evidence


def find_storage_guards(code: Code, entry: int) -> Iterator[Evidence]:
    """Guards of the function `entry`, and amounts that storage scales there."""
    for guard in storage_guards(code, entry):
        variables = [each for reading in guard.all() for each in reading.globals]
        yield Evidence(
            entry=guard.refusal.entry, pc=guard.pc, slots=frozenset(code.slots_of(variables))
        )
    for scaling in scalings(code):
        if scaling.write.entry == entry:
            yield Evidence(
                entry=entry,
                pc=scaling.write.pc,
                slots=frozenset(code.slots_of(scaling.variables)),
            )
