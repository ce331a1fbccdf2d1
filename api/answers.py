"""One token asked about -> encoded answer: analysis, rendering, cache."""

import asyncio
from typing import Literal

import msgspec
import structlog

from api.cache import Answer, AnswerCache, SharedRuns
from api.clock import ContractClock
from api.compat import render_compat
from api.native import render_native
from api.service import ApiDeps
from api.shapes import Envelope, Features, Shape
from api.summary import refuse_summary, render_summary
from config.chains import Chain
from config.errors import AssayError, InternalError, InvalidAddressError, TokenRefusedError
from config.primitives import Address, checksum, parse_address
from sql.rows import Report

Format = Literal["native", "compat", "summary"]

FORMATS: tuple[Format, ...] = ("native", "compat", "summary")

MAX_CACHE_S = 120.0
"""The specification's bound on the age of a cached answer."""

UNSETTLED_CACHE_S = 1.0
"""So that a caller who polls sees progress, and a crowd still costs one run."""

_ECHOED_CHARS = 128

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
            parsed = parse_address(address)
        except InvalidAddressError as error:
            return _refuse(chain, address[:_ECHOED_CHARS], form, error.reason, "invalid_address")
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
        try:
            answer, keep_s = await self._judge(ask)
        except TokenRefusedError as error:
            code, keep_s = str(error.code), self._keep_s
            answer = _refuse(ask.chain, checksum(ask.address), ask.format, error.reason, code)
        except (AssayError, TimeoutError) as error:
            _report_failure(ask, error)
            return _fail(ask)
        if ask.recomputes:
            for form in FORMATS:
                self._cache.drop(_place(ask, form))
        self._cache.put(_place(ask, ask.format), answer, for_s=keep_s)
        return answer

    async def _judge(self, ask: Ask) -> tuple[Answer, float]:
        """The answer of a token that was analysed, and for how many seconds it may be kept."""
        try:
            report = await self._report(ask)
            answer = _encode(200, self._render(report, ask))
        except (AssayError, TimeoutError):
            raise
        except Exception as error:
            raise BrokenAnalysisError from error
        keep_s = self._keep_s if is_final(report) else min(UNSETTLED_CACHE_S, self._keep_s)
        return answer, keep_s

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

    def _render(self, report: Report, ask: Ask) -> Shape:
        native = render_native(report, clock=self._clock(report, self._chains[ask.chain]))
        address = checksum(ask.address)
        if ask.format == "summary":
            return render_summary(report, native, chain=ask.chain, address=address)
        features = native if ask.format == "native" else render_compat(report, native)
        return _envelope(ask.chain, address, features)

    def _clock(self, report: Report, chain: Chain) -> ContractClock:
        """The clock contracts of the chain see: the newest known, else that of the report.

        Where contracts see Ethereum's blocks, the report's own block number says nothing.
        """
        known = self._deps.read_clock(chain.slug)
        if known is not None:
            return known
        token = report.token
        since_s = max(0, int(self._deps.now_s()) - token.scanned_at_s)
        return ContractClock(
            time_s=token.block_time_s + since_s,
            block_number=token.block_number if chain.clock == "own" else None,
            block_time_s=token.block_time_s,
            block_interval_s=chain.block_time_s,
        )


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


def _fail(ask: Ask) -> Answer:
    reason = "The analysis failed on our side; try again later."
    address = checksum(ask.address)
    return _refuse(ask.chain, address, ask.format, reason, "analysis_failed", status=500)


def _refuse(
    chain: str, address: str, form: Format, reason: str, code: str, *, status: int = 422
) -> Answer:
    """The answer where no analysis was produced."""
    if form == "summary":
        body: Shape = refuse_summary(chain=chain, address=address, error=reason, error_code=code)
    else:
        body = _envelope(chain, address, None, error=reason, error_code=code)
    return _encode(status, body)


def _envelope(
    chain: str,
    address: str,
    features: Features,
    *,
    error: str = "",
    error_code: str | None = None,
) -> Envelope[Features]:
    return Envelope(
        chain=chain,
        contract_address=address,
        features=features,
        error=error,
        error_code=error_code,
        token_usd_price=None,
        market_cap_usd=None,
        price_source=None,
        price_age_seconds=None,
    )


def _encode(status: int, body: Shape) -> Answer:
    return Answer(status=status, body=msgspec.json.encode(body))
