"""Answers for one token: analysis, rendering and caching.

Equal concurrent requests share an analysis, whatever their formats.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from itertools import count

import msgspec
import structlog
from prometheus_client import Counter, Gauge

from analysis.token.admission import admit_address
from api.deps import ApiDeps
from api.formats.rendering import Format, render_failure, render_refusal, render_report
from api.formats.token_snapshot import TokenSnapshot, take_snapshot
from api.serving.accuracy_service import OutcomeService
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import Coding, compress, is_worth_compressing, pack
from api.serving.pair_tokens import find_token_of_pair
from api.serving.token_cache import CachedToken, TokenCache, TokenKey, Variant
from config.facts.chain import Chain
from core.errors import AssayError, InternalError, TokenRefusedError
from core.evm.primitives import Address, checksum
from core.process.single_flight import SingleFlight
from core.report.report import Report

MAX_CACHE_S = 120.0
"""The specification's bound on the age of a cached answer, in seconds."""

UNSETTLED_CACHE_S = 1.0
"""Lifetime of an unsettled answer: polling callers see progress, and share one run."""

LARGE_POOLS = 200
"""A report with more pools is rendered in a thread, so as not to block the event loop."""

_log = structlog.get_logger(__name__)


class BrokenAnalysisError(InternalError):
    """A report could not be made or rendered because of a bug."""


class Ask(msgspec.Struct, frozen=True, kw_only=True):
    """One request for a report; equal ones share a run."""

    chain: str
    address: Address
    refresh: bool = False
    redecompile: bool = False

    @property
    def recomputes(self) -> bool:
        """True if the request must not be answered from the cache."""
        return self.refresh or self.redecompile

    @property
    def token(self) -> TokenKey:
        """Return the key of its token."""
        return self.chain, self.address


_LOOKUPS = Counter("assay_api_token_lookups", "Tokens looked up in the cache", ["result"])
_HELD = Gauge("assay_api_token_cache_bytes", "Memory of cached tokens and their answers")


class KnownSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """Snapshot of a token without a request for an analysis."""

    snapshot: TokenSnapshot | None
    """Snapshot of the last report, however old. None: there is none."""
    costs_analysis: bool
    """True if a request for the snapshot starts an analysis."""


class Answers:
    """Snapshots and encoded answers for all tokens of the served chains."""

    def __init__(self, deps: ApiDeps):
        self._deps = deps
        self._chains = {chain.slug: chain for chain in deps.chains}
        self._keep_s = min(deps.settings.cache_s, MAX_CACHE_S)
        self._cache = TokenCache(max_bytes=deps.settings.max_cached_bytes, now_s=deps.monotonic_s)
        self._outcome_service = OutcomeService(deps)
        self._started = count()
        self._analyses = SingleFlight[Ask, CachedToken]()
        self._prices = SingleFlight[int, TokenSnapshot]()
        self._encodings = SingleFlight[tuple[int, Variant], CachedAnswer]()

    def chain(self, slug: str) -> Chain:
        """Return the supported chain with that slug."""
        return self._chains[slug]

    def cached(
        self, chain: str, address: str, form: Format, coding: Coding | None
    ) -> CachedAnswer | None:
        """Return the cached answer without a price in that coding, or uncompressed if too small to
        compress.

        None if it is not cached. `address` is in lower case.
        """
        token = self._cache.get((chain, address))
        if token is None:
            return None
        answer = token.get((form, False, coding))
        if answer is None and coding is not None:
            plain = token.get((form, False, None))
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
        ask = Ask(chain=chain, address=parsed, refresh=refresh, redecompile=redecompile)
        try:
            token = await self._find(ask)
            answer = await self._rendered(ask, token, form, is_priced=is_priced)
        except (AssayError, TimeoutError):
            return pack(500, render_failure(self._chains[chain], parsed, form))
        if coding is None or not is_worth_compressing(answer):
            return answer
        variant = (form, is_priced, coding)

        async def run() -> CachedAnswer:
            return await asyncio.to_thread(compress, answer, coding)

        return await self._encoded(ask, token, variant, run)

    async def snapshot(
        self, *, chain: str, address: str, is_priced: bool = False, refresh: bool = False
    ) -> TokenSnapshot:
        """Return the snapshot from which all answers for the token are rendered now.

        Its `is_final` is false while a part is pending; a call after UNSETTLED_CACHE_S returns
        more. Raises TokenRefusedError for an address that is no token, UpstreamError, InternalError
        and TimeoutError for an analysis that failed.
        """
        ask = Ask(chain=chain, address=admit_address(address), refresh=refresh)
        token = await self._find(ask)
        if isinstance(token.found, TokenRefusedError):
            raise token.found
        found = await self._priced(ask, token, token.found) if is_priced else token.found
        return token.complete(found)

    async def with_price(self, snapshot: TokenSnapshot, *, within_s: float) -> TokenSnapshot:
        """Return the snapshot with a price if one comes in time; if not, a later call has it.

        Prices are looked up for cached snapshots only.
        """
        ask = Ask(chain=snapshot.chain.slug, address=snapshot.report.token.address)
        token = self._cache.get(ask.token)
        if token is None or isinstance(token.found, TokenRefusedError):
            return snapshot
        if token.found.report.token != snapshot.report.token:
            return snapshot
        try:
            priced = await asyncio.wait_for(self._priced(ask, token, token.found), within_s)
        except (AssayError, TimeoutError) as error:
            _log.info("page without a price", token=ask.address, reason=str(error))
            return snapshot
        return msgspec.structs.replace(snapshot, price=priced.price)

    async def recall(self, *, chain: str, address: str) -> KnownSnapshot:
        """Return the cached snapshot, else the stored one; nothing is analysed.

        Raises TokenRefusedError for a text that is no address, and for an address that was refused
        lately; StoreError.
        """
        ask = Ask(chain=chain, address=admit_address(address))
        token = self._cache.get(ask.token)
        if token is not None:
            if isinstance(token.found, TokenRefusedError):
                raise token.found
            # Sentences need the evidence.
            return KnownSnapshot(snapshot=token.complete(token.found), costs_analysis=False)
        known = await self._deps.analysis.recall(chain, ask.address)
        return KnownSnapshot(
            snapshot=None if known.report is None else await self._snapshot(ask, known.report),
            costs_analysis=not (known.is_recent or known.is_running),
        )

    async def is_analysing(self, chain: str, address: str) -> bool:
        """True if the token is being analysed, or a caller waits for that. Raises StoreError, and
        TokenRefusedError for a text that is no address."""
        ask = Ask(chain=chain, address=admit_address(address))
        if any(each.token == ask.token for each in self._analyses.keys):
            return True
        return (await self._deps.analysis.recall(chain, ask.address)).is_running

    def forget(self, chain: str, address: str) -> None:
        """Drop the answers on a token, as another process has written its report.

        `address` is in lower case.
        """
        self._cache.forget((chain, address), before=next(self._started))
        _HELD.set(self._cache.held_bytes)

    def forget_all(self) -> None:
        """Drop all answers."""
        self._cache.forget_all(before=next(self._started))
        _HELD.set(self._cache.held_bytes)

    async def aclose(self) -> None:
        """Cancel all running analyses and compressions."""
        await self._analyses.aclose()
        await self._prices.aclose()
        await self._encodings.aclose()

    async def _find(self, ask: Ask) -> CachedToken:
        """Return the cached token, or analyse it. Raises UpstreamError, InternalError,
        TimeoutError, which are not cached."""
        token = None if ask.recomputes else self._cache.get(ask.token)
        _LOOKUPS.labels("missed" if token is None else "hit").inc()
        return token or await self._analyses.run(ask, lambda: self._analyse(ask))

    async def _analyse(self, ask: Ask) -> CachedToken:
        """Analyse and cache for as long as allowed; return the result, or that of a later
        analysis."""
        started_as, keep_s = next(self._started), self._keep_s
        found: TokenSnapshot | TokenRefusedError
        try:
            with _failures_logged(ask):
                found = await self._snapshot(ask, await self._report(ask))
            if not found.is_final:
                keep_s = min(UNSETTLED_CACHE_S, keep_s)
        except TokenRefusedError as error:
            found = await self._explained(ask, error)
            keep_s -= error.age_s
        until_s = self._deps.monotonic_s() + keep_s
        made = CachedToken(found, started_as=started_as, until_s=until_s)
        kept = self._cache.put(ask.token, made)
        _HELD.set(self._cache.held_bytes)
        return kept

    async def _explained(self, ask: Ask, error: TokenRefusedError) -> TokenRefusedError:
        """Return the refusal; of a pool's address, with the token to request."""
        if error.code != "not_a_token":
            return error
        token = await find_token_of_pair(self._deps, self._chains[ask.chain], ask.address)
        if token is None:
            return error
        reason = f"This is a pool of {checksum(token)}: request that token"
        return TokenRefusedError(code=error.code, reason=reason, age_s=error.age_s)

    async def _report(self, ask: Ask) -> Report:
        """Return the report; an analysis that takes too long continues. Raises TimeoutError."""
        report = self._deps.analysis.report(
            ask.chain, ask.address, refresh=ask.refresh, redecompile=ask.redecompile
        )
        return await asyncio.wait_for(report, self._deps.answer_within_s)

    async def _snapshot(self, ask: Ask, report: Report) -> TokenSnapshot:
        snapshot = take_snapshot(
            report,
            self._chains[ask.chain],
            now_s=self._deps.now_s(),
            liquid_above_usd=self._deps.liquid_above_usd,
            has_owner_simulation=self._deps.has_owner_simulation,
            has_liquidity_check=self._deps.has_liquidity_check,
            clock=self._deps.read_clock(ask.chain),
        )
        outcomes = await self._outcome_service.known(ask.chain)
        return msgspec.structs.replace(snapshot, outcomes=outcomes) if outcomes else snapshot

    async def _priced(self, ask: Ask, token: CachedToken, snapshot: TokenSnapshot) -> TokenSnapshot:
        """Return the snapshot with a price, which is looked up once in the token's lifetime."""
        read_price = self._deps.read_price
        if read_price is None:
            return snapshot

        async def run() -> TokenSnapshot:
            price = await read_price(ask.chain, snapshot.report)
            token.priced = msgspec.structs.replace(snapshot, price=price)
            return token.priced

        return token.priced or await self._prices.run(token.started_as, run)

    async def _rendered(
        self, ask: Ask, token: CachedToken, form: Format, *, is_priced: bool
    ) -> CachedAnswer:
        """Return the uncompressed answer. Raises AssayError or TimeoutError from the price, and
        BrokenAnalysisError."""
        variant, found = (form, is_priced, None), token.found
        kept = token.get(variant)
        if kept is not None:
            return kept
        if isinstance(found, TokenRefusedError):
            body = render_refusal(self._chains[ask.chain], ask.address, form, found)
            return self._keep(ask, token, variant, pack(found.status, body))
        with _failures_logged(ask):
            snapshot = await self._priced(ask, token, found) if is_priced else found
            if form == "evidence":
                snapshot = token.complete(snapshot)
            if len(snapshot.report.pools or ()) <= LARGE_POOLS:
                return self._keep(ask, token, variant, _render(snapshot, form))

            async def run() -> CachedAnswer:
                return await asyncio.to_thread(_render, snapshot, form)

            return await self._encoded(ask, token, variant, run)

    async def _encoded(
        self,
        ask: Ask,
        token: CachedToken,
        variant: Variant,
        run: Callable[[], Awaitable[CachedAnswer]],
    ) -> CachedAnswer:
        """Return the kept answer, or the result of `run`, which concurrent callers share."""
        kept = token.get(variant)
        if kept is not None:
            return kept

        async def make() -> CachedAnswer:
            return self._keep(ask, token, variant, await run())

        return await self._encodings.run((token.started_as, variant), make)

    def _keep(
        self, ask: Ask, token: CachedToken, variant: Variant, answer: CachedAnswer
    ) -> CachedAnswer:
        self._cache.add(ask.token, token, variant, answer)
        return answer


def _render(snapshot: TokenSnapshot, form: Format) -> CachedAnswer:
    answer = pack(200, render_report(snapshot, form))
    return msgspec.structs.replace(answer, is_final=snapshot.is_final)


@contextmanager
def _failures_logged(ask: Ask) -> Iterator[None]:
    """Log failures, with a traceback only for internal errors; raise a bug as an internal error."""
    try:
        yield
    except TokenRefusedError:
        raise
    except (AssayError, TimeoutError) as error:
        _report_failure(ask, error)
        raise
    except Exception as error:
        _report_failure(ask, error)
        raise BrokenAnalysisError from error


def _report_failure(ask: Ask, error: Exception) -> None:
    is_foreign = isinstance(error, TimeoutError) or (
        isinstance(error, AssayError) and not isinstance(error, InternalError)
    )
    reason = str(error) or type(error).__name__
    _log.warning(
        "analysis failed",
        chain=ask.chain,
        token=ask.address,
        reason=reason,
        exc_info=None if is_foreign else error,
    )
