"""Functions that can run but once: initializers that set the flag they ask for."""

from analysis.code.facts import Code, Guard
from analysis.code.graph import Entry
from analysis.code.places import Root
from analysis.code.reading import evaluate
from analysis.code.stores import Write
from analysis.code.terms import Word


def runs_once(code: Code, entry: Entry) -> bool:
    """Whether the function closes a door behind it that nothing opens again."""
    writes_something = any(write.entry == entry for write in code.writes)
    return writes_something and any(_closes(code, guard) for guard in code.guards(entry))


def _closes(code: Code, guard: Guard) -> bool:
    for variable in guard.test.globals:
        root, _ = variable
        writes = list(code.writes_to(variable))
        own = [write for write in writes if write.entry == guard.refusal.entry]
        is_door = own and all(_shuts(code, guard, write, root) for write in writes)
        if is_door and not _stores_after(code, guard).isdisjoint(write.pc for write in own):
            return True
    return False


def _stores_after(code: Code, guard: Guard) -> set[int]:
    """Where the function stores once it has passed the guard: a counter against re-entry is raised
    before it is asked for."""
    flow = code.flow(guard.refusal.entry)
    tests = (node for node, branch in flow.branching() if branch.pc == guard.pc)
    return {deed.pc for node in flow.following(tests) for deed in node.deeds}


def _shuts(code: Code, guard: Guard, write: Write, root: Root) -> bool:
    """Whether the guard fails once this is stored."""

    def value_of(slot: Word) -> int | None:
        if any(place.root != root for place in code.places.of(slot)):
            return None
        return evaluate(write.value, lambda _: 0)

    test = guard.test.literal
    value = evaluate(test.condition, value_of)
    return value is not None and bool(value) is test.holds
