"""Finds the values nearest to the ordinary one at which a condition answers otherwise. Pure.

Points of interest first, nearest first, then bisection between two points that answer differently.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from analysis.static.evm.expressions import MASK

_MOST_POINTS: Final = 480
_WORD_BITS: Final = 256
_MULTIPLIER: Final = 6364136223846793005
_INCREMENT: Final = 1442695040888963407
"""Of a linear congruential generator. Source: Knuth, MMIX."""


def points_of_interest(
    named: Iterable[int], ordinary: int, low: int, high: int, *, is_lot: bool
) -> list[int]:
    """Where a condition that names these numbers may change its answer, nearest first. `is_lot`:
    any value is as likely as another."""
    span = high - low
    points = {ordinary, low, high, *(low + span * at // 16 for at in range(17))}
    for each in named:
        points |= {each, each + 1, each - 1, ordinary + each, ordinary + each + 1}
        points.add(MASK & ~each)
    for power in range(_WORD_BITS):
        # a bit of its own, and a step as large
        points |= {ordinary ^ 2**power, ordinary + 2**power, ordinary - 2**power}
    if is_lot:
        points |= {(ordinary * _MULTIPLIER + at * _INCREMENT) & MASK for at in range(64)}
    fit = (point for point in points if low <= point <= high)
    return sorted(fit, key=lambda point: abs(point - ordinary))[:_MOST_POINTS]


def nearest_flips(
    truth: Callable[[int], bool | None], points: Sequence[int], ordinary: int
) -> Iterator[int]:
    """The nearest value on either side whose answer is another. `points`: nearest first."""
    before = truth(ordinary)
    for side in (1, -1):
        last = ordinary
        for point in points:
            if (point - ordinary) * side <= 0:
                continue
            answer = truth(point)
            if answer is before:
                last = point
            elif answer is not None:
                yield _first_flip(truth, before, last, point)
                break


def _first_flip(
    truth: Callable[[int], bool | None], before: bool | None, same: int, other: int
) -> int:
    """Between a value that answers as before and one that does not: the first that does not."""
    for _ in range(256):
        middle = (same + other) // 2
        if middle in (same, other):
            break
        if truth(middle) is before:
            same = middle
        else:
            other = middle
    return other
