"""Call strings: numbering of analysis contexts, with a bound on recursion.

A call string is the sequence of return addresses on the stack. Paths whose call string exceeds the
recursion bound are not explored further.
"""

from collections import Counter
from itertools import groupby
from typing import Final

_DEEPEST_RECURSION: Final = 3
"""Frames of one internal call on the stack at the same time."""

_LONGEST_CHAIN: Final = 7
"""Equal return addresses in a row: `a.sub(b).sub(c)` leaves several on the stack."""

_LARGEST_SMALL_NUMBER: Final = 0xFF


class CallStrings:
    """Numbers of the call strings seen in one exploration."""

    def __init__(self) -> None:
        self._known: dict[tuple[int | None, ...], int | None] = {}

    def number_of(self, returns: tuple[int | None, ...]) -> int | None:
        """Return the number of a call string. None: it exceeds the recursion bound.

        `returns`: by stack index the return address, None for any other value.
        """
        if returns not in self._known:
            self._known[returns] = None if exceeds_recursion_limit(returns) else len(self._known)
        return self._known[returns]


def exceeds_recursion_limit(returns: tuple[int | None, ...]) -> bool:
    """True if one internal call has too many frames on the stack.

    Numbers up to 0xff are ignored: they are more often data that equals a jump destination.
    """
    distinct = len(set(returns)) - 1
    if len(returns) - returns.count(None) < distinct + _DEEPEST_RECURSION:
        return False
    large = (word for word in returns if word is not None and word > _LARGEST_SMALL_NUMBER)
    runs = [(word, len(list(run))) for word, run in groupby(large)]
    frames = Counter(word for word, _ in runs)
    chains = (length for _, length in runs)
    return (
        max(frames.values(), default=0) > _DEEPEST_RECURSION
        or max(chains, default=0) > _LONGEST_CHAIN
    )
