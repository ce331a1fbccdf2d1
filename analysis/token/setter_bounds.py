"""Bounds that code proves on the values that setters leave: caps and taxes. Pure.

Interval arithmetic over the computation of a stored value, refined by the orders that every path to
the store requires. Numbers that may wrap, and storage that a live setter can change, are unbounded.
A value bounded by what the variable holds already is bounded by induction over its setters.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from analysis.static.evm.expressions import MASK
from analysis.static.powers.static_powers import Setter, TaxedAmount
from analysis.static.token_model.caps.cap_rules import ComputationStep
from analysis.token.live_setters import LiveSetters
from core.evm.primitives import Hash32

Interval = tuple[int, int]
"""Least and largest value."""

_ANY: Final[Interval] = (0, MASK)
_ROUNDS: Final = 3
_AMOUNT: Final = 10**30
"""Amount of the transfer whose tax is computed: large, so that rounding does not matter. Only taxes
in proportion to the amount are."""

_WORD_BITS: Final = 256


def value_bounds(setters: Sequence[Setter], live: LiveSetters) -> Interval | None:
    """Return the least and largest value that a variable can have from now on. None: not known.

    `setters`: all live setters of one plain variable.
    """
    if not setters or any(each.slot is None or each.is_entry for each in setters):
        return None
    slot, mask = setters[0].slot, int(setters[0].bits, 16)
    word = None if slot is None else live.words.get(slot)
    if word is None or slot is None:
        return None
    shift = (mask & -mask).bit_length() - 1
    own = (word & mask) >> shift
    bounds = (own, own)
    for _ in range(_ROUNDS):
        fresh = [_stored(each, slot, bounds, live, shift) for each in setters]
        wider = (
            min(bounds[0], *(low for low, _ in fresh)),
            max(bounds[1], *(high for _, high in fresh)),
        )
        if wider == bounds:
            return bounds
        bounds = wider
    return _ANY


def _stored(
    setter: Setter,
    own_slot: Hash32,
    own: Interval,
    live: LiveSetters,
    shift: int,
) -> Interval:
    """Return the bounds of what one setter leaves, if the variable was within `own` before."""
    if setter.values is not None:
        values = [(int(value, 16) & int(setter.bits, 16)) >> shift for value in setter.values]
        return (min(values), max(values)) if values else own
    if not setter.steps:
        return _ANY
    is_whole = int(setter.bits, 16) == MASK
    return _computed(setter, live, {own_slot: own if is_whole else _ANY})[setter.value]


def _computed(
    setter: Setter, live: LiveSetters, given: Mapping[Hash32, Interval]
) -> list[Interval]:
    """Return the bounds of each step of a setter's computation. `given`: of slots."""

    def slot_range(slot: Hash32) -> Interval:
        return given[slot] if slot in given else _fixed(slot, live)

    known: dict[int, Interval] = {}
    for _ in range(_ROUNDS):
        ranges = evaluate(setter.steps, slot_range, known)
        known = _refined(setter, ranges, known, slot_range)
    return evaluate(setter.steps, slot_range, known)


def _fixed(slot: Hash32, live: LiveSetters) -> Interval:
    word = live.words.get(slot)
    return _ANY if word is None or live.is_changed(slot, MASK) else (word, word)


def _refined(
    setter: Setter,
    ranges: Sequence[Interval],
    known: Mapping[int, Interval],
    slot_range: Callable[[Hash32], Interval],
) -> dict[int, Interval]:
    """Return the bounds of steps that follow from the relations.

    A step that reads storage which can change is not narrowed: a call may lie between the test and
    the store.
    """
    found = dict(known)
    moving = _moving(setter.steps, slot_range)

    def narrow(step: int, low: int, high: int) -> None:
        if not moving[step]:
            before = found.get(step, ranges[step])
            found[step] = (max(before[0], low), min(before[1], high))

    for relation in setter.relations:
        strict = int(relation.is_strict)
        high = max(0, ranges[relation.large][1] - strict)
        low = min(MASK, ranges[relation.small][0] + strict)
        narrow(relation.large, low, MASK)
        narrow(relation.small, 0, high)
        for term in _unwrapped_terms(setter, relation.small):
            narrow(term, 0, high)
    return found


def _moving(
    steps: Sequence[ComputationStep], slot_range: Callable[[Hash32], Interval]
) -> list[bool]:
    """Return for every step whether it reads storage that is not fixed."""
    found: list[bool] = []
    for step in steps:
        low, high = slot_range(step.word) if step.operation == "slot" and step.word else (0, 0)
        is_open = step.operation == "unknown" or low != high
        found.append(is_open or any(found[argument] for argument in step.arguments))
    return found


def _unwrapped_terms(setter: Setter, step: int) -> tuple[int, ...]:
    """Return the terms of a sum that is checked not to wrap: one of them is at most the sum."""
    terms = setter.steps[step].arguments if setter.steps[step].operation == "ADD" else ()
    is_checked = any(each.large == step and each.small in terms for each in setter.relations)
    return terms if is_checked else ()


def evaluate(
    steps: Sequence[ComputationStep],
    slot_range: Callable[[Hash32], Interval],
    known: Mapping[int, Interval],
) -> list[Interval]:
    """Return the bounds of every step. `known`: bounds from elsewhere, by index."""
    found: list[Interval] = []
    for at, step in enumerate(steps):
        given = [found[argument] for argument in step.arguments]
        bounds = _bounds(step, given, slot_range)
        low, high = known.get(at, _ANY)
        narrowed = (max(bounds[0], low), min(bounds[1], high))
        found.append(narrowed if narrowed[0] <= narrowed[1] else bounds)
    return found


def _bounds(
    step: ComputationStep, given: Sequence[Interval], slot_range: Callable[[Hash32], Interval]
) -> Interval:
    if step.operation == "number" and step.word is not None:
        return int(step.word, 16), int(step.word, 16)
    if step.operation == "slot" and step.word is not None:
        return slot_range(step.word)
    rule = _RULES.get(step.operation)
    found = rule(*given) if rule is not None and len(given) == _PAIR else None
    if step.operation in _TRUTHS:
        found = (0, 1)
    return _ANY if found is None or found[1] > MASK else found


def _difference(a: Interval, b: Interval) -> Interval | None:
    return (a[0] - b[1], a[1] - b[0]) if a[0] >= b[1] else None


def _quotient(a: Interval, b: Interval) -> Interval:
    return (a[0] // b[1], a[1] // b[0]) if b[0] else (0, a[1])


def _masked(a: Interval, b: Interval) -> Interval:
    return b if _covers(a, b) else a if _covers(b, a) else (0, min(a[1], b[1]))


def _shifted(by: Interval, word: Interval, *, is_left: bool) -> Interval | None:
    if by[0] != by[1] or by[0] >= _WORD_BITS:
        return None
    if is_left:
        return word[0] << by[0], word[1] << by[0]
    return word[0] >> by[0], word[1] >> by[0]


_PAIR: Final = 2
_TRUTHS: Final = frozenset({"ISZERO", "LT", "GT", "SLT", "SGT", "EQ"})
_RULES: Final[dict[str, Callable[[Interval, Interval], Interval | None]]] = {
    "ADD": lambda a, b: (a[0] + b[0], a[1] + b[1]),
    "SUB": _difference,
    "MUL": lambda a, b: (a[0] * b[0], a[1] * b[1]),
    "DIV": _quotient,
    "AND": _masked,
    "SHL": partial(_shifted, is_left=True),
    "SHR": partial(_shifted, is_left=False),
}
"""Bounds of a result by those of its operands. A result that may wrap has none."""


def _covers(mask: Interval, value: Interval) -> bool:
    """True if the mask is one constant low mask that keeps every value of the other."""
    return mask[0] == mask[1] and not mask[0] & (mask[0] + 1) and value[1] <= mask[0]


def most_tax_pct(
    taxed: TaxedAmount,
    bounds: Mapping[tuple[Hash32, Hash32], Interval],
    live: LiveSetters,
) -> float:
    """Return the largest tax on a transfer in percent, with rates within their bounds; 100 where
    that is not known. `bounds`: by slot and mask of the rate."""
    whole = Hash32(f"0x{MASK:064x}")

    def slot_range(slot: Hash32) -> Interval:
        return bounds.get((slot, whole)) or _fixed(slot, live)

    linear = _proportional(taxed, slot_range)
    if not taxed.sum or not all(linear[step] for step, _ in taxed.sum):
        return 100.0
    amounts = {
        at: (_AMOUNT, _AMOUNT)
        for at, step in enumerate(taxed.steps)
        if step.operation == "argument" and step.word == taxed.amount
    }
    ranges = evaluate(taxed.steps, slot_range, amounts)
    received = sum(
        (ranges[step][0] if times > 0 else ranges[step][1]) * times for step, times in taxed.sum
    )
    return 100.0 * (_AMOUNT - max(0, min(received, _AMOUNT))) / _AMOUNT


def _proportional(taxed: TaxedAmount, slot_range: Callable[[Hash32], Interval]) -> list[bool]:
    """Return for every step whether it is in proportion to the amount: times anything, divided by a
    fixed number."""
    free: list[bool] = []
    found: list[bool] = []
    ranges = evaluate(taxed.steps, slot_range, {})
    for step in taxed.steps:
        is_amount = step.operation == "argument" and step.word == taxed.amount
        parts = step.arguments
        free.append(not is_amount and all(free[part] for part in parts))
        of = [found[part] for part in parts]
        match step.operation:
            case "MUL":
                is_so = (of[0] and free[parts[1]]) or (of[1] and free[parts[0]])
            case "DIV":
                low, high = ranges[parts[1]]
                is_so = of[0] and free[parts[1]] and 0 < low == high
            case "ADD" | "SUB":
                is_so = all(of)
            case _:
                is_so = is_amount
        found.append(is_so)
    return found
