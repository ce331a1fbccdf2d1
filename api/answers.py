"""One token asked about -> encoded answer: analysis, rendering, cache."""

import asyncio

import msgspec
import structlog

from analysis.gate import admit_address
from api.cache import Answer, AnswerCache, SharedRuns
from api.render import FORMATS, Format, render_failure, render_refusal, render_report
from api.service import ApiDeps
from config.chains import Chain
from config.errors import AssayError, InternalError, TokenRefusedError
from config.primitives import Address
from sql.rows import Report

MAX_CACHE_S = 120.0
"""The specification's bound on the age of a cached answer."""

UNSETTLED_CACHE_S = 1.0
"""So that a caller who polls sees progress, and a crowd still costs one run."""

_log = structlog.get_logger(__name__)


class BrokenAnalysisError(InternalError):
    """A report could not be made or rendered, by a mistake of ours."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One request for one token; equal asks share a run."""

    chain: str
    address: Address
    format: Format
    refresh: bool = False
    redecompile: bool = False

    @property
    def recomputes(self) -> bool:
        """A cached answer will not do."""
        return self.refresh or self.redecompile


Place = tuple[str, Address, Format]
ReportPlace = tuple[str, Address, bool, bool]


class Answers:
    """Encoded answers for all tokens of the served chains."""

    def __init__(self, deps: ApiDeps):
        self._deps = deps
        self._chains = {chain.slug: chain for chain in deps.chains}
        self._keep_s = min(deps.settings.cache_s, MAX_CACHE_S)
        self._cache = AnswerCache[Place](
            max_bytes=deps.settings.max_cached_bytes, now_s=deps.monotonic_s
        )
        self._answers = SharedRuns[Ask, Answer]()
        self._reports = SharedRuns[ReportPlace, Report]()

    async def answer(
        self,
        *,
        chain: str,
        address: str,
        form: Format,
        refresh: bool = False,
        redecompile: bool = False,
    ) -> Answer:
        """The answer for one token, from the cache where it may be. Never raises on purpose."""
        try:
            parsed = admit_address(address)
        except TokenRefusedError as error:
            body = render_refusal(self._chains[chain], address, form, error)
            return Answer(status=error.status, body=body)
        ask = Ask(
            chain=chain, address=parsed, format=form, refresh=refresh, redecompile=redecompile
        )
        if not ask.recomputes:
            cached = self._cache.get(_place(ask, form))
            if cached is not None:
                return cached
        return await self._answers.run(ask, lambda: self._make(ask))

    async def aclose(self) -> None:
        """Stop what is still being worked out."""
        await self._answers.aclose()
        await self._reports.aclose()

    async def _make(self, ask: Ask) -> Answer:
        """Work the answer out and keep it as long as it may be kept. Our failures are not kept."""
        chain = self._chains[ask.chain]
        try:
            answer, keep_s = await self._judge(ask, chain)
        except TokenRefusedError as error:
            body = render_refusal(chain, ask.address, ask.format, error)
            answer, keep_s = Answer(status=error.status, body=body), self._keep_s
        except (AssayError, TimeoutError) as error:
            _report_failure(ask, error)
            return Answer(status=500, body=render_failure(chain, ask.address, ask.format))
        if ask.recomputes:
            for form in FORMATS:
                self._cache.drop(_place(ask, form))
        self._cache.put(_place(ask, ask.format), answer, for_s=keep_s)
        return answer

    async def _judge(self, ask: Ask, chain: Chain) -> tuple[Answer, float]:
        """The answer of a token that was analysed, and for how many seconds it may be kept."""
        try:
            report = await self._report(ask)
            body = render_report(
                report,
                chain,
                ask.format,
                now_s=self._deps.now_s(),
                clock=self._deps.read_clock(ask.chain),
            )
        except (AssayError, TimeoutError):
            raise
        except Exception as error:
            raise BrokenAnalysisError from error
        keep_s = self._keep_s if is_final(report) else min(UNSETTLED_CACHE_S, self._keep_s)
        return Answer(status=200, body=body), keep_s

    async def _report(self, ask: Ask) -> Report:
        """The report, shared by the callers of all formats. Raises TimeoutError."""
        place = (ask.chain, ask.address, ask.refresh, ask.redecompile)
        run = self._reports.run(
            place,
            lambda: self._deps.analysis.report(
                ask.chain, ask.address, refresh=ask.refresh, redecompile=ask.redecompile
            ),
        )
        return await asyncio.wait_for(run, self._deps.answer_within_s)


def is_final(report: Report) -> bool:
    """Nothing in the report is still being worked out."""
    return report.token.is_settled and not any(
        "pending" in (pool.buy, pool.sell) for pool in report.pools or ()
    )


def _report_failure(ask: Ask, error: AssayError | TimeoutError) -> None:
    """To the log; with a trace only where the mistake is ours."""
    ours = error if isinstance(error, InternalError) else None
    reason = str(error) or type(error).__name__
    _log.warning(
        "analysis failed", chain=ask.chain, token=ask.address, reason=reason, exc_info=ours
    )


def _place(ask: Ask, form: Format) -> Place:
    return ask.chain, ask.address, form
