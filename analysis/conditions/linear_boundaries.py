"""Exact boundaries of a condition in one input, where all its comparisons are linear. Pure.

Each step is followed as slope and intercept modulo 2**256, as the EVM computes, so wrapped
subtractions are found too. The outcome can change only where two operands are equal or one of them
wraps. Other steps (remainders, hashes, products of two varied operands) are reported as inexact.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

import msgspec

from analysis.static.evm.expressions import FOLDED, MASK
from analysis.static.token_model.caps.cap_rules import ComputationStep

_MODULUS: Final = 2**256
_HALF: Final = 2**255
_BITS: Final = 256
_MOST_WRAPS: Final = 8
_COMPARISONS: Final = frozenset({"LT", "GT", "SLT", "SGT", "EQ"})
_LOGIC: Final = frozenset({"AND", "OR", "XOR", "ISZERO"})

StepValues = Sequence[int | None]


class Boundaries(msgspec.Struct, frozen=True, kw_only=True):
    """StepValues of the input next to which the outcome can change."""

    points: frozenset[int]
    is_exact: bool
    """True if the outcome changes at no other value."""


class _Linear(msgspec.Struct, frozen=True, kw_only=True):
    """A step as `(slope * input + intercept) // divisor`, the sum modulo 2**256."""

    slope: int
    intercept: int
    divisor: int = 1

    @property
    def is_constant(self) -> bool:
        return not self.slope


_OUTCOME: Final = "outcome"
"""A step that is 0 or 1, and changes at known boundaries only."""
_OTHER: Final = "other"
"""A step that depends on the input in another way."""
_Form = _Linear | str | None
"""None: a value that is not known."""


def boundaries(
    steps: Sequence[ComputationStep],
    values: Callable[[int], StepValues],
    span: tuple[int, int],
    choice: Mapping[int, int],
) -> Boundaries:
    """Return the boundaries within `span`, both ends included.

    `values`: the value of every step for a value of the input. `choice`: index of the operand
    chosen for each phi, by number of its step.
    """
    low, high = span
    if low >= high:
        return Boundaries(points=frozenset(), is_exact=True)
    return _Search(steps, span, choice).run(values(low), values(low + 1), values(high))


class _Search:
    def __init__(
        self,
        steps: Sequence[ComputationStep],
        span: tuple[int, int],
        choice: Mapping[int, int],
    ) -> None:
        self._steps = steps
        self._low, self._high = span
        self._choice = choice
        self._points: set[int] = set()
        self._has_too_many = False
        self._at_high: StepValues = ()

    def run(self, first: StepValues, second: StepValues, last: StepValues) -> Boundaries:
        """Return the boundaries. The values of the steps at the first two inputs and the last."""
        self._at_high = last
        forms: list[_Form] = []
        for number, step in enumerate(self._steps):
            form = self._form(number, step, forms)
            if form is None and step.operation not in FOLDED and step.operation != "phi":
                form = self._leaf(first[number], second[number], last[number])
            forms.append(form)
        result = forms[-1] if forms else None
        if isinstance(result, _Linear):
            self._equal(result, 0)
        return Boundaries(
            points=frozenset(point for point in self._points if self._low <= point <= self._high),
            is_exact=result != _OTHER and not self._has_too_many,
        )

    def _leaf(self, first: int | None, second: int | None, last: int | None) -> _Form:
        if first is None or second is None or last is None:
            return None
        slope = second - first
        slope -= _MODULUS * (slope > _HALF)
        is_line = (first + slope * (self._high - self._low) - last) % _MODULUS == 0
        return _Linear(slope=slope, intercept=first - slope * self._low) if is_line else _OTHER

    def _form(self, number: int, step: ComputationStep, forms: Sequence[_Form]) -> _Form:
        """Return the form of an operation. None: a leaf, or a value that is not known."""
        name = step.operation
        given = [forms[argument] for argument in step.arguments]
        if name == "phi":
            return given[self._choice.get(number, 0)] if given else None
        if any(_varies(each) for each in given):
            return self._varied(name, given)
        return self._constant(name, given) if name in FOLDED and given else None

    def _varied(self, name: str, given: Sequence[_Form]) -> _Form:
        if name == "ISZERO":
            return self._compared(given[0], _Linear(slope=0, intercept=0))
        if name in _COMPARISONS:
            return self._compared(given[0], given[1])
        if name in _LOGIC and all(each == _OUTCOME or not _varies(each) for each in given):
            return _OUTCOME
        first, *more = given
        second = more[0] if more else None
        computed = {
            "ADD": _sum,
            "SUB": _difference,
            "MUL": _product,
            "SHL": _shifted,
            "DIV": self._quotient,
            "SHR": self._shifted_back,
            "AND": self._masked,
        }.get(name)
        if computed is None or not isinstance(first, _Linear) or not isinstance(second, _Linear):
            return _OTHER
        return computed(first, second)

    def _constant(self, name: str, given: Sequence[_Form]) -> _Form:
        known = [each.intercept % _MODULUS for each in given if isinstance(each, _Linear)]
        if len(known) < len(given):
            return None
        return _Linear(slope=0, intercept=FOLDED[name](*known) & MASK)

    def _quotient(self, varied: _Linear, by: _Linear) -> _Form:
        divisor = by.intercept % _MODULUS
        if not by.is_constant or not divisor or self._wraps(varied):
            return _OTHER
        return msgspec.structs.replace(varied, divisor=varied.divisor * divisor)

    def _shifted_back(self, bits: _Linear, varied: _Linear) -> _Form:
        return self._quotient(varied, _power(bits)) if bits.is_constant else _OTHER

    def _masked(self, a: _Linear, b: _Linear) -> _Form:
        """Return the operand itself where the mask takes nothing of it."""
        mask, varied = (a, b) if a.is_constant else (b, a)
        if not mask.is_constant or self._wraps(varied):
            return _OTHER
        bits = mask.intercept % _MODULUS
        ends = (self._at(varied, self._low), self._at(varied, self._high))
        return varied if bits & (bits + 1) == 0 and max(ends) <= bits else _OTHER

    def _at(self, form: _Linear, point: int) -> int:
        return (form.slope * point + form.intercept) % _MODULUS // form.divisor

    def _wraps(self, form: _Linear) -> bool:
        """True if the sum passes a multiple of 2**256 within the span."""
        ends = (form.slope * point + form.intercept for point in (self._low, self._high))
        return len({end // _MODULUS for end in ends}) > 1

    def _compared(self, a: _Form, b: _Form) -> _Form:
        """Note where two operands are equal or wrap; return the form of the comparison."""
        if not isinstance(a, _Linear) or not isinstance(b, _Linear):
            # An operand that is not known leaves the outcome unknown too.
            both = {each if isinstance(each, str) else _varies(each) for each in (a, b)}
            return _OUTCOME if both <= {_OUTCOME, False} else _OTHER
        if a.is_constant or b.is_constant:
            level, varied = (a, b) if a.is_constant else (b, a)
            self._equal(varied, level.intercept % _MODULUS // level.divisor)
            self._equal(varied, 0)
            self._equal(msgspec.structs.replace(varied, divisor=1), _HALF)
            return _OUTCOME
        if a.divisor != 1 or b.divisor != 1:
            return _OTHER
        for each in (a, b):
            self._equal(each, 0)
            self._equal(each, _HALF)
        difference = _difference(a, b)
        if isinstance(difference, _Linear):
            self._equal(difference, 0)
        return _OUTCOME

    def _equal(self, form: _Linear, level: int) -> None:
        """Note the inputs around those at which the step begins and ends to equal `level`."""
        if form.is_constant:
            return
        for target in {level * form.divisor, (level + 1) * form.divisor}:
            ends = sorted(form.slope * point + form.intercept for point in (self._low, self._high))
            first = -((target - ends[0]) // _MODULUS)
            wraps = range(first, (ends[1] - target) // _MODULUS + 1)
            if wraps.stop - wraps.start > _MOST_WRAPS:
                self._has_too_many = True
                continue
            for wrap in wraps:
                point = (target + wrap * _MODULUS - form.intercept) // form.slope
                self._points.update((point - 1, point, point + 1))


def _varies(form: _Form) -> bool:
    return isinstance(form, str) or (isinstance(form, _Linear) and not form.is_constant)


def _sum(a: _Linear, b: _Linear) -> _Form:
    if a.divisor == b.divisor == 1:
        return _Linear(slope=a.slope + b.slope, intercept=a.intercept + b.intercept)
    constant, varied = (a, b) if a.is_constant else (b, a)
    more = constant.intercept % _MODULUS * varied.divisor
    if not constant.is_constant or more >= _HALF:
        return _OTHER
    return msgspec.structs.replace(varied, intercept=varied.intercept + more)


def _difference(a: _Linear, b: _Linear) -> _Form:
    if a.divisor != 1 or b.divisor != 1:
        return _OTHER
    return _Linear(slope=a.slope - b.slope, intercept=a.intercept - b.intercept)


def _product(a: _Linear, b: _Linear) -> _Form:
    factor, varied = (a, b) if a.is_constant else (b, a)
    if not factor.is_constant or varied.divisor != 1:
        return _OTHER
    by = factor.intercept % _MODULUS
    return _Linear(slope=varied.slope * by, intercept=varied.intercept * by)


def _shifted(bits: _Linear, varied: _Linear) -> _Form:
    return _product(_power(bits), varied) if bits.is_constant else _OTHER


def _power(bits: _Linear) -> _Linear:
    """Return the factor of a shift by this number of bits. 0: no bit is left."""
    by = bits.intercept % _MODULUS
    return _Linear(slope=0, intercept=1 << by if by < _BITS else 0)
