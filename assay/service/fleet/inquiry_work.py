"""Answers inquiries of processes without a node."""

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from typing import Final

import msgspec
import structlog

from analysis.quotes.quote_source import Quotes
from assay.service.fleet.inquiry_encoding import (
    INQUIRY_KINDS,
    CensusQuestion,
    ExitQuestion,
    HooksQuestion,
    InquiryQuestion,
    LimitsQuestion,
    LiquidityQuestion,
    OpeningQuestion,
    PackQuestion,
    ReportQuestion,
    TradeQuestion,
    decode_question,
    encode_answer,
    encode_failure,
    token_of,
)
from core.errors import CallerError, StoreError, UpstreamError
from core.evm.primitives import Address
from sql.fleet.inquiries import Inquiries, TakenInquiry

_LOOK_EVERY_S: Final = 0.1
"""Poll interval; a message shortens it."""

_RENEW_EVERY_S: Final = 1.0
_AGAIN_S: Final = 0.5

_END_WITHIN_S: Final = 8.0
"""Time for running inquiries to end after the stop; other processes finish the rest."""

_LOG = structlog.get_logger(__name__)


class InquiryWork:
    """Answers inquiries of other processes, oldest first. For one event loop."""

    def __init__(
        self,
        quotes: Quotes,
        inquiries: Inquiries,
        *,
        chains: Mapping[str, int],
        at_once: int,
        announce: Callable[[int, Address], None] = lambda _chain_id, _token: None,
    ) -> None:
        """`chains`: ids by slug, of the chains that this process has a node for. `at_once`: most
        concurrent inquiries of one chain. `announce`: called with the token of each answer."""
        self._quotes = quotes
        self._inquiries = inquiries
        self._slugs = {chain_id: slug for slug, chain_id in chains.items()}
        self._at_once = at_once
        self._announce = announce
        self._wake = asyncio.Event()
        self._tasks: dict[int, tuple[int, asyncio.Task[None]]] = {}
        """Chain id and task, by inquiry."""
        # A separate thread: the others may all be waiting for a node or for the database.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="renew-inquiries")

    def wake(self) -> None:
        """Poll immediately: an inquiry was sent."""
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Answer inquiries until the stop; those still running then have some seconds to end."""
        renewing = asyncio.create_task(self._keep_renewing())
        try:
            await self._keep_taking(stop)
            running = [task for _, task in self._tasks.values()]
            if running:
                await asyncio.wait(running, timeout=_END_WITHIN_S)
        finally:
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)
            await self._give_back()
            self._thread.shutdown(wait=False)

    async def _keep_taking(self, stop: asyncio.Event) -> None:
        is_answering = True
        while not stop.is_set():
            self._wake.clear()
            try:
                await self._take()
            except StoreError as error:
                if is_answering:
                    _LOG.error("inquiries cannot be read", why=str(error))
                is_answering = False
            else:
                is_answering = True
            await self._pause(stop)

    async def _pause(self, stop: asyncio.Event) -> None:
        """Wait for the next poll."""
        waits = [asyncio.create_task(event.wait()) for event in (self._wake, stop)]
        await asyncio.wait(waits, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _take(self) -> None:
        busy = [chain_id for chain_id, _ in self._tasks.values()]
        free = {chain_id: self._at_once - busy.count(chain_id) for chain_id in self._slugs}
        wanted = {chain_id: count for chain_id, count in free.items() if count > 0}
        if not wanted:
            return
        for taken in await asyncio.to_thread(self._inquiries.take, wanted, kinds=INQUIRY_KINDS):
            if taken.inquiry in self._tasks:
                continue  # its lease had expired here, and no other process took it
            task = asyncio.create_task(self._work_on(taken))
            self._tasks[taken.inquiry] = (taken.chain_id, task)
            task.add_done_callback(partial(self._ended, taken.inquiry))

    def _ended(self, inquiry: int, _: asyncio.Task[None]) -> None:
        del self._tasks[inquiry]
        self._wake.set()  # a slot is free

    async def _work_on(self, taken: TakenInquiry) -> None:
        deadline_s = asyncio.get_running_loop().time() + taken.left_s
        token: Address | None = None
        try:
            question = decode_question(taken.question)
            token = token_of(question)
            async with asyncio.timeout(taken.left_s):
                found = await self._answer(self._slugs[taken.chain_id], question)
            text = encode_answer(found)
        except Exception as error:  # noqa: BLE001 - sent to the other process; bugs are logged
            text = encode_failure(_public_error(error))
        await self._write(taken, text, until_s=deadline_s)
        if token is not None:
            self._announce(taken.chain_id, token)

    async def _answer(self, slug: str, question: InquiryQuestion) -> msgspec.Struct:
        match question:
            case ExitQuestion(report=report, ask=ask):
                return await self._quotes.quote_exit(slug, report, ask)
            case PackQuestion(token=token):
                return await self._quotes.record_pack(slug, token)
            case TradeQuestion():
                return await self._quotes.check_trade(slug, question.report, question.ask)
            case _:
                return await self._answer_of_report(slug, question)

    async def _answer_of_report(self, slug: str, question: ReportQuestion) -> msgspec.Struct:
        quotes = self._quotes
        match question:
            case LiquidityQuestion(report=report):
                return await quotes.find_liquidity(slug, report)
            case HooksQuestion(report=report):
                return await quotes.find_hooks(slug, report)
            case CensusQuestion(report=report):
                return await quotes.take_census(slug, report)
            case LimitsQuestion(report=report):
                return await quotes.find_limits(slug, report)
            case OpeningQuestion(report=report):
                return await quotes.find_opening(slug, report)

    async def _write(self, taken: TakenInquiry, text: bytes, *, until_s: float) -> None:
        """Write the answer. Retries until its deadline while the database is away."""
        while True:
            try:
                await asyncio.to_thread(self._inquiries.answer, taken.inquiry, text)
            except StoreError as error:
                if asyncio.get_running_loop().time() > until_s:
                    _LOG.warning("an answer could not be written", why=str(error))
                    return
                await asyncio.sleep(_AGAIN_S)
            else:
                return

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_EVERY_S)
            mine = list(self._tasks)
            if not mine:
                continue
            try:
                kept = await asyncio.get_running_loop().run_in_executor(
                    self._thread, self._inquiries.renew, mine
                )
            except StoreError as error:
                _LOG.error("inquiries cannot be renewed", why=str(error))
                continue
            for inquiry in set(mine) - kept:
                if (entry := self._tasks.get(inquiry)) is not None:
                    entry[1].cancel()  # it is no longer awaited, or another process has it

    async def _give_back(self) -> None:
        left = [task for _, task in self._tasks.values()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        with suppress(StoreError):  # their leases expire
            await asyncio.to_thread(self._inquiries.give_back)


def _public_error(error: Exception) -> Exception:
    """Return the error for the other process; log it if it is internal."""
    match error:
        case TimeoutError():
            return UpstreamError(service="simulation", reason="not finished in time")
        case CallerError() | UpstreamError():
            return error
        case _:
            _LOG.error("an inquiry failed", exc_info=error)
            return error
