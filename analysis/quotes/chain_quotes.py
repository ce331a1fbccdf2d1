"""Quotes, checks and evidence packs by chain, with limits and shared runs."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Hashable, Mapping
from contextlib import asynccontextmanager
from typing import Final, TypeAlias

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.exit_quote import ExitQuote, RequestedSize, quote_exit
from analysis.quotes.hook_inquiry import HookFindings, find_hooks
from analysis.quotes.limit_inquiry import LimitFindings, find_limits
from analysis.quotes.liquidity_inquiry import LiquidityFindings, find_liquidity
from analysis.quotes.opening_inquiry import OpeningFindings, find_opening
from analysis.quotes.sale_census import SaleCensus, take_census
from analysis.quotes.trade_check import TradeCheck, check_trade
from analysis.quotes.unsigned_trade import UnsignedTrade
from analysis.replay.evidence_pack import EvidencePack, PackFile, file_of
from analysis.replay.pack_signature import sign_pack
from analysis.replay.record_pack import record_pack
from core.errors import UpstreamError
from core.evm.primitives import Address
from core.process.secret import Secret
from core.process.single_flight import Result, SingleFlight
from core.report.report import Report

WITHIN_S: Final = 15.0
"""Time limit of a run, including its wait."""

_TO_ANSWER_S: Final = 1.0
"""Part of that for answering with the findings so far."""

_MOST_WAITING: Final = 64
"""Most waiting calls of one chain. Beyond it, calls are rejected, not queued."""

_Key: TypeAlias = tuple[str, Hashable]
"""Chain slug, and the request within the chain."""


class ChainQuotes:
    """Quotes, checks and evidence packs, by chain slug."""

    def __init__(
        self,
        contexts: Mapping[str, ChainContext],
        *,
        concurrency: int,
        signing_key: Secret | None = None,
    ) -> None:
        """`concurrency`: runs per chain. `signing_key`: key for evidence packs; None: not
        signed."""
        self._contexts = contexts
        self._signing_key = signing_key
        self._slots = {slug: asyncio.Semaphore(concurrency) for slug in contexts}
        self._waiting = dict.fromkeys(contexts, 0)
        self._quotes = SingleFlight[_Key, ExitQuote]()
        self._inquiries = SingleFlight[_Key, LiquidityFindings]()
        self._hooks = SingleFlight[_Key, HookFindings]()
        self._censuses = SingleFlight[_Key, SaleCensus]()
        self._limits = SingleFlight[_Key, LimitFindings]()
        self._openings = SingleFlight[_Key, OpeningFindings]()
        self._packs = SingleFlight[_Key, PackFile]()

    async def quote_exit(self, chain: str, report: Report, size: RequestedSize) -> ExitQuote:
        """Return the exit quote; see `exit_quote`. Equal concurrent requests share one run.

        Raises TokenRefusedError, UpstreamError.
        """
        return await self._share(
            self._quotes,
            (chain, (report.token.address, report.token.block_hash, size)),
            lambda context, _: quote_exit(context, report.token.address, report, size),
        )

    async def find_liquidity(self, chain: str, report: Report) -> LiquidityFindings:
        """Return the liquidity holders; see `find_liquidity`. Equal concurrent requests share one
        run.

        Raises TokenRefusedError, UpstreamError.
        """
        return await self._share(
            self._inquiries,
            _key_of(chain, report),
            lambda context, _: find_liquidity(context, report.token.address, report),
        )

    async def find_hooks(self, chain: str, report: Report) -> HookFindings:
        """Return the findings about hooks; see `find_hooks`. Equal concurrent requests share one
        run.

        Simulations that a slow node has not finished in time are left out.

        Raises TokenRefusedError, UpstreamError.
        """
        return await self._share(
            self._hooks,
            _key_of(chain, report),
            lambda context, until_s: find_hooks(context, report.token.address, until_s=until_s),
        )

    async def take_census(self, chain: str, report: Report) -> SaleCensus:
        """Return the sales of real holders; see `take_census`. Equal concurrent requests share one
        run.

        Lists and writers that a slow node has not given in time are left out.

        Raises TokenRefusedError, UpstreamError.
        """
        return await self._share(
            self._censuses,
            _key_of(chain, report),
            lambda context, until_s: take_census(
                context, report.token.address, report, until_s=until_s
            ),
        )

    async def find_limits(self, chain: str, report: Report) -> LimitFindings:
        """Return the limits; see `find_limits`. Equal concurrent requests share one run.

        Raises TokenRefusedError, UpstreamError.
        """
        return await self._share(
            self._limits,
            _key_of(chain, report),
            lambda context, until_s: find_limits(
                context, report.token.address, report, until_s=until_s
            ),
        )

    async def find_opening(self, chain: str, report: Report) -> OpeningFindings:
        """Return the opening; see `find_opening`. Equal concurrent requests share one run.

        Raises TokenRefusedError, UpstreamError.
        """
        return await self._share(
            self._openings,
            _key_of(chain, report),
            lambda context, _: find_opening(context, report.token.address, report),
        )

    async def check_trade(
        self, chain: str, report: Report | None, trade: UnsignedTrade
    ) -> TradeCheck:
        """Return the effects of a trade; see `trade_check`.

        Raises TradeRefusedError, TokenRefusedError, UpstreamError.
        """
        async with self._bounded(chain):
            return await check_trade(self._contexts[chain], trade, report)

    async def record_pack(self, chain: str, token: Address) -> PackFile:
        """Analyse the token again, record every call, and return the file.

        Concurrent requests share one run. Raises TokenRefusedError, UpstreamError,
        EvidencePackError, ConfigError for an invalid signing key.
        """

        async def record(context: ChainContext, _: float) -> PackFile:
            pack = await record_pack(context, token)
            return await asyncio.to_thread(self._file_of, pack)

        return await self._share(self._packs, (chain, token), record)

    def _file_of(self, pack: EvidencePack) -> PackFile:
        signed = pack if self._signing_key is None else sign_pack(pack, self._signing_key)
        return file_of(signed)

    async def aclose(self) -> None:
        """Cancel all runs."""
        await self._quotes.aclose()
        await self._inquiries.aclose()
        await self._hooks.aclose()
        await self._censuses.aclose()
        await self._limits.aclose()
        await self._openings.aclose()
        await self._packs.aclose()

    async def _share(
        self,
        runs: SingleFlight[_Key, Result],
        key: _Key,
        work: Callable[[ChainContext, float], Awaitable[Result]],
    ) -> Result:
        """Return the result of the key's running work, or start it in a slot of the chain.

        `work` has the chain's context, and the time by the event loop's clock when it has to
        answer with the findings so far. Raises UpstreamError.
        """
        chain, _ = key

        async def run() -> Result:
            async with self._bounded(chain) as end_s:
                return await work(self._contexts[chain], end_s - _TO_ANSWER_S)

        return await runs.run(key, run)

    @asynccontextmanager
    async def _bounded(self, chain: str) -> AsyncIterator[float]:
        """Wait for a slot, and yield its deadline, by the event loop's clock. Raises
        UpstreamError."""
        if self._waiting[chain] >= _MOST_WAITING:
            raise UpstreamError(service="simulation", reason="too many quotes are waiting")
        self._waiting[chain] += 1
        end_s = asyncio.get_running_loop().time() + WITHIN_S
        try:
            async with asyncio.timeout_at(end_s), self._slots[chain]:
                yield end_s
        except TimeoutError as error:
            reason = f"not finished in {WITHIN_S:g} s"
            raise UpstreamError(service="simulation", reason=reason) from error
        finally:
            self._waiting[chain] -= 1


def _key_of(chain: str, report: Report) -> _Key:
    return chain, (report.token.address, report.token.block_hash)
