"""Jump tables: enumeration of expressions that depend only on one index of few values.

Vyper's dispatcher takes the remainder of the selector, reads that entry of a table in the code and
jumps to the address in it. All values of such an expression can be enumerated, up to 512.
"""

from typing import Final

import msgspec

from analysis.static.evm.expressions import FOLDED, Expr, Value

_MOST_ENTRIES: Final = 512
_WORD_BITS: Final = 256


class TableLookup(msgspec.Struct, frozen=True, kw_only=True):
    """All values of an expression that depends on one small index."""

    index: Expr
    words: tuple[int, ...]
    """Values by index, from 0 on."""


def table_lookup_of(word: Value) -> TableLookup | None:
    """Return all values of an expression. None: it depends on more than one small index."""
    index = word
    while isinstance(index, Expr):
        count = _count(index)
        if count is not None:
            found = [_value(word, index, number) for number in range(count)]
            known = tuple(each for each in found if each is not None)
            return TableLookup(index=index, words=known) if len(known) == len(found) else None
        unknown = [each for each in index.arguments if isinstance(each, Expr)]
        if index.operation not in FOLDED or not unknown:
            return None
        index = unknown[0]
    return None


def _count(term: Expr) -> int | None:
    """Return the number of values, from 0 on, of the expression. None: unknown, or too many."""
    count: int | None = None
    match (term.operation, term.arguments):
        case ("MOD", (_, int(number))):
            count = number
        case ("AND", (int(mask), _)) if not mask & (mask + 1):
            count = mask + 1
        case ("SHR", (int(shift), _)) if shift < _WORD_BITS:
            count = 1 << (_WORD_BITS - shift)
        case ("BYTE", _):
            count = 1 << 8
    return count if count is not None and 0 < count <= _MOST_ENTRIES else None


def _value(word: Value, index: Expr, number: int) -> int | None:
    if word is index:
        return number
    if isinstance(word, int):
        return word
    fold = FOLDED.get(word.operation)
    values = [_value(each, index, number) for each in word.arguments]
    known = [value for value in values if value is not None]
    return fold(*known) if fold is not None and len(known) == len(values) else None
