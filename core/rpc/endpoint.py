"""State of one endpoint: its health and limits as observed, and its concurrency limit."""

import asyncio
from collections.abc import Iterable

from core.evm.primitives import BlockRef
from core.rpc.backoff import backoff_s
from core.rpc.exchange_report import ExchangeObserver
from core.rpc.failures import RateLimitedError
from core.rpc.transport import Transport

_MEMORY = 0.8
"""Weight of the past in the moving averages: about the last five answers count."""
_FAILURE_COST_S = 30.0
"""Latency, in seconds, that a failure share of 1 counts as."""
_FIRST_COOL_S = 0.5
_MOST_COOL_S = 30.0
_WRONG_CHAIN_S = 60.0
"""Time for which an endpoint of another chain is not used."""
_MOST_BARRED_S = 60.0
"""Longest wait that an endpoint may demand: some name a day, or a number without sense."""
_BEHIND_BLOCKS = 2
_BEHIND_S = 15
"""Blocks and seconds between heads up to which an endpoint counts as level with the best one."""
_LACKING_S = 600.0
"""Time for which a method that an endpoint lacks is sent to others first."""
_SINGLES_AT_ONCE = 16


class EndpointHealth:
    """Moving averages of failures and latency, and the cool-down after failures."""

    def __init__(self) -> None:
        self.failure_share = 0.0
        self.latency_s = 0.0
        self.failures_in_row = 0
        self.cool_until_s = 0.0
        self.barred_until_s = 0.0
        """End of the time that the endpoint demanded by `Retry-After`."""

    @property
    def score_s(self) -> float:
        """Return seconds of latency plus a penalty for failures. Lower is better."""
        return self.latency_s + self.failure_share * _FAILURE_COST_S

    def note_success(self, latency_s: float) -> None:
        """Record a successful exchange."""
        self.failure_share *= _MEMORY
        fresh = self.latency_s == 0.0
        self.latency_s = latency_s if fresh else _mix(self.latency_s, latency_s)
        self.failures_in_row = 0
        self.cool_until_s = 0.0
        self.barred_until_s = 0.0

    def note_failure(self, error: Exception, *, now_s: float) -> None:
        """Record a failed exchange, or an answer that failed its checks."""
        self.failure_share = _mix(self.failure_share, 1.0)
        self.failures_in_row += 1
        cool_s = backoff_s(self.failures_in_row, first_s=_FIRST_COOL_S, most_s=_MOST_COOL_S)
        self.cool_until_s = now_s + cool_s
        if isinstance(error, RateLimitedError) and error.retry_after_s is not None:
            self.barred_until_s = now_s + min(error.retry_after_s, _MOST_BARRED_S)


class Endpoint:
    """A transport with its health and its known limits."""

    def __init__(
        self, transport: Transport, *, max_batch: int, observe: ExchangeObserver | None = None
    ) -> None:
        self.transport = transport
        self.service = transport.service
        self.health = EndpointHealth()
        self.max_batch = max_batch
        """Requests in one message; smaller once the endpoint has refused more."""
        self.is_verified = False
        """The chain id was checked, and no exchange has failed since, except for rate limits."""
        self.wrong_until_s: float | None = None
        """End of its exclusion for serving another chain. None: it does not."""
        self.wrong_chain_id = 0
        """Chain id of the other chain that it last served."""
        self.is_behind = False
        """Another endpoint was well ahead at the last look at all heads: others go first."""
        self.observe = observe
        """None: nobody counts exchanges."""
        self.gate = asyncio.Semaphore(_SINGLES_AT_ONCE)
        self._lacking_until_s: dict[str, float] = {}

    def __repr__(self) -> str:
        return f"Endpoint({self.service})"

    def mark_wrong(self, chain_id: int, *, now_s: float) -> None:
        """Exclude the endpoint for a while, as it serves this other chain."""
        self.wrong_chain_id = chain_id
        self.is_verified = False
        self.wrong_until_s = now_s + _WRONG_CHAIN_S

    def mark_right(self) -> None:
        """Record that its chain id is ours."""
        self.is_verified = True
        self.wrong_until_s = None

    def note_head(self, head: BlockRef, *, best: BlockRef) -> bool:
        """Record how its head compares with the best one; return whether it has fallen behind."""
        was_behind = self.is_behind
        self.is_behind = (
            best.number - head.number > _BEHIND_BLOCKS and best.time_s - head.time_s > _BEHIND_S
        )
        return self.is_behind and not was_behind

    def note_lack(self, method: str, *, now_s: float) -> None:
        """Record that the endpoint lacks this method."""
        self._lacking_until_s[method] = now_s + _LACKING_S

    def lacks(self, methods: Iterable[str], *, now_s: float) -> bool:
        """True if the endpoint lacks one of these methods, as recorded within `_LACKING_S`."""
        return any(now_s < self._lacking_until_s.get(method, 0.0) for method in methods)

    def is_excluded(self, *, now_s: float) -> bool:
        """True if it served another chain a short while ago."""
        return self.wrong_until_s is not None and now_s < self.wrong_until_s

    def wait_s(self, *, now_s: float) -> float:
        """Return the seconds left of the endpoint's `Retry-After`."""
        return max(0.0, self.health.barred_until_s - now_s)

    def is_cooling(self, *, now_s: float) -> bool:
        """True if it failed a short while ago: others go first."""
        return now_s < max(self.health.cool_until_s, self.health.barred_until_s)


def _mix(old: float, new: float) -> float:
    return _MEMORY * old + (1 - _MEMORY) * new
