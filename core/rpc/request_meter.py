"""Count of the requests sent to nodes on behalf of one piece of work and the tasks it starts."""

from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class RequestMeter:
    """Requests counted so far, answered or not."""

    def __init__(self) -> None:
        self.methods: Counter[str] = Counter()

    @property
    def requests(self) -> int:
        """Return the number of requests of all methods."""
        return self.methods.total()


_METER: ContextVar[RequestMeter | None] = ContextVar("request_meter", default=None)


@contextmanager
def metered() -> Iterator[RequestMeter]:
    """Count the requests of the block, and of the tasks that are created in it."""
    meter = RequestMeter()
    token = _METER.set(meter)
    try:
        yield meter
    finally:
        _METER.reset(token)


def note_requests(methods: Iterable[str]) -> None:
    """Add requests of these methods to the meter of the current work, if it has one."""
    meter = _METER.get()
    if meter is not None:
        meter.methods.update(methods)
