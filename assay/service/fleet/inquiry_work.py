"""Takes the questions of processes without a node, and answers them here."""

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
    ExitQuestion,
    HooksQuestion,
    InquiryQuestion,
    LiquidityQuestion,
    PackQuestion,
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
"""Between two looks, if no message comes before."""

_RENEW_EVERY_S: Final = 1.0
_AGAIN_S: Final = 0.5

_END_WITHIN_S: Final = 8.0
"""For those under way to end after the stop; others go on with the rest."""

_LOG = structlog.get_logger(__name__)


class InquiryWork:
    """Answers what other processes ask: what was asked longest ago first. For one event loop."""

    def __init__(
        self,
        quotes: Quotes,
        inquiries: Inquiries,
        *,
        chains: Mapping[str, int],
        at_once: int,
        announce: Callable[[int, Address], None] = lambda _chain_id, _token: None,
    ) -> None:
        """`chains`: slug to chain id, of those that this process has a node for. `at_once`:
        inquiries about a chain that it works on at the same time. `announce`: told of the token of
        each answer."""
        self._quotes = quotes
        self._inquiries = inquiries
        self._slugs = {chain_id: slug for slug, chain_id in chains.items()}
        self._at_once = at_once
        self._announce = announce
        self._wake = asyncio.Event()
        self._playing: dict[int, tuple[int, asyncio.Task[None]]] = {}
        """Chain id and task, by inquiry."""
        # A thread of its own: the others may all be waiting for a node or for the database.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="renew-inquiries")

    def wake(self) -> None:
        """Look at once: something was asked."""
        self._wake.set()

    async def run(self, stop: asyncio.Event) -> None:
        """Take and answer until the stop; what is under way then has some seconds to end."""
        renewing = asyncio.create_task(self._keep_renewing())
        try:
            await self._keep_taking(stop)
            under_way = [task for _, task in self._playing.values()]
            if under_way:
                await asyncio.wait(under_way, timeout=_END_WITHIN_S)
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
        """Wait for the next look."""
        waits = [asyncio.create_task(event.wait()) for event in (self._wake, stop)]
        await asyncio.wait(waits, timeout=_LOOK_EVERY_S, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()

    async def _take(self) -> None:
        busy = [chain_id for chain_id, _ in self._playing.values()]
        free = {chain_id: self._at_once - busy.count(chain_id) for chain_id in self._slugs}
        wanted = {chain_id: count for chain_id, count in free.items() if count > 0}
        if not wanted:
            return
        for taken in await asyncio.to_thread(self._inquiries.take, wanted, kinds=INQUIRY_KINDS):
            if taken.inquiry in self._playing:
                continue  # its lease had ended here; nobody else has taken it
            task = asyncio.create_task(self._play(taken))
            self._playing[taken.inquiry] = (taken.chain_id, task)
            task.add_done_callback(partial(self._ended, taken.inquiry))

    def _ended(self, inquiry: int, _: asyncio.Task[None]) -> None:
        del self._playing[inquiry]
        self._wake.set()  # a slot is free

    async def _play(self, taken: TakenInquiry) -> None:
        deadline_s = asyncio.get_running_loop().time() + taken.left_s
        token: Address | None = None
        try:
            question = decode_question(taken.question)
            token = token_of(question)
            async with asyncio.timeout(taken.left_s):
                found = await self._answer(self._slugs[taken.chain_id], question)
            text = encode_answer(found)
        except Exception as error:  # noqa: BLE001 - whoever asked is told, and bugs are logged
            text = encode_failure(_told(error))
        await self._tell(taken, text, until_s=deadline_s)
        if token is not None:
            self._announce(taken.chain_id, token)

    async def _answer(self, slug: str, question: InquiryQuestion) -> msgspec.Struct:
        match question:
            case ExitQuestion(report=report, ask=ask):
                return await self._quotes.quote_exit(slug, report, ask)
            case LiquidityQuestion(report=report):
                return await self._quotes.find_liquidity(slug, report)
            case HooksQuestion(report=report):
                return await self._quotes.find_hooks(slug, report)
            case PackQuestion(token=token):
                return await self._quotes.record_pack(slug, token)
            case TradeQuestion():
                return await self._quotes.check_trade(slug, question.report, question.ask)

    async def _tell(self, taken: TakenInquiry, text: bytes, *, until_s: float) -> None:
        """Write the answer; while the database is away, for as long as anybody waits for it."""
        while True:
            try:
                await asyncio.to_thread(self._inquiries.answer, taken.inquiry, text)
            except StoreError as error:
                if asyncio.get_running_loop().time() > until_s:
                    _LOG.warning("an answer could not be told", why=str(error))
                    return
                await asyncio.sleep(_AGAIN_S)
            else:
                return

    async def _keep_renewing(self) -> None:
        while True:
            await asyncio.sleep(_RENEW_EVERY_S)
            mine = list(self._playing)
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
                if (playing := self._playing.get(inquiry)) is not None:
                    playing[1].cancel()  # nobody waits for it, or another process has it

    async def _give_back(self) -> None:
        left = [task for _, task in self._playing.values()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
        with suppress(StoreError):  # they end by themselves
            await asyncio.to_thread(self._inquiries.give_back)


def _told(error: Exception) -> Exception:
    """Return what whoever asked is told; log what is a fault of ours."""
    match error:
        case TimeoutError():
            return UpstreamError(service="simulation", reason="not finished in time")
        case CallerError() | UpstreamError():
            return error
        case _:
            _LOG.error("an inquiry failed", exc_info=error)
            return error
