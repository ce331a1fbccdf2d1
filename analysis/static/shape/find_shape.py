"""Finds the shape of an explored code: digest and sketch of the event graphs of its functions.

Features are events, pairs of them in sequence, and what is returned, whichever function they are
in: selectors, names and the order of functions have no part in them. An edit changes the features
around it and no others.
"""

import hashlib
from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import Final

from analysis.static.evm.cfg import DESTRUCTS, CfgNode, Effect, FunctionId
from analysis.static.evm.expressions import Expr, Value, undisturbed
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.token_model.contract_model import ContractModel
from core.evm.code_shape import PART_BYTES, PARTS, SHAPE_VERSION, CodeShape

_DEEPEST: Final = 4
_MOST_OPERANDS: Final = 6
_LONGEST: Final = 160
"""Characters; a longer text is replaced by its digest, which bounds hostile code."""

_CONSTANT: Final = "#"
_CUT: Final = "*"
_HEAD: Final = 4
_WORD: Final = 32

_WRAPPINGS: Final = frozenset(
    {"AND", "SHL", "SHR", "DIV", "MUL", "ADD", "SUB", "OR", "SIGNEXTEND", "BYTE"}
)
"""Operations with a constant that only move, cut or offset the other operand; of DIV and MUL a
power of two, as packing has it."""
_POWERS: Final = frozenset({"DIV", "MUL"})
_UNARY: Final = frozenset({"ISZERO", "NOT"})
_SORTED: Final = frozenset({"ADD", "MUL", "AND", "OR", "XOR", "EQ"})
_TURNED: Final = {"GT": "lt", "SGT": "lt"}
_ORDERED: Final = {"LT": "lt", "SLT": "lt"}
_EQUAL: Final = frozenset({"EQ", "SUB", "XOR"})
"""Operations that a branch uses as a test of equality."""
_MERGED: Final = frozenset({"phi", "top"})
_LEAVES: Final = frozenset({"memory", "input", "success", "result", "created", "RETURNDATASIZE"})
"""Operations whose operands differ between compilers: places in memory and in code."""


class NormalForms:
    """Normal forms of the expressions of one pool, each computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[Expr, int], str] = {}

    def of(self, word: Value, depth: int = _DEEPEST) -> str:
        """Return the normal form of a value."""
        word = bare(undisturbed(bare(word)))
        if isinstance(word, int):
            return _CONSTANT
        if depth == 0:
            return _CUT
        known = self._known.get((word, depth))
        if known is None:
            known = self._known[word, depth] = _short(self._form(word, depth - 1))
        return known

    def of_condition(self, condition: Value) -> str:
        """Return the normal form of what a branch tests, the same for either side."""
        word = _without_zero(condition)
        if isinstance(word, Expr) and word.operation in _EQUAL:
            return _short(self._call("eq", word.arguments, _DEEPEST, is_sorted=True))
        return self.of(word)

    def _form(self, word: Expr, depth: int) -> str:
        name, operands = word.operation, word.arguments
        if name in _MERGED:
            return "~"
        if name in _LEAVES:
            return name
        if name == "CALLDATALOAD":
            return _argument(operands[0])
        if name in _TURNED:
            return self._call(_TURNED[name], operands[::-1], depth)
        if name == "OR":
            return self._packed(operands, depth)
        return self._call(_ORDERED.get(name, name), operands, depth, is_sorted=name in _SORTED)

    def _packed(self, operands: tuple[Value, ...], depth: int) -> str:
        """Return the form of a word put together, without the stored word that it replaces."""
        parts = sorted({self.of(each, depth) for each in operands} - {_CONSTANT})
        written = [part for part in parts if not part.startswith("SLOAD")] or parts
        return written[0] if len(written) == 1 else f"OR({','.join(written)})"

    def _call(
        self, name: str, operands: tuple[Value, ...], depth: int, *, is_sorted: bool = False
    ) -> str:
        parts = [self.of(each, depth) for each in operands[:_MOST_OPERANDS]]
        return f"{name}({','.join(sorted(parts) if is_sorted else parts)})"


def _without_zero(condition: Value) -> Value:
    """Return what a condition compares with zero, which compilers write in many ways; another
    condition without its negations."""
    while isinstance(condition, Expr):
        match (condition.operation, condition.arguments):
            case ("ISZERO", (word,)) | ("EQ", (0, word) | (word, 0)):
                condition = word
            case ("LT", (0, word) | (word, 1)) | ("GT", (word, 0) | (1, word)):
                condition = word
            case _:
                break
    return condition


def bare(word: Value) -> Value:
    """Strip negations, and what masks, moves or offsets a word by a constant."""
    while isinstance(word, Expr):
        operands = word.arguments
        if word.operation in _UNARY:
            word = operands[0]
        elif word.operation in _WRAPPINGS and len(operands) == 2:  # noqa: PLR2004 - two operands
            inner = _wrapped(word.operation, operands[0], operands[1])
            if inner is None:
                break
            word = inner
        else:
            break
    return word


def _wrapped(name: str, first: Value, second: Value) -> Value | None:
    """Return the operand that a constant wraps. None: it does more than that."""
    if name == "DIV":
        return first if isinstance(second, int) and _is_power(second) else None
    if isinstance(first, int):
        return second if name not in _POWERS or _is_power(first) else None
    return first if isinstance(second, int) and name not in _POWERS | {"SHL", "SHR"} else None


def _is_power(number: int) -> bool:
    return number.bit_count() == 1


def _argument(place: Value) -> str:
    if isinstance(place, int) and place >= _HEAD and (place - _HEAD) % _WORD == 0:
        return f"a{(place - _HEAD) // _WORD}"
    return "a"


def _short(text: str) -> str:
    if len(text) <= _LONGEST:
        return text
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


_MOST_HEADS: Final = 12
"""Most next events that are listed for one; of more, the first in order of their texts."""

_PASSES: Final = 2
"""Rounds in which next events are passed back through blocks without any, each block after those
that follow it: the second one goes round loops."""

_SELECTOR_SHIFT: Final = 224
_CALLS_IN: Final = ("selector", "CALLDATASIZE", "RETURNDATASIZE")
"""Leaves of conditions on the call itself, which differ between compilers."""
_ALONE: Final = ("CALLVALUE()", "EXTCODESIZE(", "ADDRESS()", "CALLER()", "#")
"""Operations that are compared with zero in vain, or by a compiler."""

Edge = tuple[str, str]


class EventGraph:
    """The events of one function with their edges."""

    def __init__(self, code: ContractModel, function: FunctionCfg, forms: NormalForms) -> None:
        self._code = code
        self._function = function
        self._forms = forms
        self.events: set[str] = set()
        self.edges: set[Edge] = set()
        """Pairs of events of which the second can come next after the first."""
        self._build()

    def _build(self) -> None:
        nodes = self._function.last_first
        events = {node: tuple(self._events(node)) for node in nodes}
        heads = {node: frozenset(found[:1]) for node, found in events.items()}
        silent = [node for node, found in events.items() if not found]
        for _ in range(_PASSES):
            for node in silent:
                heads[node] = self._next(node, heads)
        for node, found in events.items():
            self.events.update(found)
            self.edges.update(pairwise(found))
            if found:
                self.edges.update((found[-1], head) for head in self._next(node, heads))

    @staticmethod
    def _next(node: CfgNode, heads: dict[CfgNode, frozenset[str]]) -> frozenset[str]:
        """Return the events that can come next after those of a node."""
        found = [heads[after] for after in node.successors() if after in heads]
        if len(found) == 1 or (found and all(each == found[0] for each in found)):
            return found[0]
        return frozenset(sorted(frozenset().union(*found))[:_MOST_HEADS])

    def _events(self, node: CfgNode) -> Iterator[str]:
        for effect in node.effects:
            yield self._effect(effect)
        if node.end == DESTRUCTS:
            yield "destruct"
        branch = node.branch
        if branch is None or self._code.guards.is_check(branch.pc, branch.condition):
            return
        text = self._forms.of_condition(branch.condition)
        if any(name in text for name in _CALLS_IN) or text.startswith(_ALONE):
            return
        passing = self._function.can_succeed
        is_guard = branch.if_true not in passing or branch.if_false not in passing
        yield f"{'guard' if is_guard else 'choice'} {text}"

    def _effect(self, effect: Effect) -> str:
        if effect.kind == "SSTORE":
            slot, value = (self._forms.of(word) for word in effect.words)
            return f"store {slot} {value}"
        target, head = effect.words[:2]
        called = f"{head >> _SELECTOR_SHIFT:08x}" if isinstance(head, int) else ""
        return f"{effect.kind} {self._forms.of(target)} {called}"


LEAST_FEATURES: Final = 16
"""Fewest events of a code that can be compared: smaller ones are like too many others."""

_MOST_NODES: Final = 60_000
_MOST_FEATURES: Final = 20_000
"""Those with the lowest hashes of more, of any code the same."""

_DIGEST_BYTES: Final = 16
_HASH_BYTES: Final = 8


def find_shape(code: ContractModel) -> CodeShape | None:
    """Return the shape. None: not known, as too little or too much was explored, or not within the
    time limit, which another machine may keep."""
    if code.notes.is_timed_out:
        return None
    forms = NormalForms()
    returned = _returned(code, forms)
    texts: set[str] = set()
    functions: list[bytes] = []
    nodes = 0
    for entry in code.functions.entries:
        function = code.functions.cfg(entry)
        nodes += len(function.nodes)
        if nodes > _MOST_NODES:
            return None
        found = _features(EventGraph(code, function, forms)) | returned.get(entry, set())
        texts |= found
        if found:
            functions.append(_digest(sorted(found)))
    hashes = sorted(_hash(text) for text in texts)[:_MOST_FEATURES]
    if len(hashes) < LEAST_FEATURES:
        return None
    head = SHAPE_VERSION.to_bytes(2)
    digest = hashlib.blake2b(head + b"".join(sorted(functions)), digest_size=_DIGEST_BYTES).digest()
    return CodeShape(digest=digest, sketch=sketch_of(hashes))


def _returned(code: ContractModel, forms: NormalForms) -> dict[FunctionId, set[str]]:
    """Return what each function returns first."""
    found: dict[FunctionId, set[str]] = {}
    for note in code.notes.returns.values():
        if note.words:
            found.setdefault(note.entry, set()).add(f"return {forms.of(note.words[0])}")
    return found


def _features(graph: EventGraph) -> set[str]:
    return {
        *graph.events,
        *(f"{first} > {second}" for first, second in graph.edges),
    }


def sketch_of(hashes: Iterable[int]) -> bytes:
    """Return the sketch of a set of features, which has at least one.

    One hash of a feature gives its part and its rank there. A part without features takes those of
    another one, chosen by the part alone, so that equal sets stay equal and others as unlike as
    before. Source: Shrivastava, "Optimal densification for fast and accurate minwise hashing".
    """
    least: dict[int, int] = {}
    for number in hashes:
        rank, part = divmod(number, PARTS)
        least[part] = min(rank, least.get(part, rank))
    limit = 1 << (8 * PART_BYTES)
    return b"".join(
        (least[_donor(part, least)] % limit).to_bytes(PART_BYTES) for part in range(PARTS)
    )


def _donor(part: int, filled: dict[int, int]) -> int:
    attempt, donor = 0, part
    while donor not in filled:
        attempt += 1
        donor = _hash(f"{part} {attempt}") % PARTS
    return donor


def _hash(text: str) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=_HASH_BYTES).digest())


def _digest(texts: Iterable[str]) -> bytes:
    return hashlib.blake2b("\n".join(texts).encode(), digest_size=_DIGEST_BYTES).digest()
