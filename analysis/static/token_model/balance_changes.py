"""What a transfer takes from one balance and adds to another."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.dataflow.predicates import FROM, PEOPLE, TO, VOICES, Variable
from analysis.static.dataflow.storage_writes import Write
from analysis.static.evm.cfg import Entry, Node
from analysis.static.evm.expressions import Term, Word
from analysis.static.evm.function_cfg import Literal
from analysis.static.token_model.contract_model import MOVERS, Code
from analysis.static.token_model.memoize import once_per_code

_MOST_SUMMANDS: Final = 24
_MOST_FORMS: Final = 12
_MOST_EXPANDED: Final = 24
_COPIES: Final = 2
"""How far rates are followed that a transfer copies from other variables."""

Sum = tuple[tuple[Word, int], ...]
"""Summands, and how often each counts; negative for those taken away."""

Store = tuple[int, Word, Word]
"""Where in the code, slot and value."""

_ANY: Final[Sum] = ()
"""Any tax, where one cannot be told from another."""


class Change(msgspec.Struct, frozen=True, kw_only=True):
    """What one store does to a balance."""

    write: Write
    party: str
    by: Sum


class Tax(msgspec.Struct, frozen=True, kw_only=True):
    """A credit that is not what the sender is debited."""

    write: Write
    rates: frozenset[Variable]
    """Variables that decide how much is taken."""


def changes(code: Code) -> Iterator[Change]:
    """Every change of a balance by `transfer` and `transferFrom`."""
    for write in code.writes:
        if write.entry not in MOVERS or write.entry in code.notes.cut:
            continue
        if write.place.root not in code.roles.balances:
            continue
        party = code.reader.party(write.place.keys[0], VOICES[write.entry or 0])
        for value in code.sources.meanings(write.value)[:_MOST_FORMS]:
            by = difference(code, value, write.slot)
            if by is not None:
                yield Change(write=write, party=party, by=by)


def difference(code: Code, value: Word, slot: Word) -> Sum | None:
    """The value less what was stored before. None: it does not build on that."""
    old = code.pool.leaf("SLOAD", slot)
    for candidate in _candidates(value):
        summands = _summands(code, candidate)
        if summands.get(old) == 1:
            del summands[old]
            return _sorted(summands)
    return None


def _sorted(summands: Counter[Word]) -> Sum:
    return tuple(sorted(((word, n) for word, n in summands.items() if n), key=repr))


def _candidates(value: Word) -> Iterator[Word]:
    """The value, and what is under the masks and shifts that pack it into its slot."""
    waiting = [value]
    while waiting:
        word = waiting.pop()
        if isinstance(word, Term):
            if word.operation in ("ADD", "SUB"):
                yield word
            elif word.operation in ("AND", "OR", "SHL"):
                waiting.extend(word.arguments)


def _summands(code: Code, word: Word) -> Counter[Word]:
    found: Counter[Word] = Counter()
    waiting = [(word, 1)]
    while waiting and len(found) < _MOST_SUMMANDS:
        each, sign = waiting.pop()
        each = code.sources.single(each)
        if isinstance(each, Term) and each.operation in ("ADD", "SUB"):
            first, second = each.arguments
            waiting += [(first, sign), (second, sign if each.operation == "ADD" else -sign)]
        elif each != 0:
            found[each] += sign
    return found


@once_per_code
def taxes(code: Code) -> Iterator[Tax]:
    """Credits of the recipient that fall short of what the sender is debited."""
    found = list(changes(code))
    taken = [
        (write, by, _expanded(code, by))
        for write, by in (*_shortfalls(code, found), *_overcharges(code, found))
    ]
    stored: dict[Entry, dict[Store, set[Sum]]] = {}
    for write, _, forms in taken:
        store = (write.pc, write.slot, write.value)
        stored.setdefault(write.entry, {}).setdefault(store, set()).update(forms)
    switches = {entry: _switches(code, entry, stores) for entry, stores in stored.items()}
    for write, by, _ in taken:
        yield Tax(write=write, rates=_rates(code, by, write, switches[write.entry]))


def _expanded(code: Code, by: Sum) -> list[Sum]:
    """The sum with each summand as everything that it stands for; `_ANY` where paths met inside."""
    forms: list[Sum] = [()]
    for word, count in by:
        meanings = code.sources.meanings(word)
        forms = [(*form, (each, count)) for form in forms for each in meanings][:_MOST_EXPANDED]
    return [
        _ANY if any(code.sources.is_merged(word) for word, _ in form) else form for form in forms
    ]


def _shortfalls(code: Code, found: list[Change]) -> Iterator[tuple[Write, Sum]]:
    """Credits of the recipient that are less than what the sender is debited."""
    debits = {_negative(change.by) for change in found if change.party == FROM}
    for change in found:
        if change.party == TO:
            for by in _forms(code, change.by):
                if _is_reduced(code, by, change.write, debits):
                    yield change.write, by


def _overcharges(code: Code, found: list[Change]) -> Iterator[tuple[Write, Sum]]:
    """Debits of the sender that are more than what a recipient is credited."""
    credits = [change for change in found if change.party == TO]
    for debit in found:
        if debit.party != FROM or len(debit.by) == 1:
            continue
        for credit in credits:
            rest = Counter(dict(_negative(debit.by)))
            rest.subtract(dict(credit.by))
            left = [word for word, count in rest.items() if count]
            if credit.by and left and all(rest[word] > 0 for word in left):
                yield debit.write, debit.by


def _negative(by: Sum) -> Sum:
    return tuple((word, -count) for word, count in by)


def _forms(code: Code, by: Sum) -> Iterator[Sum]:
    """The sum, with a summand that stands for several taken as each of them."""
    if len(by) != 1 or by[0][1] != 1:
        yield by
        return
    for meaning in code.sources.meanings(by[0][0])[:_MOST_FORMS]:
        yield _sorted(_summands(code, meaning))


def _is_reduced(code: Code, by: Sum, write: Write, debits: set[Sum]) -> bool:
    """Whether something is taken away from an amount, or only a share of it is passed on."""
    voice = VOICES[write.entry or 0]
    if not any(code.reader.has_amount(word, voice) for word, _ in by):
        return False
    if any(count < 0 for _, count in by):
        return True
    return by not in debits and any(
        term.operation == "DIV" and code.reader.has_amount(term.arguments[0], voice)
        for word, _ in by
        for term in code.sources.everything(word)
    )


def _rates(code: Code, by: Sum, write: Write, switches: set[Variable]) -> frozenset[Variable]:
    """Variables in the sum, and those that decide whether anything is taken."""
    found = switches | {variable for word, _ in by for variable in _variables(code, word, write)}
    for _ in range(_COPIES):
        found |= {
            variable
            for known in found
            for copied in code.writes_to(known)
            if copied.entry in MOVERS
            for variable in _variables(code, copied.value, write)
        }
    found -= code.roles.supply | code.roles.scale
    return frozenset(variable for variable in found if not _is_total(code, variable))


def _is_total(code: Code, variable: Variable) -> bool:
    """Whether transfers add amounts to it or take them away: what is reflected, or collected."""
    return any(
        write.entry in MOVERS and code.reader.has_amount(write.value, VOICES[write.entry or 0])
        for write in code.writes_to(variable)
    )


def _variables(code: Code, word: Word, write: Write) -> Iterator[Variable]:
    voice = VOICES[write.entry or 0]
    targets = (atom.arguments[0] for atom in code.sources.atoms(word) if atom.operation == "result")
    for each in (word, *targets):
        for slot, bits in code.sources.reads(each):
            for place in code.places.of(slot):
                if place.root in code.roles.balances or code.is_length(place):
                    continue
                if all(code.reader.party(key, voice) not in PEOPLE for key in place.keys):
                    yield place.root, bits


def _switches(code: Code, entry: Entry, stores: dict[Store, set[Sum]]) -> set[Variable]:
    """Variables that decide whether a tax is taken, or which, and that transfers do not set.

    What leads to the same tax on both sides decides something else, such as a sale on the way.
    """
    flow = code.flow(entry)
    marks: dict[Sum, int] = {}
    taken: dict[Node, int] = {}
    for node, deed in flow.deeds():
        if deed.kind == "SSTORE":
            for form in stores.get((deed.pc, deed.words[0], deed.words[1]), ()):
                mark = marks.setdefault(form, 1 << len(marks))
                taken[node] = taken.get(node, 0) | mark
    ahead = flow.ahead(taken)
    deciding: dict[Literal, bool] = {}
    for _, branch in flow.decisions():
        one, other = ahead[branch.if_true], ahead[branch.if_false]
        if one | other:
            literal = Literal(pc=branch.pc, condition=branch.condition, holds=True)
            deciding[literal] = deciding.get(literal, True) and not one & other
    return {
        variable
        for literal, decides in deciding.items()
        if decides
        for variable in _settable(code, entry, literal)
    }


def _settable(code: Code, entry: Entry, literal: Literal) -> set[Variable]:
    """Variables in a condition that transfers do not set."""
    reading = code.reader.read(literal, entry)
    if reading.has_answer or reading.has_clock or reading.has_amount:
        return set()
    return {
        variable
        for variable in reading.globals
        if all(write.entry not in MOVERS for write in code.writes_to(variable))
    }


def lasting_changes(code: Code, variable: Variable) -> Iterator[Write]:
    """Stores to a total, but those of functions that give back all they take."""
    if isinstance(variable[0], tuple):
        yield from code.writes_to(variable)
        return
    by_entry: dict[int | None, list[Write]] = {}
    for write in code.writes_to(variable):
        by_entry.setdefault(write.entry, []).append(write)
    for writes in by_entry.values():
        sums = {difference(code, write.value, write.slot) for write in writes}
        if None in sums or not all(_negative(by) in sums for by in sums if by is not None):
            yield from writes
