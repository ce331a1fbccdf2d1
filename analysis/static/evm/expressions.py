"""Symbolic expressions: hash-consed 256-bit words with constant folding.

A `Value` is a plain int where it is known and an `Expr` where it is not. Within one pool equal
expressions are one object, so that they compare by identity. Expressions of more than 120 nodes are
cut: their large arguments become `top`. All of it is *inferred*: a path need not be feasible.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Final

from core.evm.keccak import keccak
from core.evm.primitives import ADDRESS_BITS, ADDRESS_MASK

MASK: Final = 2**256 - 1
_SIGN: Final = 2**255
_LARGEST = 120
"""Nodes of one expression; in a larger one, large arguments become `top`. Real slots and conditions
are far smaller; the bound limits the memory that hostile code can cost."""


class Expr:
    """A symbolic word. `arguments` are values; those of a leaf are numbers that identify it."""

    __slots__ = ("arguments", "changes", "depends_on_time", "operation", "place", "size")

    def __init__(self, operation: str, arguments: tuple["Value", ...]) -> None:
        self.operation = operation
        self.arguments = arguments
        size, changes, has_clock = 1, operation in _CHANGING, False
        for argument in arguments:
            if isinstance(argument, Expr):
                size += argument.size
                changes |= argument.changes
                has_clock |= argument.depends_on_time
        self.size: int = size
        self.changes: bool = changes
        """True if two evaluations of the expression can differ within one call."""
        self.depends_on_time: bool = operation in _CLOCKS or (has_clock and operation not in _CUTS)
        self.place: tuple[Expr, int] | None = None
        """Cache of its split as a memory address: base and offset in bytes. None: not computed."""


Value = int | Expr


def is_power_of_two(number: int) -> bool:
    """True for 1, 2, 4 and so on: factors equal to a shift."""
    return number > 0 and not number & (number - 1)


def is_bit_run(bits: int) -> bool:
    """True for one unbroken run of set bits, as a packed field is cut out of its slot with."""
    return is_power_of_two((bits >> lowest_bit(bits)) + 1) if bits else False


def lowest_bit(bits: int) -> int:
    """Return the position of the lowest set bit, such as the shift of a field in its slot.

    0 if no bit is set.
    """
    return (bits & -bits).bit_length() - 1 if bits else 0


_NOTHING: Final[frozenset[Expr]] = frozenset()
_CLOCKS = frozenset({"TIMESTAMP", "NUMBER"})
_CUTS = frozenset({"SLOAD", "keccak", "packed", "success", "result", "BLOCKHASH"})
"""Operations whose result counts as independent of a clock among their operands."""

_CLOSED = frozenset({"SLOAD", "phi", "keccak", "packed"})
"""Operations whose operands are no storage reads of the expression itself."""

_CHANGING = frozenset(
    {
        *("SLOAD", "TLOAD", "GAS", "MSIZE", "memory", "result", "BALANCE", "SELFBALANCE", "top"),
        "phi",  # in a loop its value differs between iterations
    }
)


def _signed(word: int) -> int:
    return word - 2**256 if word & _SIGN else word


def _shift_right(shift: int, word: int) -> int:
    return word >> shift if shift < 256 else 0  # noqa: PLR2004 - bits of a word


def _shift_left(shift: int, word: int) -> int:
    return (word << shift) & MASK if shift < 256 else 0  # noqa: PLR2004


FOLDED: Final[dict[str, Callable[..., int]]] = {
    "ADD": lambda a, b: (a + b) & MASK,
    "SUB": lambda a, b: (a - b) & MASK,
    "MUL": lambda a, b: (a * b) & MASK,
    "DIV": lambda a, b: a // b if b else 0,
    "MOD": lambda a, b: a % b if b else 0,
    "EXP": lambda a, b: pow(a, b, 2**256),
    "LT": lambda a, b: int(a < b),
    "GT": lambda a, b: int(a > b),
    "SLT": lambda a, b: int(_signed(a) < _signed(b)),
    "SGT": lambda a, b: int(_signed(a) > _signed(b)),
    "EQ": lambda a, b: int(a == b),
    "ISZERO": lambda a: int(not a),
    "AND": lambda a, b: a & b,
    "OR": lambda a, b: a | b,
    "XOR": lambda a, b: a ^ b,
    "NOT": lambda a: a ^ MASK,
    "SHL": _shift_left,
    "SHR": _shift_right,
    "BYTE": lambda i, a: (a >> (8 * (31 - i))) & 0xFF if i < 32 else 0,  # noqa: PLR2004
}

_COMMUTATIVE = frozenset({"ADD", "MUL", "AND", "OR", "XOR", "EQ"})
_SELF_INVERSE = {"SUB": 0, "XOR": 0, "EQ": 1, "LT": 0, "GT": 0, "SLT": 0, "SGT": 0}
"""Result of an operation on two equal operands."""

_NEUTRAL = {"ADD": 0, "OR": 0, "XOR": 0, "MUL": 1, "AND": MASK}
_ABSORBING = {"MUL": 0, "AND": 0}

_SELECTOR_SHIFT = 224
_SELECTOR_MASK = 2**32 - 1
_SELECTOR_HIGH = _SELECTOR_MASK << _SELECTOR_SHIFT


class ExprPool:
    """Hash-consing pool: builds expressions, folds constants and shares equal expressions."""

    def __init__(self) -> None:
        self._terms: dict[tuple[object, ...], Expr] = {}
        self._ranks: dict[Value, int] = {}
        self._disturbed: dict[tuple[object, ...], Expr] = {}
        self._reads: dict[Expr, frozenset[Expr]] = {}
        self.read_pcs: dict[Expr, int] = {}
        """Storage reads with another expression than an earlier one of the slot, with their pc."""
        self.hashed: dict[int, tuple[int, ...]] = {}
        """Preimages of concrete hashes: the hashed words by hash."""
        self.phi_operands: dict[Expr, dict[Value, None]] = {}
        """Operands of each phi, and the expression cut off at each `top`. In order of discovery:
        in any other, results would differ from run to run."""
        self.calldata_head = self.intern("CALLDATALOAD", 0)
        self.selector = self.intern("selector")
        self.selector_high = self.intern("selector_high")
        """The selector in the four highest bytes, as in calldata."""

    def intern(self, operation: str, *arguments: Value) -> Expr:
        """Return the shared expression, without folding. Expressions in a key count by identity."""
        key = (operation, *arguments)
        term = self._terms.get(key)
        if term is None:
            term = Expr(operation, arguments)
            if term.size > _LARGEST:
                term = Expr(operation, tuple(self._shortened(word) for word in arguments))
            self._terms[key] = term
        return term

    def read_at(self, slot: Value, pc: int) -> Expr:
        """Return the read of a slot at one pc, which is another expression than the plain read."""
        key = ("SLOAD", slot, "at", pc)
        term = self._terms.get(key)
        if term is None:
            term = self._terms[key] = Expr("SLOAD", (slot,))
            self.read_pcs[term] = pc
        return term

    def reads_in(self, word: Value) -> frozenset[Expr]:
        """Return the storage reads and phis in an expression, outside the slots of other reads."""
        if not isinstance(word, Expr):
            return _NOTHING
        known = self._reads
        waiting = [] if word in known else [word]
        while waiting:  # no recursion: what was cut off at a `top` may be cut itself, and so on
            term = waiting[-1]
            parts = self._reading_parts(term)
            fresh = [each for each in parts if isinstance(each, Expr) and each not in known]
            if fresh:
                waiting += fresh
                continue
            waiting.pop()
            if term.operation in ("SLOAD", "phi"):
                known[term] = frozenset({term})
            else:
                known[term] = _NOTHING.union(
                    *(known[each] for each in parts if isinstance(each, Expr))
                )
        return known[word]

    def _reading_parts(self, term: Expr) -> Iterable[Value]:
        """Return the operands whose storage reads are those of the expression."""
        if term.operation == "top":
            return self.phi_operands.get(term, ())
        return () if term.operation in _CLOSED else term.arguments

    def rank(self, word: Value) -> int:
        """Return a rank to sort values by, in order of the first requests.

        The rank is the same in every run of one code.
        """
        return self._ranks.setdefault(word, len(self._ranks))

    def has(self, operation: str, *arguments: Value) -> bool:
        """True if some path has built this expression."""
        return (operation, *arguments) in self._terms

    def terms(self) -> Iterator[Expr]:
        """Iterate over all expressions built so far, except phi and top."""
        return iter(self._terms.values())

    def _shortened(self, word: Value) -> Value:
        """Return the value, or a new `top` in place of a large expression."""
        if not isinstance(word, Expr) or word.size <= _LARGEST // 4:
            return word
        short = Expr("top", (len(self._terms),))
        self.phi_operands[short] = {word: None}
        short.depends_on_time = word.depends_on_time
        return short

    def either(self) -> Expr:
        """Create a phi without operands."""
        word = Expr("phi", (len(self.phi_operands),))
        self.phi_operands[word] = {}
        return word

    def disturbed(self, word: Value, unknown: Value) -> Expr:
        """Return a phi of a word in memory and the unknown word that a store may have made of it.

        Its second argument is the word. A word that is disturbed already stays as it is.
        """
        if isinstance(word, Expr) and undisturbed(word) is not word:
            return word
        key = ("disturbed", word, unknown)
        phi = self._disturbed.get(key)
        if phi is None:
            phi = self._disturbed[key] = Expr("phi", (len(self.phi_operands), word))
            self.phi_operands[phi] = {}
            self.join(phi, word, unknown)
        return phi

    def join(self, either: Value, *words: Value) -> None:
        """Add operands to a phi."""
        if not isinstance(either, Expr):
            return
        meanings = self.phi_operands[either]
        for word in words:
            if word is not either and word not in meanings:
                meanings[word] = None
                either.depends_on_time |= isinstance(word, Expr) and word.depends_on_time

    def build(self, operation: str, *arguments: Value) -> Value:
        """Return the result of an instruction, folded and simplified."""
        for argument in arguments:
            if isinstance(argument, Expr):
                break
        else:
            fold = FOLDED.get(operation)
            if fold is not None:
                return fold(*arguments)
        if len(arguments) == 2:  # noqa: PLR2004 - two operands
            return self._pair(operation, arguments[0], arguments[1])
        return self.intern(operation, *arguments)

    def _pair(self, operation: str, a: Value, b: Value) -> Value:
        if operation in _COMMUTATIVE and isinstance(b, int):
            a, b = b, a
        if a is b and isinstance(a, Expr) and not a.changes and operation in _SELF_INVERSE:
            return _SELF_INVERSE[operation]
        if isinstance(a, int):
            if operation in _NEUTRAL and a == _NEUTRAL[operation]:
                return b
            if operation in _ABSORBING and a == _ABSORBING[operation]:
                return a
        shaped = self._idiom(operation, a, b)
        return self.intern(operation, a, b) if shaped is None else shaped

    def _idiom(self, operation: str, a: Value, b: Value) -> Value | None:
        """Simplify patterns that compilers emit. None: no pattern matches."""
        found: Value | None = None
        match (operation, a, b):
            case ("SHR" | "SHL", 0, word) | ("DIV", word, 1) | ("SUB", word, 0):
                found = word
            case ("LT", _, 0) | ("GT", 0, _) | ("DIV" | "MOD", 0, _):
                found = 0
            case ("SHR", shift, word) if shift == _SELECTOR_SHIFT:
                found = self._selector_in(word)
            case ("DIV", word, divisor) if divisor == 1 << _SELECTOR_SHIFT:
                found = self._selector_in(word)
            case ("AND", mask, Expr() as word):
                found = self._masked(mask, word)
            case ("ADD", int(number), Expr() as word):
                found = self._sum(number, word)
            case ("SUB", Expr(operation="ADD", arguments=(int(more), word)), int(less)):
                found = self.build("ADD", (more - less) & MASK, word)
        return found

    def _selector_in(self, word: Value) -> Value | None:
        """Return the selector for the head of calldata shifted down. None: another value."""
        return self.selector if word in (self.calldata_head, self.selector_high) else None

    def _masked(self, mask: Value, word: Expr) -> Value | None:
        if word is self.calldata_head and mask == _SELECTOR_HIGH:
            return self.selector_high
        if word is self.selector and mask == _SELECTOR_MASK:
            return word
        if mask == ADDRESS_MASK and word.operation in ("CALLER", "ORIGIN", "ADDRESS"):
            return word
        if word.operation == "AND" and word.arguments[0] == mask:
            return word
        return None

    def _sum(self, number: int, word: Expr) -> Value | None:
        """Gather constants of nested sums, so that a memory address has one expression."""
        if word.operation == "ADD" and isinstance(word.arguments[0], int):
            return self.build("ADD", (number + word.arguments[0]) & MASK, word.arguments[1])
        return None

    def hash_words(self, words: tuple[Value, ...]) -> Value:
        """Return keccak256 of whole words: a number if all are known."""
        numbers = [word for word in words if isinstance(word, int)]
        if len(numbers) == len(words):
            digest = keccak(b"".join(number.to_bytes(32) for number in numbers))
            number = int.from_bytes(digest)
            self.hashed[number] = tuple(numbers)
            return number
        return self.intern("keccak", *words)


def without_iszero(word: Value) -> Value:
    """Return what any number of ISZERO is applied to."""
    while isinstance(word, Expr) and word.operation == "ISZERO":
        word = word.arguments[0]
    return word


def subterms(word: Value) -> Iterator[Expr]:
    """Yield the expression and all its subexpressions, each once."""
    seen: set[int] = set()
    waiting = [word]
    while waiting:
        term = waiting.pop()
        if isinstance(term, Expr) and id(term) not in seen:
            seen.add(id(term))
            yield term
            waiting.extend(term.arguments)


def undisturbed(word: Value) -> Value:
    """Return the word that a phi of `ExprPool.disturbed` was before; any other word as it is."""
    if isinstance(word, Expr) and word.operation == "phi" and len(word.arguments) > 1:
        return word.arguments[1]
    return word


def address_in(word: Value) -> Value:
    """Strip the address masks and shifts that compilers put around an address."""
    while isinstance(word, Expr) and (word.operation, word.arguments[:1]) in _ADDRESS_WRAPPINGS:
        word = word.arguments[1]
    return word


_ADDRESS_WRAPPINGS = (("AND", (ADDRESS_MASK,)), ("SHL", (256 - ADDRESS_BITS,)))
