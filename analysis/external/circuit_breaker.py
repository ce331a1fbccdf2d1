"""Circuit breaker: a service that keeps failing is left alone for a while."""

import time
from collections.abc import Callable


class CircuitBreaker:
    """Counts failures in a row. At `failures` of them it opens for `open_s` seconds; the first
    failure after that opens it again, a success closes it."""

    def __init__(
        self,
        *,
        failures: int,
        open_s: float,
        monotonic_s: Callable[[], float] = time.monotonic,
    ) -> None:
        self._most = failures
        self._open_s = open_s
        self._monotonic_s = monotonic_s
        self._failed = 0
        self._open_until_s = 0.0

    @property
    def is_open(self) -> bool:
        """True if the service is not to be asked now."""
        return self._monotonic_s() < self._open_until_s

    def note_success(self) -> None:
        """Close it."""
        self._failed = 0

    def note_failure(self) -> None:
        """Count a failure."""
        self._failed += 1
        if self._failed >= self._most:
            self._open_until_s = self._monotonic_s() + self._open_s
