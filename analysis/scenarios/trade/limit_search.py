"""Search for the largest amount that a token moves, by ever closer tries. Pure.

The first tries halve the supply again and again; later ones divide what is left, and try amounts
that limits usually have (those of the code, and parts of the supply) with the next larger one.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from analysis.scenarios.trade.limit_probes import LimitKind, LimitTry

_HALVINGS: Final = 16
_POINTS: Final = 11
_MOST_GUESSES: Final = 5
_PARTS: Final = (1_000, 10_000)
"""Divisors of the supply whose multiples limits usually are."""


class FoundLimit(msgspec.Struct, frozen=True, kw_only=True):
    """Largest amount of one kind, as far as the tries show it. Smallest units."""

    passes_raw: int | None
    """Largest amount that passed. None: none did."""
    refused_raw: int | None
    """Smallest larger amount that was refused. None: none was, up to the most that there can be."""
    is_odd: bool = False
    """True if a larger amount passed than one that was refused, so that there is no one limit."""

    @property
    def exact_raw(self) -> int | None:
        """Return the largest amount that passed, if one unit more was refused."""
        if self.passes_raw is None or self.refused_raw != self.passes_raw + 1:
            return None
        return self.passes_raw

    def passes(self, amount_raw: int) -> bool | None:
        """True if an amount is within the limit. None: it is not known, or the limit is not."""
        if self.passes_raw is None:
            return None
        if amount_raw <= self.passes_raw:
            return True
        return False if self.refused_raw is not None and amount_raw >= self.refused_raw else None


class LimitSearch:
    """The search for one limit."""

    def __init__(
        self, kind: LimitKind, *, most_raw: int, supply_raw: int, guesses: Iterable[int]
    ) -> None:
        """`most_raw`: the largest amount that there can be. `guesses`: likely limits."""
        self.kind = kind
        self._most = most_raw
        self._supply = supply_raw
        self._guesses = tuple(dict.fromkeys(guesses))
        self._seen: dict[int, bool] = {}
        self._is_lost = False

    def next_tries(self) -> list[LimitTry]:
        """Return the next tries. Empty: the search has ended."""
        if self._is_lost or self._most <= 0:
            return []
        found = self.found()
        if not self._seen:
            amounts = {self._most >> by for by in range(_HALVINGS)}
        else:
            amounts = set() if found.is_odd or found.exact_raw is not None else self._closer(found)
        return [
            LimitTry(kind=self.kind, amount_raw=amount)
            for amount in sorted(amounts)
            if 0 < amount <= self._most and amount not in self._seen
        ]

    def learn(self, outcomes: Mapping[LimitTry, bool | None]) -> None:
        """Add the outcomes of tries."""
        for tried, has_moved in outcomes.items():
            if tried.kind != self.kind or tried.sender_raw is not None:
                continue
            if has_moved is None:
                self._is_lost = True
            else:
                self._seen[tried.amount_raw] = has_moved

    def found(self) -> FoundLimit:
        """Return the limit, as far as it is known."""
        passed = [amount for amount, has_moved in self._seen.items() if has_moved]
        refused = [amount for amount, has_moved in self._seen.items() if not has_moved]
        largest, smallest = max(passed, default=None), min(refused, default=None)
        is_odd = largest is not None and smallest is not None and smallest < largest
        return FoundLimit(passes_raw=largest, refused_raw=smallest, is_odd=is_odd)

    @property
    def is_lost(self) -> bool:
        """True if a try was not simulated."""
        return self._is_lost or not self._seen

    def _closer(self, found: FoundLimit) -> set[int]:
        """Return amounts between the two. Empty: there are no two."""
        low, high = found.passes_raw, found.refused_raw
        if low is None or high is None:
            return set()
        gap = high - low
        points = {low + gap * at // (_POINTS + 1) for at in range(1, _POINTS + 1)}
        for guess in self._likely(low, high):
            points |= {guess, guess + 1}
        return {amount for amount in points if low < amount < high}

    def _likely(self, low: int, high: int) -> Iterator[int]:
        """Yield likely limits between two amounts."""
        between = [guess for guess in self._guesses if low <= guess < high]
        for part in _PARTS:
            unit = self._supply // part
            first = -(-low // unit) if unit else 0
            count = (high - 1) // unit - first + 1 if unit else 0
            if 0 < count <= _MOST_GUESSES:
                between += [unit * (first + at) for at in range(count)]
        yield from list(dict.fromkeys(between))[: 2 * _MOST_GUESSES]
