"""Event loop whose waits take no time, without threads: everything is repeatable."""

import asyncio
import selectors
from collections.abc import Callable, Mapping
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, ParamSpec, TypeVar

P = ParamSpec("P")
T = TypeVar("T")


class DeadlockError(AssertionError):
    """Everything waits, and no timer is set: a real loop would hang for ever."""


class _JumpingSelector(selectors.BaseSelector):
    """Moves the clock to the next timer instead of waiting for it."""

    def __init__(self, move: Callable[[float], None]) -> None:
        self._move = move
        self._real = selectors.DefaultSelector()

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        ready = self._real.select(0)
        if ready or timeout == 0:
            return ready
        if timeout is None:
            raise DeadlockError
        self._move(timeout)
        return []

    def register(self, fileobj: Any, events: int, data: Any = None) -> selectors.SelectorKey:
        return self._real.register(fileobj, events, data)

    def unregister(self, fileobj: Any) -> selectors.SelectorKey:
        return self._real.unregister(fileobj)

    def get_map(self) -> Mapping[Any, selectors.SelectorKey]:
        return self._real.get_map()

    def close(self) -> None:
        self._real.close()


class _InlineExecutor(ThreadPoolExecutor):
    """Runs work immediately, on the loop's own thread."""

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Future[T]:
        done: Future[T] = Future()
        try:
            done.set_result(fn(*args, **kwargs))
        except BaseException as error:  # noqa: BLE001 - handed on, as a thread would
            done.set_exception(error)
        return done


class VirtualLoop(asyncio.SelectorEventLoop):
    """Time passes only by waiting for it."""

    def __init__(self) -> None:
        self._now_s = 0.0
        super().__init__(_JumpingSelector(self._move))
        self.set_default_executor(_InlineExecutor(max_workers=1))

    def time(self) -> float:
        """Seconds since the loop was made."""
        return self._now_s

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Do nothing: a thread would do it, and signal a loop that does not wait for it."""
        del timeout

    def _move(self, seconds: float) -> None:
        self._now_s += seconds
