"""Reach of stores: slots that stay in the data area of their variable, and slots that may be any.

Data of strings, arrays and structs lie behind a hash, and so do balances. Two hashes are farther
apart than `_AREA_BITS` bits, so a slot is harmless if its distance from one hash is bounded. Bounds
are *proved*: a number of few bits, a comparison with a bounded number on every path to the store, a
length whose every writer stores bounded numbers, or a sum in a loop, which gas bounds.
"""

from collections.abc import Container, Iterator
from typing import Final, NamedTuple

from analysis.static.custody.custody_facts import normal, parts_of_condition
from analysis.static.dataflow.linear_amounts import summands
from analysis.static.dataflow.storage_layout import UNKNOWN, VariableId, settled_bits
from analysis.static.evm.cfg import CfgNode, FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, subterms
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.token_model.contract_model import ContractModel
from analysis.static.token_model.storage.write_index import StorageWrite

_WORD: Final = 256
_AREA: Final = 2**160
"""Distances up to this lead from one hash to no other."""
PLAIN: Final = 2**64 - 1
"""Larger numbers are hashes, computed by the compiler."""
_ROUNDS: Final = 2**40
"""Rounds of a loop, which gas bounds; calls over the life of a chain; and their largest step."""
_MOST_STEPS: Final = 2_000
_DEEPEST: Final = 60
_LOW: Final = 0x7F
"""Mask of the length of a short string, without the bit that marks a long one."""

_SIZES: Final = frozenset(
    {"CALLDATASIZE", "RETURNDATASIZE", "CODESIZE", "EXTCODESIZE", "MSIZE", "GAS", "TIMESTAMP"}
    | {"NUMBER", "GASLIMIT", "CHAINID", "returndatasize", "extcodesize"}
)
_BYTES: Final = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success", "BYTE"})
_BYTE: Final = 0xFF

_READS: Final = frozenset(
    {"SLOAD", *("ADD", "SUB", "MUL", "DIV", "AND", "OR", "SHL", "SHR", "ISZERO", "keccak")}
)
"""Storage, and what keeps its value if storage does."""

_Edge = tuple[CfgNode, CfgNode]


class _Spread(NamedTuple):
    """The bound of a word: `hashes` added into it, and the largest value of the rest."""

    hashes: int
    most: int
    is_open: bool = False
    """True if it contains a phi or variable that is being measured."""


_FREE: Final = _Spread(0, MASK)


class _Limits(NamedTuple):
    """Comparisons in the branches of one function, each with the edges that imply it."""

    at_most: dict[Value, dict[Value, set[_Edge]]]
    """Larger numbers by smaller ones."""
    not_zero: dict[Value, set[_Edge]]
    odd: dict[Value, set[_Edge]]


class StorageReach:
    """Bounds of the slots that one code stores to, with memoised results."""

    def __init__(self, code: ContractModel) -> None:
        self._code = code
        self._limits: dict[FunctionId, _Limits] = {}
        self._known: dict[tuple[FunctionId, int, Value], bool] = {}
        self._longest: dict[VariableId, int] = {}
        self._changes: dict[FunctionId, dict[Expr | VariableId, list[CfgNode]]] = {}
        self.measuring: list[VariableId] = []
        """Variables whose lengths are being measured, outermost first."""

    def is_bounded(self, entry: FunctionId, pc: int, slot: Value) -> bool:
        """True if the SSTORE at `pc` surely stores near one hash."""
        key = (entry, pc, slot)
        known = self._known.get(key)
        if known is None:
            found = self._measure_at(entry, pc).of(slot, is_signed=True)
            known = self._known[key] = found.hashes == 1 and found.most <= _AREA
        return known

    def _measure_at(self, entry: FunctionId, pc: int) -> "_Measure":
        flow = self._code.functions.cfg(entry)
        stores = tuple(node for node, effect in flow.effects() if effect.pc == pc)
        return _Measure(self, self._code, entry, stores)

    def may_change(self, entry: FunctionId, word: Expr) -> bool:
        """True if the word may stand for several values in one call of the function."""
        if not word.changes:
            return False
        is_read = all(not term.changes or term.operation in _READS for term in subterms(word))
        return not is_read or any(
            True for _ in self._changing(self._code.functions.cfg(entry), word)
        )

    def limits(self, entry: FunctionId) -> _Limits:
        """Return the comparisons of a function."""
        known = self._limits.get(entry)
        if known is None:
            known = self._limits[entry] = self._read(entry)
        return known

    def _read(self, entry: FunctionId) -> _Limits:
        found = _Limits({}, {}, {})
        for node, branch in self._code.functions.cfg(entry).branching():
            for holds, after in ((True, branch.if_true), (False, branch.if_false)):
                edge = (node, after)
                for small, large in _ordered(branch.condition, holds=holds):
                    found.at_most.setdefault(small, {}).setdefault(large, set()).add(edge)
                    if small == 0:
                        found.not_zero.setdefault(large, set()).add(edge)
                form, is_so = normal(branch.condition, holds=holds)
                if isinstance(form, Expr) and is_so:
                    found.not_zero.setdefault(form, set()).add(edge)
                    if form.operation == "AND" and form.arguments[0] == 1:
                        found.odd.setdefault(form.arguments[1], set()).add(edge)
        return found

    def is_passed(
        self,
        entry: FunctionId,
        stores: tuple[CfgNode, ...],
        word: Value,
        edges: Container[_Edge],
    ) -> bool:
        """True if every path to these nodes takes one of the edges.

        After each change of the word it must do so again."""
        flow = self._code.functions.cfg(entry)
        if not stores or not flow.is_barred(stores, edges):
            return False
        reaching = flow.leading_to(stores, edges)
        return not any(
            after in reaching and (node, after) not in edges
            for node in self._changing(flow, word)
            for after in node.successors()
        )

    def _changing(self, flow: FunctionCfg, word: Value) -> Iterator[CfgNode]:
        """Yield the nodes after which the word may be another: by a phi, or by a store."""
        changes = self._changes_of(flow)
        for atom in subterms(word):
            yield from changes.get(atom, ())
            if atom.operation == "SLOAD":
                for place in self._code.layout.of(atom.arguments[0]):
                    yield from changes.get(place.root, ())

    def _changes_of(self, flow: FunctionCfg) -> dict[Expr | VariableId, list[CfgNode]]:
        """Return the nodes that give a phi another operand, and those that store to a variable."""
        known = self._changes.get(flow.entry)
        if known is None:
            known = self._changes[flow.entry] = {}
            for node in flow.nodes:
                for phi, _ in () if node.phi is None else node.phi.operands():
                    known.setdefault(phi, []).append(node)
                for effect in node.effects:
                    if effect.kind == "SSTORE":
                        for place in self._code.layout.of(effect.words[0]):
                            known.setdefault(place.root, []).append(node)
        return known

    def longest(self, root: VariableId, *, is_text: bool) -> int:
        """Return the largest number that any store puts into a variable. `is_text`: only words
        whose lowest bit is set, as in the slot of a long string."""
        key = ("text", root) if is_text else root
        known = self._longest.get(key)
        if known is None:
            self.measuring.append(root)
            known = self._longest[key] = max(
                (self._most_of(write, root, is_text=is_text) for write in self._code.writes.all),
                default=0,
            )
            self.measuring.pop()
        return known

    def _most_of(self, write: StorageWrite, root: VariableId, *, is_text: bool) -> int:
        """Return the largest number that a store may put into the variable. Stores that
        may be to any slot are reported themselves."""
        if write.place.root != root or (is_text and settled_bits(write.value, 1) == 0):
            return 0
        found = self._measure_at(write.entry, write.pc).of(write.value)
        return min(found.most + (_ROUNDS * _ROUNDS if found.is_open else 0), MASK)


def _of_number(number: int, *, is_signed: bool) -> _Spread:
    if is_signed and number > MASK - PLAIN:
        return _Spread(0, MASK + 1 - number)
    return _Spread(1, 0) if is_signed and number > PLAIN else _Spread(0, number)


def _spread(hashes: int, most: int, *, is_open: bool = False) -> _Spread:
    return _Spread(hashes, most, is_open) if most <= MASK else _FREE


class _Measure:
    """Measurement of words on the paths to some nodes, such as those of one store."""

    def __init__(
        self,
        reach: StorageReach,
        code: ContractModel,
        entry: FunctionId,
        nodes: tuple[CfgNode, ...],
    ) -> None:
        self._reach = reach
        self._code = code
        self._entry, self._nodes = entry, nodes
        self._steps = _MOST_STEPS
        self._open: set[Expr] = set()
        self._limiting: set[Value] = set()
        self._known: dict[tuple[Value, bool], _Spread] = {}

    def of(self, word: Value, *, is_signed: bool = False, depth: int = _DEEPEST) -> _Spread:
        """Return the bound of a word. `is_signed`: of its distance from zero, in both directions;
        hashes are counted, and not measured."""
        key = (word, is_signed)
        known = self._known.get(key)
        if known is None:
            self._steps -= 1
            if self._steps < 0 or depth == 0:
                return _FREE
            same = _only_summand(word)
            known = (
                _of_number(same, is_signed=is_signed)
                if isinstance(same, int)
                else self._of_term(same, depth - 1, is_signed=is_signed)
            )
            if not known.hashes and known.most > PLAIN and isinstance(word, Expr):
                known = self._limited(word, known, depth - 1)
            if not known.is_open:
                self._known[key] = known
        return known

    def _of_term(self, term: Expr, depth: int, *, is_signed: bool) -> _Spread:
        found: _Spread | None = None
        match (term.operation, term.arguments):
            case ("keccak" | "packed", _) if is_signed:
                found = _Spread(1, 0)
            case ("phi", _):
                found = self._of_phi(term, depth, is_signed=is_signed)
            case ("SLOAD", (slot,)):
                found = self._stored(slot)
            case ("ADD", (int(number), inner)) if not is_signed and number > MASK - PLAIN:
                found = self._lowered(inner, MASK + 1 - number, depth)
            case ("ADD", (one, other)):
                found = self._sum(one, other, depth, is_signed=is_signed)
            case ("SUB", (one, other)) if is_signed:
                found = self._sum(one, other, depth, is_signed=True)
            case ("SUB", (one, other)):
                found = self._lowered(one, other, depth)
            case ("MUL", (int(number), inner)):
                found = self._times(inner, number, depth, is_signed=is_signed)
            case ("SHL", (int(shift), inner)):
                found = self._times(inner, 1 << min(shift, _WORD), depth, is_signed=is_signed)
        return self._of_cut(term, depth) if found is None else found

    def _of_cut(self, term: Expr, depth: int) -> _Spread:
        """Return the bound of an operation that keeps some bits of its operands."""
        most = MASK
        match (term.operation, term.arguments):
            case ("AND" | "MOD", words):
                most = min(self._closed(word, depth) for word in words)
            case ("OR" | "XOR", words):
                bits = max(self._closed(word, depth).bit_length() for word in words)
                most = (1 << bits) - 1
            case ("SHR", (int(shift), inner)):
                most = self._closed(inner, depth) >> min(shift, _WORD)
            case ("DIV", (inner, by)):
                most = self._closed(inner, depth) // (by if isinstance(by, int) and by else 1)
            case (name, _) if name in _SIZES or name in _BYTES:
                most = PLAIN if name in _SIZES else _BYTE
        if most > PLAIN:
            most = min(most, self._text_length(term))
        return _Spread(0, most)

    def _closed(self, word: Value, depth: int) -> int:
        found = self.of(word, depth=depth)
        return MASK if found.is_open else found.most

    def _sum(self, one: Value, other: Value, depth: int, *, is_signed: bool) -> _Spread:
        first = self.of(one, is_signed=is_signed, depth=depth)
        second = self.of(other, is_signed=is_signed, depth=depth)
        is_open = first.is_open or second.is_open
        step = second if first.is_open else first
        if is_open and (step.is_open or step.hashes or step.most > _ROUNDS):
            return _FREE
        return _spread(first.hashes + second.hashes, first.most + second.most, is_open=is_open)

    def _lowered(self, word: Value, by: Value, depth: int) -> _Spread:
        found = self.of(word, depth=depth)
        return found if self._is_not_below(word, by) else _FREE

    def _times(self, word: Value, by: int, depth: int, *, is_signed: bool) -> _Spread:
        found = self.of(word, is_signed=is_signed, depth=depth)
        return _FREE if found.is_open or found.hashes else _spread(0, found.most * by)

    def _of_phi(self, phi: Expr, depth: int, *, is_signed: bool) -> _Spread:
        if phi in self._open:
            return _Spread(0, 0, is_open=True)
        operands = list(self._code.pool.phi_operands.get(phi, ()))
        text = _text_in(operands)
        if text is not None:
            return _spread(0, self._text_most(text))
        self._open.add(phi)
        found = [self.of(word, is_signed=is_signed, depth=depth) for word in operands]
        self._open.discard(phi)
        hashes = {each.hashes for each in found if not each.is_open}
        if len(hashes) != 1:
            return _FREE
        is_loop = any(each.is_open for each in found)
        most = max(each.most for each in found) + (_ROUNDS * _ROUNDS if is_loop else 0)
        # steps of an enclosing loop are counted there
        return _spread(hashes.pop(), most, is_open=is_loop and bool(self._open))

    # --- bounds from branches and from storage --------------------------------------------------

    def _limited(self, word: Expr, known: _Spread, depth: int) -> _Spread:
        if word in self._limiting:
            return known
        self._limiting.add(word)
        best = known
        for large, edges in self._reach.limits(self._entry).at_most.get(word, {}).items():
            most = self._closed(large, depth)
            if most < best.most and self._passes(word, edges):
                best = _Spread(0, most)
        self._limiting.discard(word)
        return best

    def _passes(self, word: Value, edges: set[_Edge]) -> bool:
        return self._reach.is_passed(self._entry, self._nodes, word, edges)

    def _is_not_below(self, one: Value, other: Value) -> bool:
        limits = self._reach.limits(self._entry)
        edges = limits.at_most.get(other, {}).get(one, set())
        return self._passes(one, edges | (limits.not_zero.get(one, set()) if other == 1 else set()))

    def _stored(self, slot: Value) -> _Spread:
        most = 0
        measuring = self._reach.measuring
        for place in self._code.layout.of(slot):
            if measuring and place.root == measuring[-1]:
                return _Spread(0, 0, is_open=True)
            if place.root == UNKNOWN or place.root in measuring:
                return _FREE
            most = max(most, self._reach.longest(place.root, is_text=False))
        return _Spread(0, most)

    def _text_length(self, term: Expr) -> int:
        """Return the most of half of a word that was tested to be odd: a long string's length."""
        match (term.operation, term.arguments):
            case ("SHR", (1, Expr(operation="SLOAD") as text)):
                pass
            case ("DIV", (Expr(operation="SLOAD") as text, 2)):
                pass
            case _:
                return MASK
        edges = self._reach.limits(self._entry).odd.get(text, set())
        return self._text_most(text) if self._passes(text, edges) else MASK

    def _text_most(self, text: Expr) -> int:
        places = self._code.layout.of(text.arguments[0])
        if any(place.root == UNKNOWN or place.root in self._reach.measuring for place in places):
            return MASK
        return max(self._reach.longest(place.root, is_text=True) for place in places)


def _only_summand(word: Value) -> Value:
    """Return what a sum comes to if the rest of it cancels, as in `(x - 1) + 1`; any other word as
    it is."""
    if not isinstance(word, Expr) or word.operation not in ("ADD", "SUB"):
        return word
    parts = [(part, count) for part, count in summands(word).items() if count]
    return parts[0][0] if len(parts) == 1 and parts[0][1] == 1 else word


def _text_in(operands: list[Value]) -> Expr | None:
    """Return the storage read of a string whose length the phi is: its half, or the low bits of
    that where the string is short. None: it is something else."""
    for word in operands:
        match word:
            case Expr(operation="AND", arguments=(mask, Expr() as half)) if (
                mask == _LOW and half in operands and len(operands) == len((mask, half))
            ):
                match (half.operation, half.arguments):
                    case ("SHR", (1, Expr(operation="SLOAD") as text)):
                        return text
                    case ("DIV", (Expr(operation="SLOAD") as text, 2)):
                        return text
    return None


def _ordered(condition: Value, *, holds: bool) -> Iterator[tuple[Value, Value]]:
    """Yield pairs of a smaller and a larger number, or equal ones, if the condition holds so."""
    for term, is_true in parts_of_condition(condition, holds=holds):
        if term.operation in ("LT", "GT"):
            one, other = term.arguments
            small, large = (one, other) if (term.operation == "LT") is is_true else (other, one)
            yield small, large - 1 if is_true and isinstance(large, int) and large else large
        elif term.operation == "EQ" and is_true:
            one, other = term.arguments
            yield one, other
            yield other, one
