"""Where a function asks who calls."""

from collections.abc import Callable, Iterator
from typing import Final

import msgspec

from analysis.code.facts import MOVERS, Code
from analysis.code.flow import Literal
from analysis.code.graph import Deed, Entry
from analysis.code.parts import parts
from analysis.code.reading import CALLER, FROM, ORIGIN, Reading, Variable
from analysis.code.recall import once_per_code
from analysis.code.sources import CALLERS
from analysis.code.terms import Term, Word, address_in

_SELVES: Final = frozenset({CALLER, FROM, ORIGIN})
_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_ORDERED: Final = frozenset({"LT", "GT", "SLT", "SGT"})
_EFFECTS: Final = frozenset({"SSTORE", "CALL", "DELEGATECALL"})


class CallerCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A condition on the caller that decides whether a function goes on."""

    entry: Entry
    pc: int
    variables: frozenset[Variable]
    """Storage that names who may."""


@once_per_code
def caller_checks(code: Code) -> Iterator[CallerCheck]:
    """All of them, in every function."""
    found = list(_checks(code, _tests))
    yield from found or _checks(code, _decisions)


def _checks(
    code: Code, readings_of: Callable[[Code, Entry], Iterator[Reading]]
) -> Iterator[CallerCheck]:
    for entry in code.entries:
        for reading in readings_of(code, entry):
            variables = _asked(code, reading)
            if variables is not None:
                yield CallerCheck(entry=entry, pc=reading.literal.pc, variables=variables)


def _decisions(code: Code, entry: Entry) -> Iterator[Reading]:
    """What decides whether another contract is asked for leave."""
    for guard in code.guards(entry):
        if guard.test.has_answer and entry not in MOVERS:
            yield from code.context_of(entry, guard.refusal.test)


def _tests(code: Code, entry: Entry) -> Iterator[Reading]:
    for guard in code.guards(entry):
        yield guard.test
    if entry in MOVERS:
        return
    seen: set[Literal] = set()
    for refusal in code.flow(entry).silent_refusals(_is_effect):
        if refusal.test not in seen:
            seen.add(refusal.test)
            yield code.reader.read(refusal.test, entry)


def _is_effect(deed: Deed) -> bool:
    return deed.kind in _EFFECTS


def _asked(code: Code, reading: Reading) -> frozenset[Variable] | None:
    """Storage that the caller is compared with or looked up in. None: it is about others."""
    literal = reading.literal
    terms = [term for term, _ in parts(code, literal.condition, holds=literal.holds)]
    for term in terms:
        if term.operation in _EQUALITIES:
            for one, other in (term.arguments, term.arguments[::-1]):
                if _is_caller(code, one) and _is_authority(code, other):
                    return reading.addresses | reading.globals
    if any(term.operation in _ORDERED for term in terms):
        return None
    listed = frozenset(
        variable
        for variable, party in reading.lists
        if party in _SELVES and not code.is_own_business(variable)
    )
    return listed or None


def _is_caller(code: Code, word: Word) -> bool:
    bare = address_in(code.sources.single(word))
    return isinstance(bare, Term) and bare.operation in CALLERS


def _is_authority(code: Code, word: Word) -> bool:
    """Whether the word is an address that code, storage or another contract names."""
    bare = address_in(code.sources.single(word))
    if isinstance(bare, int):
        return bare != 0
    kinds = {atom.operation for atom in code.sources.atoms(bare)}
    return bool(kinds & {"SLOAD", "result"})
