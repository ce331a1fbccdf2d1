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
"""Factor on the polling interval while a subscription works. Polling goes on, as a subscription can
die without the connection noticing."""

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
        return announced or await self._client.fetch_head_header()

    async def _wait(self, stop: asyncio.Event) -> None:
        patience_s = self._poll_s * (_TRUST_FACTOR if self._is_announcing else 1)
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
