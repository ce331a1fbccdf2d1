"""Solver for call arguments that reach an unproved store, by inverting the conditions of its path.

Only conditions that apply invertible operations to one unknown of the call are solved; comparisons
with the hash of an unknown value, and those with several unknowns, are not. Solutions are tried in
a simulation, so that a wrong one costs a call and proves nothing.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.custody.custody_facts import parts_of_condition
from analysis.static.custody.custody_state import UnprovedStore
from analysis.static.dataflow.storage_layout import VariableId
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, subterms
from analysis.static.token_model.contract_model import ContractModel

_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_ZEROED: Final = frozenset({"MOD", "AND", "SHL", "SHR", "ADD"})
"""Operations that are solved for a result of zero."""
_MOST_FIXES: Final = 12
_MOST_PRELUDES: Final = 3
_WORD: Final = 32
_FARTHEST: Final = 1 << 16
_SECRET_BITS: Final = 16
"""Bounds with fewer bits are flags and limits, and are not solved."""


class SolvedArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A value that a calldata word must equal, or be congruent to."""

    offset: int
    """Bytes from the start of calldata; negative: from its end."""
    value: str
    """Hex."""
    mask: str
    """Hex; the bits that count."""
    modulus: str = "0x0"
    """Hex. 0: the value itself."""
    is_weak: bool = False
    """True if any value but zero will do: set only if the masked bits are zero otherwise."""


class SolvedArguments(msgspec.Struct, frozen=True, kw_only=True):
    """The special requirements of one call that reaches an unproved store."""

    selector: int | None
    arguments: str | None = None
    """ABI types, separated by commas. None: not known."""
    fixes: tuple[SolvedArgument, ...] = ()
    preludes: tuple[tuple[int, str], ...] = ()
    """Functions to call first, as they write storage the path reads: selector and ABI types."""
    tail_victim: bool = False
    """True if the address of the debited account is read from the end of calldata."""
    has_code: bool = False
    """True if the caller must be a contract."""
    value_wei: str = "0x0"
    """Native coins to send, in hex."""

    @property
    def is_plain(self) -> bool:
        """True if the call has no special requirements."""
        return not (self.fixes or self.preludes or self.tail_victim or self.has_code)


def solve_arguments(
    code: ContractModel, opens: Iterable[UnprovedStore], arguments: Mapping[int, str]
) -> tuple[SolvedArguments, ...]:
    """Return the distinct special calls that reach unproved stores.

    `arguments`: ABI types by selector.
    """
    found = (_opening(code, each, arguments) for each in opens)
    return tuple(dict.fromkeys(each for each in found if not each.is_plain))


def _opening(
    code: ContractModel, found: UnprovedStore, arguments: Mapping[int, str]
) -> SolvedArguments:
    solved = _Solved()
    for condition, holds in found.path:
        for term, is_true in parts_of_condition(condition, holds=holds):
            solved.take(term, is_true=is_true)
    whose = found.debt.whose
    for term in () if whose is None else subterms(whose):
        offset = _offset(term.arguments[0]) if term.operation == "CALLDATALOAD" else None
        if offset is not None:
            solved.fixes.pop(offset, None)  # this word is the address of the victim
    return SolvedArguments(
        selector=found.entry,
        fixes=tuple(solved.fixes.values())[:_MOST_FIXES],
        arguments=None if found.entry is None else arguments.get(found.entry),
        preludes=tuple(
            (entry, arguments.get(entry, "")) for entry in dict.fromkeys(_preludes(code, found))
        )[:_MOST_PRELUDES],
        tail_victim=whose is not None and any(map(_is_from_end, subterms(whose))),
        has_code=solved.has_code,
        value_wei=hex(solved.value_wei),
    )


def _is_from_end(term: Expr) -> bool:
    return (
        term.operation == "CALLDATALOAD"
        and isinstance(term.arguments[0], Expr)
        and any(part.operation == "CALLDATASIZE" for part in subterms(term.arguments[0]))
    )


class _Solved:
    """The requirements solved so far from the conditions of one path."""

    def __init__(self) -> None:
        self.fixes: dict[int, SolvedArgument] = {}
        self.has_code = False
        self.value_wei = 0

    def take(self, term: Expr, *, is_true: bool) -> None:
        """Solve one comparison that must have this outcome."""
        name = term.operation
        if name in _EQUALITIES and is_true is (name == "EQ"):
            for one, other in (term.arguments, term.arguments[::-1]):
                if isinstance(other, int):
                    self._solve(one, other)
        elif name in ("LT", "GT"):
            self._bound(term, is_true=is_true)
        elif name == "EXTCODESIZE" and is_true:
            self.has_code |= _is_about_caller(term)
        elif name in _ZEROED and not is_true:
            self._solve(term, 0)
        elif name == "AND" and is_true and isinstance(term.arguments[0], int):
            mask = term.arguments[0]
            self._solve(term, mask & -mask, is_weak=True)
        elif name == "CALLDATALOAD" and is_true:
            self._solve(term, 1, is_weak=True)

    def _bound(self, term: Expr, *, is_true: bool) -> None:
        small, large = term.arguments if term.operation == "LT" else term.arguments[::-1]
        if isinstance(small, int):
            if isinstance(large, Expr) and _is_about_caller(large):
                self.has_code |= is_true and large.operation == "EXTCODESIZE"
            elif small.bit_length() >= _SECRET_BITS:
                self._solve(large, min(small + 1, MASK) if is_true else small)
        elif isinstance(large, int) and large.bit_length() >= _SECRET_BITS and large < MASK >> 1:
            self._solve(small, large - 1 if is_true else large)

    def _solve(self, word: Value, target: int, *, is_weak: bool = False) -> None:
        modulus, mask = 0, MASK
        while isinstance(word, Expr):
            if word.operation == "CALLVALUE":
                self.value_wei = target
                return
            if word.operation == "CALLDATALOAD":
                offset = _offset(word.arguments[0])
                if offset is not None and offset != 0:
                    self.fixes.setdefault(
                        offset,
                        SolvedArgument(
                            offset=offset, value=hex(target), mask=hex(mask), modulus=hex(modulus)
                        ),
                    )
                return
            undone = _undo(word, target, mask, modulus)
            if undone is None:
                return
            word, target, mask, modulus = undone


def _is_about_caller(term: Expr) -> bool:
    return any(part.operation in ("CALLER", "ORIGIN") for part in subterms(term))


def _offset(place: Value) -> int | None:
    if isinstance(place, int):
        return place if place < _FARTHEST else None
    match place:
        case Expr(operation="SUB", arguments=(Expr(operation="CALLDATASIZE"), int(back))):
            return -back
        case Expr(operation="ADD", arguments=(int(more), Expr(operation="CALLDATASIZE"))):
            return more - MASK - 1 if more > MASK >> 1 else None
    return None


def _undo(term: Expr, target: int, mask: int, modulus: int) -> tuple[Expr, int, int, int] | None:
    """Return the one unknown operand, its required value, mask and modulus. None: not solvable."""
    inner = [word for word in term.arguments if isinstance(word, Expr)]
    numbers = [word for word in term.arguments if isinstance(word, int)]
    if len(inner) != 1 or (modulus and term.operation != "ADD"):
        return None
    key = numbers[0] if numbers else 0
    is_first = term.arguments[0] is inner[0]
    if term.operation in _UNDONE_FIRST and not is_first:
        return None
    if term.operation in ("SHL", "SHR") and (is_first or key >= _BITS):
        return None
    if not key and term.operation in ("MUL", "DIV", "MOD"):
        return None
    undo = _UNDO.get(term.operation)
    undone = None if undo is None else undo(target, key, mask, is_first)
    if undone is None:
        return None
    value, bits, wheel = undone
    return inner[0], value & MASK, bits, modulus if term.operation == "ADD" else wheel


_UNDONE_FIRST: Final = frozenset({"DIV", "MOD"})
_Undone = tuple[int, int, int] | None
_UNDO: Final[dict[str, Callable[[int, int, int, bool], _Undone]]] = {
    "ADD": lambda target, key, mask, _: (target - key, mask, 0),
    "SUB": lambda target, key, mask, first: (target + key if first else key - target, mask, 0),
    "XOR": lambda target, key, mask, _: (target ^ key, mask, 0),
    "NOT": lambda target, _key, mask, _: (~target, mask, 0),
    "AND": lambda target, key, mask, _: (target, mask & key, 0),
    "SHL": lambda target, key, _mask, _: (target >> key, MASK >> key, 0),
    "SHR": lambda target, key, _mask, _: (target << key, (MASK << key) & MASK, 0),
    "MUL": lambda target, key, mask, _: None if target % key else (target // key, mask, 0),
    "DIV": lambda target, key, mask, _: (target * key, mask, 0),
    "MOD": lambda target, key, mask, _: (target, mask, key),
    "ISZERO": lambda target, _key, mask, _: (int(not target), mask, 0),
}
"""Required value of the other operand, its mask and modulus, by operation with a constant."""


_BITS: Final = 256


def _preludes(code: ContractModel, found: UnprovedStore) -> Iterator[int]:
    """Yield functions that write storage the path reads, except balances and allowances."""
    roots: dict[VariableId, None] = {}
    words = [condition for condition, _ in found.path[::-1]]
    for condition in words:
        if isinstance(condition, Expr):
            for slot, _ in code.dependencies.reads(condition):
                for place in code.layout.of(slot):
                    roots.setdefault(place.root)
    roles = code.storage.roles
    for root in roots:
        if root in roles.balances or root in roles.allowances:
            continue
        for write in code.writes.all:
            if write.place.root == root and write.entry not in (None, found.entry):
                entry: FunctionId = write.entry
                if entry is not None:
                    yield entry
