"""What a transfer takes from one balance and adds to another."""

from collections import Counter
from collections.abc import Iterator
from typing import Final

import msgspec

from analysis.static.code import MOVERS, Code, Write
from analysis.static.reading import FROM, TO, VOICES, Variable
from analysis.static.terms import Term, Word

_MOST_SUMMANDS: Final = 24
_MOST_FORMS: Final = 12

Sum = tuple[tuple[Word, int], ...]
"""Summands, and how often each counts; negative for those taken away."""


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
        if write.entry not in MOVERS or write.place.root not in code.roles.balances:
            continue
        party = code.reader.party(write.place.keys[0], VOICES[write.entry or 0])
        for value in code.sources.meanings(write.value)[:_MOST_FORMS]:
            by = _without_old(code, value, write.slot)
            if by is not None:
                yield Change(write=write, party=party, by=by)


def _without_old(code: Code, value: Word, slot: Word) -> Sum | None:
    """The value less what was stored before. None: it does not build on that."""
    old = code.pool.leaf("SLOAD", slot)
    for candidate in _candidates(value):
        summands = _summands(code, candidate)
        if summands.get(old) == 1:
            del summands[old]
            return tuple(
                sorted(((word, count) for word, count in summands.items() if count), key=repr)
            )
    return None


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


def taxes(code: Code) -> Iterator[Tax]:
    """Credits of the recipient that differ from every debit of the sender."""
    found = list(changes(code))
    debits: dict[int | None, set[Sum]] = {}
    for change in found:
        if change.party == FROM:
            debits.setdefault(change.write.entry, set()).add(_negative(change.by))
    for change in found:
        if change.party != TO:
            continue
        for by in _forms(code, change.by):
            if _is_reduced(code, by, change.write) and by not in debits.get(change.write.entry, ()):
                yield Tax(write=change.write, rates=_rates(code, by))


def _negative(by: Sum) -> Sum:
    return tuple((word, -count) for word, count in by)


def _forms(code: Code, by: Sum) -> Iterator[Sum]:
    """The sum, with a summand that stands for several taken as each of them."""
    if len(by) != 1 or by[0][1] != 1:
        yield by
        return
    for meaning in code.sources.meanings(by[0][0])[:_MOST_FORMS]:
        summands = _summands(code, meaning)
        yield tuple(sorted(((word, n) for word, n in summands.items() if n), key=repr))


def _is_reduced(code: Code, by: Sum, write: Write) -> bool:
    """Whether something is taken away from an amount, or only a share of it is passed on."""
    voice = VOICES[write.entry or 0]
    has_amount = any(code.reader.has_amount(word, voice) for word, _ in by)
    return has_amount and (
        any(count < 0 for _, count in by)
        or any(isinstance(word, Term) and word.operation == "DIV" for word, _ in by)
    )


def _rates(code: Code, by: Sum) -> frozenset[Variable]:
    return frozenset(
        (place.root, bits)
        for word, _ in by
        for slot, bits in code.sources.reads(word)
        for place in code.places.of(slot)
        if not place.keys
    )
