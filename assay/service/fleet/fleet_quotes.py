"""Quotes, checks and evidence packs of a fleet, made here or by a process with a node."""

import asyncio
from collections.abc import Callable, Collection, Mapping
from contextlib import suppress
from typing import Final, TypeVar

from analysis.quotes.chain_quotes import WITHIN_S
from analysis.quotes.exit_quote import ExitQuote, RequestedSize
from analysis.quotes.hook_inquiry import HookFindings
from analysis.quotes.limit_inquiry import LimitFindings
from analysis.quotes.liquidity_inquiry import LiquidityFindings
from analysis.quotes.opening_inquiry import OpeningFindings
from analysis.quotes.quote_source import Quotes
from analysis.quotes.sale_census import SaleCensus
from analysis.quotes.trade_check import TradeCheck
from analysis.quotes.unsigned_trade import UnsignedTrade
from analysis.replay.evidence_pack import PackFile
from assay.service.fleet.inquiry_encoding import (
    CensusQuestion,
    ExitQuestion,
    HooksQuestion,
    InquiryQuestion,
    LimitsQuestion,
    LiquidityQuestion,
    OpeningQuestion,
    PackQuestion,
    TradeQuestion,
    decode_answer,
    encode_question,
    kind_of,
    token_of,
)
from assay.service.fleet.row_poller import InquiryPoller
from core.errors import StoreError, UpstreamError
from core.evm.primitives import Address
from core.process.single_flight import SingleFlight
from core.report.report import Report
from sql.fleet.inquiries import Inquiries

T = TypeVar("T")

_ON_ITS_WAY_S: Final = 1.0
"""Extra wait for an answer that was finished just before the limit."""

_CLEAN_EVERY_S: Final = 60.0


class FleetQuotes:
    """Quotes, checks and evidence packs, by chain slug."""

    def __init__(
        self,
        here: Quotes,
        inquiries: Inquiries,
        ends: InquiryPoller,
        *,
        chains: Mapping[str, int],
        own: Collection[str],
        announce: Callable[[int, Address], None] = lambda _chain_id, _token: None,
        within_s: float = WITHIN_S,
    ) -> None:
        """`here`: quotes of the chains `own`. `chains`: ids of all chains by slug. `announce`:
        called with the token of each inquiry sent. `within_s`: longest that an answer may take,
        queueing included."""
        self._here = here
        self._inquiries = inquiries
        self._ends = ends
        self._chains = chains
        self._own = own
        self._announce = announce
        self._within_s = within_s
        self._running = SingleFlight[tuple[str, bytes], bytes]()
        self._clean_at_s = 0.0

    async def quote_exit(self, chain: str, report: Report, ask: RequestedSize, /) -> ExitQuote:
        """Quote a sale of a holding. Raises TokenRefusedError, UpstreamError, InternalError."""
        if chain in self._own:
            return await self._here.quote_exit(chain, report, ask)
        return await self._ask(chain, ExitQuestion(report=report, ask=ask), ExitQuote)

    async def find_liquidity(self, chain: str, report: Report, /) -> LiquidityFindings:
        """Find the holders of the liquidity. Raises TokenRefusedError, UpstreamError,
        InternalError."""
        if chain in self._own:
            return await self._here.find_liquidity(chain, report)
        return await self._ask(chain, LiquidityQuestion(report=report), LiquidityFindings)

    async def find_hooks(self, chain: str, report: Report, /) -> HookFindings:
        """Find the powers of its pools' hooks. Raises TokenRefusedError, UpstreamError,
        InternalError."""
        if chain in self._own:
            return await self._here.find_hooks(chain, report)
        return await self._ask(chain, HooksQuestion(report=report), HookFindings)

    async def take_census(self, chain: str, report: Report, /) -> SaleCensus:
        """Simulate the sales of real holders. Raises TokenRefusedError, UpstreamError,
        InternalError."""
        if chain in self._own:
            return await self._here.take_census(chain, report)
        return await self._ask(chain, CensusQuestion(report=report), SaleCensus)

    async def find_limits(self, chain: str, report: Report, /) -> LimitFindings:
        """Find the limits of trades. Raises TokenRefusedError, UpstreamError, InternalError."""
        if chain in self._own:
            return await self._here.find_limits(chain, report)
        return await self._ask(chain, LimitsQuestion(report=report), LimitFindings)

    async def find_opening(self, chain: str, report: Report, /) -> OpeningFindings:
        """Find the opening of a token without a pool. Raises TokenRefusedError, UpstreamError,
        InternalError."""
        if chain in self._own:
            return await self._here.find_opening(chain, report)
        return await self._ask(chain, OpeningQuestion(report=report), OpeningFindings)

    async def record_pack(self, chain: str, token: Address, /) -> PackFile:
        """Return the evidence pack, signed with the key of the process that records it.

        Raises TokenRefusedError, UpstreamError, EvidencePackError, InternalError.
        """
        if chain in self._own:
            return await self._here.record_pack(chain, token)
        return await self._ask(chain, PackQuestion(token=token), PackFile)

    async def check_trade(
        self, chain: str, report: Report | None, ask: UnsignedTrade, /
    ) -> TradeCheck:
        """Simulate an unsigned trade. Raises TradeRefusedError, TokenRefusedError, UpstreamError,
        InternalError."""
        if chain in self._own:
            return await self._here.check_trade(chain, report, ask)
        return await self._ask(chain, TradeQuestion(report=report, ask=ask), TradeCheck)

    async def aclose(self) -> None:
        """Stop waiting for answers."""
        await self._running.aclose()

    async def _ask(self, chain: str, question: InquiryQuestion, kind: type[T]) -> T:
        """Return the answer of another process. Concurrent equal questions are sent once."""
        text = encode_question(question)

        async def run() -> bytes:
            return await self._inquire(self._chains[chain], question, text)

        return decode_answer(await self._running.run((chain, text), run), kind)

    async def _inquire(self, chain_id: int, question: InquiryQuestion, text: bytes) -> bytes:
        await self._clean()
        inquiry = await asyncio.to_thread(
            self._inquiries.ask, chain_id, kind_of(question), text, within_s=self._within_s
        )
        if inquiry is None:
            raise UpstreamError(service="simulation", reason="too many quotes are waiting")
        self._announce(chain_id, token_of(question))
        try:
            return await asyncio.wait_for(self._ends.wait(inquiry), self._within_s + _ON_ITS_WAY_S)
        except TimeoutError as error:
            reason = f"not finished in {self._within_s:g} s"
            raise UpstreamError(service="simulation", reason=reason) from error
        finally:
            with suppress(StoreError):  # else it is deleted a minute later
                await asyncio.to_thread(self._inquiries.delete, inquiry)

    async def _clean(self) -> None:
        """Delete leftovers of killed processes, once a minute."""
        now_s = asyncio.get_running_loop().time()
        if now_s >= self._clean_at_s:
            self._clean_at_s = now_s + _CLEAN_EVERY_S
            await asyncio.to_thread(self._inquiries.delete_old)
