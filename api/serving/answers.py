"""Answers for one token: analysis, rendering and caching; equal concurrent requests share a run."""

import asyncio
from itertools import product

import msgspec
import structlog

from analysis.market.token_price import TokenPrice
from analysis.token.admission import admit_address
from api.deps import ApiDeps
from api.formats.rendering import FORMATS, Format, render_failure, render_refusal, render_report
from api.serving.answer_cache import AnswerCache, CachedAnswer
from api.serving.packing import CODINGS, Coding, compress, is_worth_compressing, pack
from config.chains import Chain
from core.errors import AssayError, InternalError, TokenRefusedError
from core.primitives import Address
from core.report import Report
from core.single_flight import SingleFlight

MAX_CACHE_S = 120.0
"""The specification's bound on the age of a cached answer, in seconds."""

UNSETTLED_CACHE_S = 1.0
"""Lifetime of an unsettled answer: callers who poll see progress, and many of them cost one run."""

LARGE_POOLS = 200
"""A report with more pools is rendered in a thread, so as not to block the event loop."""

_log = structlog.get_logger(__name__)


class BrokenAnalysisError(InternalError):
    """A report could not be made or rendered because of a bug."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One request for one token; equal ones share a run."""

    chain: str
    address: Address
    format: Format
    is_priced: bool = False
    refresh: bool = False
    redecompile: bool = False

    @property
    def recomputes(self) -> bool:
        """True if the request must not be answered from the cache."""
        return self.refresh or self.redecompile


CachePlace = tuple[str, str, Format, bool, Coding | None]
"""Cache key: chain, address, format, whether with a price, coding."""


class Answers:
    """Encoded answers for all tokens of the served chains."""

    def __init__(self, deps: ApiDeps):
        self._deps = deps
        self._chains = {chain.slug: chain for chain in deps.chains}
        self._keep_s = min(deps.settings.cache_s, MAX_CACHE_S)
        self._cache = AnswerCache[CachePlace](
            max_bytes=deps.settings.max_cached_bytes, now_s=deps.monotonic_s
        )
        self._answers = SingleFlight[Ask, CachedAnswer]()
        self._compressed = SingleFlight[tuple[bytes | None, Coding], CachedAnswer]()

    def cached(
        self, chain: str, address: str, form: Format, coding: Coding | None
    ) -> CachedAnswer | None:
        """Return the cached answer without a price in that coding, or uncompressed if too small to
        compress.

        None if it is not cached. `address` is in lower case.
        """
        answer = self._cache.get((chain, address, form, False, coding))
        if answer is None and coding is not None:
            plain = self._cache.get((chain, address, form, False, None))
            if plain is not None and not is_worth_compressing(plain):
                return plain
        return answer

    async def answer(
        self,
        *,
        chain: str,
        address: str,
        form: Format,
        coding: Coding | None = None,
        is_priced: bool = False,
        refresh: bool = False,
        redecompile: bool = False,
    ) -> CachedAnswer:
        """Return the answer for one token, from the cache where allowed. Errors become answers
        too."""
        try:
            parsed = admit_address(address)
        except TokenRefusedError as error:
            return pack(error.status, render_refusal(self._chains[chain], address, form, error))
        ask = Ask(
            chain=chain,
            address=parsed,
            format=form,
            is_priced=is_priced,
            refresh=refresh,
            redecompile=redecompile,
        )
        answer = None if ask.recomputes else self._cache.get(_place(ask))
        if answer is None:
            answer = await self._answers.run(ask, lambda: self._make(ask))
        if coding is None or not is_worth_compressing(answer):
            return answer
        return await self._in_coding(ask, answer, coding)

    async def aclose(self) -> None:
        """Cancel all running analyses and compressions."""
        await self._answers.aclose()
        await self._compressed.aclose()

    async def _in_coding(self, ask: Ask, plain: CachedAnswer, coding: Coding) -> CachedAnswer:
        """Return the compressed answer; one thread compresses for all concurrent callers."""
        place, packed = _place(ask), _place(ask, coding)
        kept = self._cache.get(packed)
        if kept is not None and kept.tag == plain.tag:
            return kept

        async def run() -> CachedAnswer:
            answer = await asyncio.to_thread(compress, plain, coding)
            self._cache.put_beside(packed, answer, of=place, made_from=plain)
            return answer

        return await self._compressed.run((plain.tag, coding), run)

    async def _make(self, ask: Ask) -> CachedAnswer:
        """Compute the answer and cache it for as long as allowed. Our failures are not cached."""
        chain = self._chains[ask.chain]
        try:
            answer, keep_s = await self._judge(ask, chain)
        except TokenRefusedError as error:
            body = render_refusal(chain, ask.address, ask.format, error)
            answer, keep_s = pack(error.status, body), self._keep_s
        except (AssayError, TimeoutError) as error:
            _report_failure(ask, error)
            return pack(500, render_failure(chain, ask.address, ask.format))
        if ask.recomputes:
            for form, priced, coding in product(FORMATS, (False, True), (None, *CODINGS)):
                self._cache.drop((ask.chain, ask.address, form, priced, coding))
        self._cache.put(_place(ask), answer, for_s=keep_s)
        return answer

    async def _judge(self, ask: Ask, chain: Chain) -> tuple[CachedAnswer, float]:
        """Return the answer of an analysed token, and for how many seconds it may be cached."""
        try:
            report = await self._report(ask)
            price = await self._price(ask, report)
            clock, now_s = self._deps.read_clock(ask.chain), self._deps.now_s()

            def render() -> CachedAnswer:
                body = render_report(
                    report,
                    chain,
                    ask.format,
                    now_s=now_s,
                    liquid_above_usd=self._deps.liquid_above_usd,
                    has_owner_simulation=self._deps.has_owner_simulation,
                    clock=clock,
                    price=price,
                )
                return pack(200, body)

            is_large = len(report.pools or ()) > LARGE_POOLS
            answer = await asyncio.to_thread(render) if is_large else render()
        except (AssayError, TimeoutError):
            raise
        except Exception as error:
            raise BrokenAnalysisError from error
        if is_final(report):
            return answer, self._keep_s
        unsettled = msgspec.structs.replace(answer, is_final=False)
        return unsettled, min(UNSETTLED_CACHE_S, self._keep_s)

    async def _price(self, ask: Ask, report: Report) -> TokenPrice | None:
        if not ask.is_priced or self._deps.read_price is None:
            return None
        return await self._deps.read_price(ask.chain, report)

    async def _report(self, ask: Ask) -> Report:
        """Return the report; the analysis goes on where it takes too long. Raises TimeoutError."""
        report = self._deps.analysis.report(
            ask.chain, ask.address, refresh=ask.refresh, redecompile=ask.redecompile
        )
        return await asyncio.wait_for(report, self._deps.answer_within_s)


def is_final(report: Report) -> bool:
    """True if no part of the report is pending."""
    return report.token.is_settled and not any(
        "pending" in (pool.buy, pool.sell) for pool in report.pools or ()
    )


def _report_failure(ask: Ask, error: AssayError | TimeoutError) -> None:
    """Log a failure; with a traceback only for internal errors."""
    ours = error if isinstance(error, InternalError) else None
    reason = str(error) or type(error).__name__
    _log.warning(
        "analysis failed", chain=ask.chain, token=ask.address, reason=reason, exc_info=ours
    )


def _place(ask: Ask, coding: Coding | None = None) -> CachePlace:
    return ask.chain, ask.address, ask.format, ask.is_priced, coding
