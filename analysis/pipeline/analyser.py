"""Scheduler of analyses: one run at a time for each token, shared by all callers that wait for it.

A run goes on when its callers have left, so a later request finds its report. Waiting callers get
the report before it is stored. Bounds: concurrent runs per chain, runs in all, seconds per run.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Literal, Protocol

import msgspec
import structlog

from analysis.pipeline.report_age import is_recent, is_servable
from config.settings import AnalysisSettings
from core.errors import AssayError, StoreError, TokenRefusedError, UpstreamError
from core.evm.primitives import Address
from core.process.run_slot import RunSlot
from core.report.report import Report
from core.report.rows import RefusalRow

_LOG = structlog.get_logger(__name__)

_MOST_RUNS = 1_000
"""Most runs that wait or are active. Beyond it, new tokens are rejected, not queued."""


class KnownReport(msgspec.Struct, frozen=True, kw_only=True):
    """Stored report and running analysis of a token."""

    report: Report | None
    """The last one, however old. None: there is none."""
    is_recent: bool
    """True if a request gets that report and starts no analysis."""
    is_running: bool
    """True if a request would join a running analysis."""


AnalysisOutcome = Literal["settled", "refused", "node_failed", "failed"]
"""settled: a report. refused: not admitted as a token. node_failed: no answer of a node in time.
failed: an internal error."""


class AnalysisEnd(msgspec.Struct, frozen=True, kw_only=True):
    """A finished analysis."""

    chain: str
    """Slug."""
    outcome: AnalysisOutcome
    seconds: float
    """Run time, without the wait for a slot."""


class ReportStorage(Protocol):
    """Storage of reports between runs."""

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none."""
        ...

    async def write(self, report: Report) -> None:
        """Replace the token's report."""
        ...

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        """Store that the token was not admitted, which delays its next analysis."""
        ...


class Scanner(Protocol):
    """Analyses tokens of one chain."""

    chain_id: int

    def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """Yield the reports of one analysis, each with more facts than the last; the last is
        settled.

        Raises TokenRefusedError, UpstreamError.
        """
        ...


class _Run:
    """One running analysis."""

    def __init__(self, run: Callable[["_Run"], Coroutine[None, None, None]]) -> None:
        self.latest: Report | None = None
        """Latest report, until there is an outcome."""
        self.outcome: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(run(self))
        """Finishes when the outcome has been stored."""


class Analyser:
    """Serves stored or new reports, by chain slug and token."""

    def __init__(
        self,
        scanners: Mapping[str, Scanner],
        storage: ReportStorage,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
        observe: Callable[[AnalysisEnd], None] = lambda _: None,
        show: Callable[[Report], None] = lambda _: None,
    ) -> None:
        """`observe` is called at the end of each analysis that was not cancelled.

        `show` is called with each report of a running one, the last of which is settled.
        """
        self._observe = observe
        self._show = show
        self._scanners = scanners
        self._storage = storage
        self._settings = settings
        self._now_s = now_s
        self._runs: dict[tuple[str, Address, bool], _Run] = {}
        # By chain, so that one whose node hangs does not block the others.
        self._slots = {slug: asyncio.Semaphore(settings.concurrency) for slug in scanners}

    async def report(
        self, chain: str, token: Address, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        """Return a recent report, or wait `wait_s` for a new one.

        Checks that have not settled by then are pending or None. Raises TokenRefusedError for an
        address that is not admitted, UpstreamError if there is no report and no result in time.
        """
        scanner = self._scanners[chain]
        stored = await self._read(scanner, chain, token)
        if stored is not None and not (refresh or redecompile) and self._is_recent(stored):
            return stored
        run = self._join(chain, scanner, token, redecompile=redecompile)
        await asyncio.wait({run.outcome}, timeout=self._settings.wait_s)
        if run.outcome.done():
            return self._result(run.outcome, stored)
        if run.latest is not None:
            return run.latest
        if stored is not None and self._is_servable(stored):
            return stored
        raise UpstreamError(
            service="analysis", reason=f"nothing settled in {self._settings.wait_s:g} s"
        )

    async def recall(self, chain: str, token: Address) -> KnownReport:
        """Return what is stored or running, without an analysis. Raises StoreError."""
        stored = await self._read(self._scanners[chain], chain, token)
        return KnownReport(
            report=stored,
            is_recent=stored is not None and self._is_recent(stored),
            is_running=(chain, token, False) in self._runs,
        )

    async def refresh(self, chain: str, token: Address, *, redecompile: bool = False) -> Report:
        """Analyse the token now and wait until the settled report has been stored.

        Raises TokenRefusedError, UpstreamError.
        """
        run = self._join(chain, self._scanners[chain], token, redecompile=redecompile)
        await asyncio.shield(run.task)
        return run.outcome.result()

    def cancel(self, chain: str, token: Address, *, redecompile: bool) -> None:
        """Cancel the run of a token, and with it all callers that wait for it."""
        run = self._runs.get((chain, token, redecompile))
        if run is not None:
            run.task.cancel()

    @property
    def unfinished(self) -> int:
        """Number of analyses that wait or run."""
        return len(self._runs)

    async def aclose(self) -> None:
        """Cancel every run and wait for its end."""
        tasks = [run.task for run in self._runs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, scanner: Scanner, chain: str, token: Address) -> Report | None:
        """Return the last report, once pending writes are finished."""
        runs = (self._runs.get((chain, token, redecompile)) for redecompile in (False, True))
        writing = [run.task for run in runs if run is not None and run.outcome.done()]
        if writing:
            await asyncio.wait(writing, timeout=self._settings.wait_s)
        return await self._storage.read(scanner.chain_id, token)

    def _is_recent(self, report: Report) -> bool:
        return is_recent(report, self._settings, now_s=self._now_s())

    def _is_servable(self, report: Report) -> bool:
        return is_servable(report, self._settings, now_s=self._now_s())

    def _result(self, outcome: asyncio.Future[Report], stored: Report | None) -> Report:
        try:
            return outcome.result()
        except UpstreamError:
            if stored is not None and self._is_servable(stored):
                return stored
            raise

    def _join(self, chain: str, scanner: Scanner, token: Address, *, redecompile: bool) -> _Run:
        # A run that may use stored static results does not serve one that must recompute them.
        key = (chain, token, redecompile)
        run = self._runs.get(key)
        if run is not None:
            return run
        if len(self._runs) >= _MOST_RUNS:
            raise UpstreamError(service="analysis", reason="too many analyses are waiting")
        run = self._runs[key] = _Run(
            lambda run: self._run(chain, scanner, token, run, redecompile=redecompile)
        )
        run.task.add_done_callback(lambda _: self._leave(key, run))
        return run

    def _leave(self, key: tuple[str, Address, bool], run: _Run) -> None:
        del self._runs[key]
        if run.outcome.cancel():
            return  # the run was cancelled before it had an outcome
        error = run.outcome.exception()
        if error is None and not run.task.cancelled():
            error = run.task.exception()
        if error is None:
            return
        if isinstance(error, AssayError):
            _LOG.info("analysis ended without a report", chain=key[0], token=key[1], why=str(error))
        else:
            _LOG.error("analysis failed", chain=key[0], token=key[1], exc_info=error)

    async def _run(
        self, chain: str, scanner: Scanner, token: Address, run: _Run, *, redecompile: bool
    ) -> None:
        """Run the analysis, set the outcome and store it. An unsettled report is stored only if the
        run ends with an error."""
        async with RunSlot(self._slots[chain]).hold():
            started_s = time.perf_counter()
            outcome: AnalysisOutcome = "settled"
            try:
                report = await self._scan(scanner, token, run, redecompile=redecompile)
            except Exception as error:  # noqa: BLE001 - passed on to every waiting caller
                run.outcome.set_exception(error)
                outcome = _outcome_of(error)
                if isinstance(error, TokenRefusedError):
                    await self._refuse(scanner.chain_id, token, error)
                elif run.latest is not None:
                    await self._keep(run.latest)
            else:
                run.outcome.set_result(report)
                await self._keep(report)
            seconds = time.perf_counter() - started_s
            self._observe(AnalysisEnd(chain=chain, outcome=outcome, seconds=seconds))

    async def _scan(
        self, scanner: Scanner, token: Address, run: _Run, *, redecompile: bool
    ) -> Report:
        limit_s = self._settings.longest_run_s
        try:
            async with asyncio.timeout(limit_s):
                async for report in scanner.scan(token, redecompile=redecompile):
                    run.latest = report
                    self._show(report)
        except TimeoutError as error:
            raise UpstreamError(
                service="analysis", reason=f"not finished in {limit_s:g} s"
            ) from error
        assert run.latest is not None  # noqa: S101 - a scan that does not raise reports
        return run.latest

    async def _keep(self, report: Report) -> None:
        token = report.token
        with _kept_going(token.chain_id, token.address):
            await self._storage.write(report)

    async def _refuse(self, chain_id: int, token: Address, error: TokenRefusedError) -> None:
        refusal = RefusalRow(code=error.code, reason=error.reason, refused_at_s=int(self._now_s()))
        with _kept_going(chain_id, token):
            await self._storage.refuse(chain_id, token, refusal)


def _outcome_of(error: Exception) -> AnalysisOutcome:
    match error:
        case TokenRefusedError():
            return "refused"
        case UpstreamError():
            return "node_failed"
        case _:
            return "failed"


@contextmanager
def _kept_going(chain_id: int, token: Address) -> Iterator[None]:
    """Log a failed write (a full disk): it costs the next caller a new run, not this one its
    report."""
    try:
        yield
    except StoreError as error:
        _LOG.error("outcome not stored", chain_id=chain_id, token=token, why=str(error))
