"""One node of several: how well it has been doing, and what has been learnt about it."""

import asyncio
from collections.abc import Iterable

from indexer.backoff import backoff_s
from indexer.failures import RateLimitedError
from indexer.transport import Transport

_MEMORY = 0.8
"""Weight of the past in the moving averages: about the last five answers count."""
_FAILURE_COST_S = 30.0
"""A failure share of 1 counts like answers this much slower."""
_FIRST_COOL_S = 0.5
_MOST_COOL_S = 30.0
_WRONG_CHAIN_S = 60.0
"""How long an endpoint of another chain is left alone before it is asked again."""
_LACKING_S = 600.0
"""How long a method that an endpoint does not know is asked of others first."""
_SINGLES_AT_ONCE = 16


class EndpointHealth:
    """Moving averages of failures and latency, and the cool-down after failures."""

    def __init__(self) -> None:
        self.failure_share = 0.0
        self.latency_s = 0.0
        self.failures_in_row = 0
        self.cool_until_s = 0.0
        self.barred_until_s = 0.0
        """The endpoint itself named this time (`Retry-After`): not to be asked before."""

    @property
    def score_s(self) -> float:
        """Lower is better: seconds of latency, with failures counted in."""
        return self.latency_s + self.failure_share * _FAILURE_COST_S

    def note_success(self, latency_s: float) -> None:
        """An exchange went well."""
        self.failure_share *= _MEMORY
        fresh = self.latency_s == 0.0
        self.latency_s = latency_s if fresh else _mix(self.latency_s, latency_s)
        self.failures_in_row = 0
        self.cool_until_s = 0.0

    def note_failure(self, error: Exception, *, now_s: float) -> None:
        """An exchange failed, or its answer was not to be believed."""
        self.failure_share = _mix(self.failure_share, 1.0)
        self.failures_in_row += 1
        cool_s = backoff_s(self.failures_in_row, first_s=_FIRST_COOL_S, most_s=_MOST_COOL_S)
        self.cool_until_s = now_s + cool_s
        if isinstance(error, RateLimitedError) and error.retry_after_s is not None:
            self.barred_until_s = now_s + error.retry_after_s


class Endpoint:
    """A transport with its health and its known limits."""

    def __init__(self, transport: Transport, *, max_batch: int) -> None:
        self.transport = transport
        self.service = transport.service
        self.health = EndpointHealth()
        self.max_batch = max_batch
        """Requests in one message; smaller once the endpoint has refused more."""
        self.is_verified = False
        """The chain id was seen to be right, and the endpoint has not been away since."""
        self.wrong_until_s: float | None = None
        """Not to be used before, because it serves another chain. None: it does not."""
        self.wrong_chain_id = 0
        """What it served when it was last seen on another chain."""
        self.gate = asyncio.Semaphore(_SINGLES_AT_ONCE)
        self._lacking_until_s: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.service})"

    def mark_wrong(self, chain_id: int, *, now_s: float) -> None:
        """It serves this other chain: leave it alone for a while."""
        self.wrong_chain_id = chain_id
        self.is_verified = False
        self.wrong_until_s = now_s + _WRONG_CHAIN_S

    def mark_right(self) -> None:
        """Its chain id is ours."""
        self.is_verified = True
        self.wrong_until_s = None

    def note_lack(self, method: str, *, now_s: float) -> None:
        """It said that it does not know this method."""
        self._lacking_until_s[method] = now_s + _LACKING_S

    def lacks(self, methods: Iterable[str], *, now_s: float) -> bool:
        """Whether it said so of one of these, not too long ago."""
        return any(now_s < self._lacking_until_s.get(method, 0.0) for method in methods)

    def is_excluded(self, *, now_s: float) -> bool:
        """Whether it was seen on another chain a short while ago."""
        return self.wrong_until_s is not None and now_s < self.wrong_until_s

    def wait_s(self, *, now_s: float) -> float:
        """Seconds the endpoint asked us to stay away."""
        return max(0.0, self.health.barred_until_s - now_s)

    def is_cooling(self, *, now_s: float) -> bool:
        """Whether it failed a short while ago: others go first."""
        return now_s < max(self.health.cool_until_s, self.health.barred_until_s)


def _mix(old: float, new: float) -> float:
    return _MEMORY * old + (1 - _MEMORY) * new
