"""When a call inside the code waits for itself too often to be worth following further."""

from collections import Counter
from itertools import groupby
from typing import Final

_DEEPEST_RECURSION: Final = 3
"""Frames of one call that may wait on the stack."""

_LONGEST_CHAIN: Final = 7
"""Equal return addresses in a row: `a.sub(b).sub(c)` leaves several on the stack."""

_LARGEST_SMALL_NUMBER: Final = 0xFF


class CallStrings:
    """Numbers for the sets of return addresses that paths have on their stacks."""

    def __init__(self) -> None:
        self._known: dict[tuple[int | None, ...], int | None] = {}

    def number_of(self, returns: tuple[int | None, ...]) -> int | None:
        """The same for the same return addresses. None: it is not worth following."""
        if returns not in self._known:
            self._known[returns] = None if exceeds_recursion_limit(returns) else len(self._known)
        return self._known[returns]


def exceeds_recursion_limit(returns: tuple[int | None, ...]) -> bool:
    """Whether some call waits on the stack too often, by the return addresses on it.

    Small numbers are more often data that happens to equal a jump destination.
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
