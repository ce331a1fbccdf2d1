"""Lower bounds of the distance between two memory addresses, for the question if they overlap.

An address is read as a sum of numbers, words and multiples of words. An access beyond 2^32 bytes
halts for lack of gas, so sums are taken not to wrap; `custody.memory_reach` proves that afterwards,
and that no phi has got an operand below the bound that was used. No path conditions are used here.
"""

from typing import Final

from analysis.static.evm.expressions import MASK, Expr, ExprPool, Value, is_power_of_two

HEAP: Final = 0x80
"""First address that compilers allocate; below are scratch space and the free memory pointer."""
FAR: Final = 2**64
"""Bytes; no memory is as large. The distance of addresses of which nothing is known is -FAR."""

_SIGN: Final = 2**255
_DEEPEST: Final = 40
"""Phis within phis; below them zero is the bound."""
_EXACT_ROUNDS: Final = 8
_MOST_ROUNDS: Final = 60
_MOST_SUMMANDS: Final = 500
_MOST_OPERANDS: Final = 12
_CALL_WORK: Final = 4
_NESTED: Final = 3
"""Phis within phis that are resolved for one distance."""

_SIZES: Final = frozenset({"CALLDATASIZE", "RETURNDATASIZE", "CODESIZE", "MSIZE", "returndatasize"})
_LARGEST_SIZE: Final = 2**32
_TRUTHS: Final = frozenset({"EQ", "LT", "GT", "SLT", "SGT", "ISZERO", "success"})
_BYTE: Final = 0xFF
_SHORT: Final = 64
"""Bits of a shift that multiplies an index."""

SumOfWords = dict[Expr, int]
"""Multiples of words in a sum."""


class AddressRanges:
    """Distances of the addresses of one pool, with memoised results."""

    def __init__(self, pool: ExprPool, *, is_careful: bool = False) -> None:
        """`is_careful`: rely on no more of a phi than that it is in the heap."""
        self._pool = pool
        self._is_careful = is_careful
        self._known: dict[tuple[Value, Value], int] = {}
        self.work = 0
        """Summands of all sums read so far, and some for each sum."""
        self._needed: dict[tuple[Value, Value], int] = {}
        """The distances relied on, by the pairs whose distance depends on a phi."""
        self._low: dict[Expr, int] = {}
        """Lower bounds of phis, as of the operands at the first request."""

    def least(self, one: Value, other: Value) -> int:
        """Return a lower bound of `one - other` in bytes; at most -FAR if there is none."""
        key = (one, other)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = self._distance(one, other)
        return known

    def is_at_least(self, one: Value, other: Value, distance: int) -> bool:
        """True if `one - other` is surely that many bytes, or more. Noted for `failed`."""
        key = (one, other)
        if self.least(one, other) < distance:
            return False
        if self._needed.get(key, -FAR) < distance:
            self._needed[key] = distance
        return True

    def failed(self) -> set[Value]:
        """Return the addresses that are too near to another, with all operands of the phis.

        To be called after the exploration."""
        self._settle()
        self._known = {}
        return {
            word
            for (one, other), distance in self._needed.items()
            if self.least(one, other) < distance
            for word in (one, other)
        }

    def _settle(self) -> None:
        """Lower the bounds of phis until each is one of all its operands, given the others."""
        for count in range(_MOST_ROUNDS):
            lowered = [
                (phi, low)
                for phi in tuple(self._low)
                if (low := self._low_of_operands(phi)) < self._low[phi]
            ]
            if not lowered:
                return
            # A bound that falls on and on is that of a loop that counts down.
            self._low.update((phi, low if count < _EXACT_ROUNDS else 0) for phi, low in lowered)
        self._low = dict.fromkeys(self._low, 0)

    def _distance(self, one: Value, other: Value, depth: int = _DEEPEST) -> int:
        terms: SumOfWords = {}
        rest = self._add_to(terms, one, 1) + self._add_to(terms, other, -1)
        rest = self._round(terms, rest)
        least = self._bound(terms, rest, depth)
        return least if least >= 0 else max(least, self._over_operands(terms, rest, _NESTED))

    def _round(self, terms: SumOfWords, rest: int) -> int:
        """Replace the rounded words of a sum by what they round. Return a lower bound of its
        number."""
        for _ in range(_MOST_SUMMANDS):
            # Equal words have cancelled before, so that rounding costs no precision there.
            word = next((each for each in terms if rounded(each)[0] is not None), None)
            if word is None:
                break
            (whole, unit), count = rounded(word), terms.pop(word)
            rest -= max(count, 0) * (unit - 1)
            rest += self._add_to(terms, whole or 0, count)
        return rest

    def _bound(self, terms: SumOfWords, rest: int, depth: int) -> int:
        """Return the lower bound of a sum, from the bound of each word."""
        left = dict(terms)
        for word, count in terms.items():
            if count > 0:
                rest += count * self._low_of(word, depth) if _is_phi(word) else 0
                continue
            whole = _whole_of(word, left)
            if whole is not None and left[whole] >= -count:
                left[whole] += count  # a part of a word that is added is not more than it
            else:
                rest += count * min(most_of(word), FAR)
        return max(rest, -FAR)

    def _over_operands(self, terms: SumOfWords, rest: int, depth: int) -> int:
        """Return the least bound of a sum with each operand of a phi in place of the phi."""
        phi = next((word for word, count in terms.items() if count == 1 and _is_phi(word)), None)
        operands = () if phi is None else tuple(self._pool.phi_operands.get(phi, ()))
        if phi is None or depth == 0 or not 0 < len(operands) <= _MOST_OPERANDS:
            return -FAR
        found = FAR
        others = {word: count for word, count in terms.items() if word is not phi}
        for operand in operands:
            if operand is phi or found == -FAR:
                continue
            sum_ = dict(others)
            number = self._round(sum_, rest + self._add_to(sum_, operand, 1))
            if sum_.get(phi) == 1 and _is_rising(sum_, terms) and number >= rest:
                continue  # an earlier round of a loop
            least = self._bound(sum_, number, 0)
            if least < 0:
                least = max(least, self._over_operands(sum_, number, depth - 1))
            found = min(found, least)
        return found

    def _add_to(self, terms: SumOfWords, word: Value, times: int) -> int:
        """Add a multiple of the word to a sum; return the number in it."""
        rest = steps = 0
        waiting = [(word, times)]
        while waiting:
            steps += 1
            each, count = waiting.pop()
            if isinstance(each, int):
                rest += count * _signed(each)
                continue
            match (each.operation, each.arguments):
                case ("ADD", words):
                    waiting += [(inner, count) for inner in words]
                case ("SUB", (minuend, subtrahend)):
                    waiting += [(minuend, count), (subtrahend, -count)]
                case ("MUL", (int(factor), inner)) if factor < FAR and not _is_part(inner, factor):
                    waiting.append((inner, count * factor))
                case ("SHL", (int(shift), inner)) if shift < _SHORT and not _is_part(
                    inner, 1 << shift
                ):
                    waiting.append((inner, count << shift))
                case ("top", _) if steps < _MOST_SUMMANDS:
                    waiting += [(cut, count) for cut in self._pool.phi_operands[each]]
                case _:
                    total = terms.get(each, 0) + count
                    if total:
                        terms[each] = total
                    else:
                        terms.pop(each, None)
        self.work += steps + _CALL_WORK
        return rest

    def _low_of(self, phi: Expr, depth: int) -> int:
        """Return the lower bound of a phi; in a loop that of the words that enter it."""
        known = self._low.get(phi)
        if known is None and depth:
            self._low[phi] = FAR
            known = self._low_of_operands(phi, depth - 1)
            if self._is_careful:
                known = HEAP if known >= HEAP else 0
            self._low[phi] = known
        return known or 0

    def _low_of_operands(self, phi: Expr, depth: int = _DEEPEST) -> int:
        operands = tuple(self._pool.phi_operands.get(phi, ()))
        lows = (self._distance(each, 0, depth) for each in operands if each is not phi)
        return max(0, min(lows, default=0))


def _is_rising(terms: SumOfWords, before: SumOfWords) -> bool:
    """True if no word is fewer times in a sum than before."""
    words = dict.fromkeys((*terms, *before))
    return all(terms.get(word, 0) >= before.get(word, 0) for word in words)


def _whole_of(word: Expr, terms: SumOfWords) -> Expr | None:
    """Return the word of the sum that the word is some bits of. None: there is none."""
    if word.operation != "AND":
        return None
    return next((each for each in terms if each in word.arguments), None)


def most_of(word: Expr) -> int:
    """Return an upper bound of a word, from its operation alone."""
    most = MASK
    match (word.operation, word.arguments):
        case ("AND" | "MOD", words):
            numbers = [number for number in words if isinstance(number, int)]
            most = min(numbers, default=MASK)
        case ("DIV", (_, int(number))) if number:
            most = MASK // number
        case ("SHR", (int(shift), _)):
            most = MASK >> min(shift, 256)
        case (name, _) if name in _SIZES:
            most = _LARGEST_SIZE
        case (name, _) if name in _TRUTHS:
            most = 1
        case ("BYTE", _):
            most = _BYTE
    return most


def _is_phi(word: Expr) -> bool:
    return word.operation in ("phi", "top")


def rounded(word: Expr) -> tuple[Value | None, int]:
    """Return what the word rounds down, and to multiples of which number. None: nothing."""
    match (word.operation, word.arguments):
        case ("AND", (int(mask), inner)) if MASK - mask <= _BYTE and is_power_of_two(
            MASK - mask + 1
        ):
            return inner, MASK - mask + 1
        case ("MUL", (int(unit), Expr() as part)) if _is_part(part, unit):
            return part.arguments[part.operation == "SHR"], unit
        case ("SHL", (int(shift), Expr() as part)) if shift < _SHORT and _is_part(part, 1 << shift):
            return part.arguments[part.operation == "SHR"], 1 << shift
    return None, 1


def _is_part(word: Value, unit: int) -> bool:
    """True for a word divided by this number."""
    match word:
        case Expr(operation="DIV", arguments=(_, int(number))):
            return number == unit
        case Expr(operation="SHR", arguments=(int(shift), _)):
            return 1 << shift == unit
    return False


def _signed(number: int) -> int:
    return number - 2**256 if number & _SIGN else number
