"""Search for the values nearest to the ordinary one at which a condition changes its outcome. Pure.

Candidate points are tried nearest first, then the interval between two points with different
outcomes is bisected. At most `_MOST_POINTS` points are tried, so that a flip may be missed.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Final

from analysis.static.evm.expressions import MASK

_MOST_POINTS: Final = 480
_GRID_S: Final = ((2 * 86_400, 900), (30 * 86_400, 6 * 3_600))
"""Reach and step of the grid of times, finest first. Seconds; of block numbers, as many blocks."""

_WORD_BITS: Final = 256
_MULTIPLIER: Final = 6364136223846793005
_INCREMENT: Final = 1442695040888963407
"""Constants of a linear congruential generator. Source: Knuth, MMIX."""


def points_of_interest(
    named: Iterable[int], ordinary: int, low: int, high: int, *, is_lot: bool
) -> list[int]:
    """Return points within bounds where a condition with these constants may flip, nearest first.

    `is_lot`: all values are equally likely, so pseudorandom points are added.
    """
    span = high - low
    points = {ordinary, low, high, *(low + span * at // 16 for at in range(17))}
    for each in named:
        points |= {each, each + 1, each - 1, ordinary + each, ordinary + each + 1}
        points.add(MASK & ~each)
    for power in range(_WORD_BITS):
        # one flipped bit, and a step of the same size
        points |= {ordinary ^ 2**power, ordinary + 2**power, ordinary - 2**power}
    if is_lot:
        points |= {(ordinary * _MULTIPLIER + at * _INCREMENT) & MASK for at in range(64)}
    fit = (point for point in points if low <= point <= high)
    return sorted(fit, key=lambda point: abs(point - ordinary))[:_MOST_POINTS]


def clock_grid(now: int, high: int) -> Iterator[int]:
    """Yield times after now, closely for two days and then for a month, for conditions that turn
    and turn back."""
    start = 0
    for reach, step in _GRID_S:
        yield from (now + after for after in range(start, reach, step) if now + after <= high)
        start = reach


def size_grid(low: int, high: int) -> Iterator[int]:
    """Yield sizes between the bounds, each larger than the last by a tenth."""
    size = low
    while size < high:
        yield size
        size += size // 10 + 1


def all_flips(truth: Callable[[int], bool | None], points: Sequence[int]) -> Iterator[int]:
    """Yield the first value of each new outcome, in ascending order. `points`: ascending; between
    two of them no more than one flip is found."""
    known = [(point, truth(point)) for point in points]
    known = [(point, answer) for point, answer in known if answer is not None]
    for (last, before), (point, answer) in pairwise(known):
        if answer is not before:
            yield _first_flip(truth, before, last, point)


def nearest_flips(
    truth: Callable[[int], bool | None], points: Sequence[int], ordinary: int
) -> Iterator[int]:
    """Yield the nearest flip on each side of the ordinary value. `points`: nearest first."""
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
    """Bisect between a value with the old outcome and one with another; return a first flip."""
    for _ in range(256):
        middle = (same + other) // 2
        if middle in (same, other):
            break
        if truth(middle) is before:
            same = middle
        else:
            other = middle
    return other
