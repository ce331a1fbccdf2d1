"""Low-priority requests: at most half of each background round.

They count against the same budget, so a request for a hundred thousand tokens delays neither
interactive requests nor the due tokens.
"""

import asyncio
from collections import defaultdict, deque
from collections.abc import Callable

import msgspec

from core.evm.primitives import Address
from core.report.report import Report


class RequestedToken(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """One requested token and its future outcome."""

    address: Address
    is_anew: bool
    """True: ignore stored and cached results."""
    outcome: asyncio.Future[Report]

    def settle(self, outcome: Report | Exception) -> None:
        """Set the outcome, unless the caller has left."""
        if self.outcome.done():
            return
        if isinstance(outcome, Exception):
            self.outcome.set_exception(outcome)
        else:
            self.outcome.set_result(outcome)


class RoundShare:
    """Requested tokens by chain; first come, first served."""

    def __init__(self, *, busy: Callable[[str], int] = lambda _: 0) -> None:
        """`busy`: counts the tokens of a chain that are analysed for requests of other processes;
        rounds are smaller by that number."""
        self.busy = busy
        self._requested: defaultdict[str, deque[RequestedToken]] = defaultdict(deque)

    async def analyse(self, slug: str, address: Address, *, is_anew: bool) -> Report:
        """Wait without limit for a new analysis of a token. Raises as the analyser does."""
        requested = RequestedToken(
            address=address, is_anew=is_anew, outcome=asyncio.get_running_loop().create_future()
        )
        self._requested[slug].append(requested)
        return await requested.outcome

    def waiting(self, slug: str) -> int:
        """Count the waiting tokens of a chain."""
        self._drop_left(slug)
        return len(self._requested[slug])

    def take(self, slug: str, *, at_most: int) -> list[RequestedToken]:
        """Take tokens of a chain; the caller has to settle them."""
        self._drop_left(slug)
        queue = self._requested[slug]
        return [queue.popleft() for _ in range(min(at_most, len(queue)))]

    def _drop_left(self, slug: str) -> None:
        """Drop tokens whose callers have left."""
        self._requested[slug] = deque(
            one for one in self._requested[slug] if not one.outcome.done()
        )
