"""Waiting for inquiries that other processes work on: one look at the database for all who wait."""

import asyncio
from contextlib import suppress

import structlog

from core.errors import StoreError
from sql.postgres.inquiries import Inquiries

_LOOK_EVERY_S = 0.1
"""Between two looks while anybody waits, if no message comes before."""

_LOG = structlog.get_logger(__name__)


class InquiryEnds:
    """Who waits in this process, and the task that looks for them. For one event loop."""

    def __init__(self, inquiries: Inquiries) -> None:
        self._inquiries = inquiries
        self._waiting: dict[int, asyncio.Future[bytes]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._wake = asyncio.Event()

    async def wait(self, inquiry: int) -> bytes:
        """Return the answer, however long it takes. A database that does not answer is asked
        again."""
        found: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting[inquiry] = found
        if self._looking is None:
            self._looking = asyncio.create_task(self._look())
        try:
            return await found
        finally:
            del self._waiting[inquiry]

    def wake(self) -> None:
        """Look at once: an inquiry was answered."""
        self._wake.set()

    async def aclose(self) -> None:
        """End the task; who still waits is cancelled."""
        for found in self._waiting.values():
            found.cancel()
        if self._looking is not None:
            self._looking.cancel()
            await asyncio.gather(self._looking, return_exceptions=True)

    async def _look(self) -> None:
        try:
            is_answering = True
            while self._waiting:
                self._wake.clear()
                try:
                    answered = await asyncio.to_thread(self._inquiries.answers, list(self._waiting))
                except StoreError as error:
                    if is_answering:
                        _LOG.error("answers to inquiries cannot be read", why=str(error))
                    is_answering = False
                else:
                    is_answering = True
                    for one in answered:
                        found = self._waiting.get(one.inquiry)
                        if found is not None and not found.done():
                            found.set_result(one.answer)
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake.wait(), _LOOK_EVERY_S)
        finally:
            self._looking = None
