"""Tokens that somebody waits for without a hurry: they share the rounds of the due tokens.

Half of each round is theirs at most, and they cost the same budget: whoever asks for a hundred
thousand tokens delays neither people's requests nor the other half.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable

import msgspec

from core.evm.primitives import Address
from core.report.report import Report


class AskedToken(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One token, and who waits for it."""

    address: Address
    is_anew: bool
    """True: nothing that is stored or cached is used."""
    outcome: asyncio.Future[Report]

    def settle(self, outcome: Report | Exception) -> None:
        """Tell who waits; nobody may by now."""
        if self.outcome.done():
            return
        if isinstance(outcome, Exception):
            self.outcome.set_exception(outcome)
        else:
            self.outcome.set_result(outcome)


class RoundShare:
    """The tokens that wait, by chain; first come, first served."""

    def __init__(self, *, busy: Callable[[str], int] = lambda _: 0) -> None:
        """`busy`: tokens of a chain, by slug, that are analysed beside the rounds because a request
        of another process waits for them; rounds are smaller by as many."""
        self.busy = busy
        self._asked: defaultdict[str, deque[AskedToken]] = defaultdict(deque)

    async def analyse(self, slug: str, address: Address, *, is_anew: bool) -> Report:
        """Wait for a new analysis of a token, however long it takes. Raises as the analyser
        does."""
        asked = AskedToken(
            address=address, is_anew=is_anew, outcome=asyncio.get_running_loop().create_future()
        )
        self._asked[slug].append(asked)
        return await asked.outcome

    def waiting(self, slug: str) -> int:
        """Return how many tokens of a chain wait."""
        self._drop_left(slug)
        return len(self._asked[slug])

    def take(self, slug: str, *, at_most: int) -> list[AskedToken]:
        """Take tokens of a chain; their outcomes have to be told."""
        self._drop_left(slug)
        asked = self._asked[slug]
        return [asked.popleft() for _ in range(min(at_most, len(asked)))]

    def _drop_left(self, slug: str) -> None:
        """Forget tokens that nobody waits for any more."""
        self._asked[slug] = deque(one for one in self._asked[slug] if not one.outcome.done())
