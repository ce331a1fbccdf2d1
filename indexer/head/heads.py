"""Feed of new heads: by WebSocket subscription where there is one, by polling otherwise."""

import asyncio
import contextlib
from types import TracebackType
from typing import Self

import structlog

from core.errors import UpstreamError
from core.rpc.backoff import SleepClock, SystemClock, backoff_s
from core.rpc.client import RpcClient
from core.rpc.headers import Header

_FIRST_RETRY_S = 1.0
_MOST_RETRY_S = 60.0
_TRUST_FACTOR = 10
"""Factor on the polling interval while a subscription works, and between looks at the heads of all
endpoints. Polling goes on, as a subscription can die, or announce old blocks, without notice."""

_log = structlog.get_logger(__name__)


class HeadFeed:
    """Feed of the newest head. Use as an asynchronous context manager."""

    def __init__(
        self, client: RpcClient, *, poll_s: float, clock: SleepClock | None = None
    ) -> None:
        self._client = client
        self._poll_s = poll_s
        self._clock = clock or SystemClock()
        self._announced: Header | None = None
        self._highest = -1
        """Number of the newest head that was returned."""
        self._polled_s = self._clock.now_s()
        self._looked_s: float | None = None
        """Time of the last look at all endpoints. None: there was none."""
        self._arrived = asyncio.Event()
        self._is_announcing = False
        self._listener: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        if self._client.can_subscribe:
            self._listener = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._listener is not None:
            self._listener.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._listener

    async def next(self, *, stop: asyncio.Event, at_once: bool) -> Header | None:
        """Return the newest head, as soon as there may be a new one. None: `stop` was set.

        Raises UpstreamError when no endpoint answers.
        """
        if not at_once:
            await self._wait(stop)
        if stop.is_set():
            return None
        self._arrived.clear()
        announced, self._announced = self._announced, None
        if announced is None or not self._is_news(announced):
            announced = await self._poll()
        self._highest = announced.number
        return announced

    def _is_news(self, announced: Header) -> bool:
        """True if an announced block is newer than all heads, and the last poll recent.

        Balancers announce blocks of nodes that are far behind.
        """
        is_recent = self._clock.now_s() - self._polled_s < self._trusted_s
        return is_recent and announced.number > self._highest

    async def _poll(self) -> Header:
        now_s = self._clock.now_s()
        if self._looked_s is None or now_s - self._looked_s >= self._trusted_s:
            header = await self._client.fetch_best_head()
            self._looked_s = now_s
        else:
            header = await self._client.fetch_head_header()
        self._polled_s = now_s
        return header

    @property
    def _trusted_s(self) -> float:
        return self._poll_s * _TRUST_FACTOR

    async def _wait(self, stop: asyncio.Event) -> None:
        patience_s = self._trusted_s if self._is_announcing else self._poll_s
        waits = [
            asyncio.create_task(self._arrived.wait()),
            asyncio.create_task(stop.wait()),
        ]
        try:
            await asyncio.wait(waits, timeout=patience_s, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for wait in waits:
                wait.cancel()

    async def _listen(self) -> None:
        failures = 0
        while True:
            try:
                async for header in self._client.announced_heads():
                    failures = 0
                    self._is_announcing = True
                    self._announced = header
                    self._arrived.set()
            except UpstreamError as error:
                failures += 1
                if failures == 1:
                    _log.warning("head subscription lost, polling", reason=str(error))
            finally:
                self._is_announcing = False
            await self._clock.sleep(
                backoff_s(failures, first_s=_FIRST_RETRY_S, most_s=_MOST_RETRY_S)
            )
