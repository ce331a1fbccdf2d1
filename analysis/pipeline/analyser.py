"""One analysis a token at a time, shared by all who wait for it.

A run goes on when its callers have left, so the next request finds the answer that this one was too
early for. Those who wait for it have it before it is written.
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping
from contextlib import contextmanager
from typing import Protocol

import structlog

from analysis.scenarios import transfer
from config.errors import AssayError, StoreError, TokenRefusedError, UpstreamError
from config.primitives import Address
from config.settings import AnalysisSettings
from sql.rows import RefusalRow, Report

_LOG = structlog.get_logger(__name__)

_MOST_RUNS = 1_000
"""Runs waiting or under way; beyond it a new token is turned away rather than kept hanging."""


class ReportStorage(Protocol):
    """Where reports are kept between runs."""

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """The last report. None: there is none."""
        ...

    async def write(self, report: Report) -> None:
        """Replace the token's report."""
        ...

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        """Remember that the gate said no, so that nobody tries again at once."""
        ...


class Scanner(Protocol):
    """Analyses tokens of one chain."""

    chain_id: int

    def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """Reports of one analysis, each fuller than the one before; the last is settled.

        Raises TokenRefusedError, UpstreamError.
        """
        ...


class _Run:
    """One analysis under way."""

    def __init__(self, play: Callable[["_Run"], Coroutine[None, None, None]]) -> None:
        self.latest: Report | None = None
        """The fullest report so far, while there is no outcome."""
        self.outcome: asyncio.Future[Report] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(play(self))
        """Ends when the outcome has been written."""


class Analyser:
    """Reports for whoever asks, by chain slug."""

    def __init__(
        self,
        scanners: Mapping[str, Scanner],
        shelf: ReportStorage,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
    ) -> None:
        self._scanners = scanners
        self._shelf = shelf
        self._settings = settings
        self._now_s = now_s
        self._runs: dict[tuple[str, Address, bool], _Run] = {}
        # One chain whose node hangs must not keep the others waiting.
        self._slots = {slug: asyncio.Semaphore(settings.concurrency) for slug in scanners}

    async def report(
        self, chain: str, token: Address, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        """The token's report: a recent one, or a new one that the caller waits `wait_s` for.

        What has not settled by then comes as pending or None. Raises TokenRefusedError for what is
        not a token, UpstreamError when nothing is known and the chain did not tell in time.
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

    async def refresh(self, chain: str, token: Address) -> Report:
        """Judge the token now and wait until the settled report has been written.

        Raises TokenRefusedError, UpstreamError.
        """
        run = self._join(chain, self._scanners[chain], token, redecompile=False)
        await asyncio.shield(run.task)
        return run.outcome.result()

    async def aclose(self) -> None:
        """Stop every run."""
        tasks = [run.task for run in self._runs.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _read(self, scanner: Scanner, chain: str, token: Address) -> Report | None:
        """The last report. What is being written at the moment is waited for."""
        runs = (self._runs.get((chain, token, redecompile)) for redecompile in (False, True))
        writing = [run.task for run in runs if run is not None and run.outcome.done()]
        if writing:
            await asyncio.wait(writing, timeout=self._settings.wait_s)
        return await self._shelf.read(scanner.chain_id, token)

    def _is_recent(self, report: Report) -> bool:
        token, now_s = report.token, self._now_s()
        checked_at_s = token.transfer_checked_at_s
        is_recheck_due = (
            token.transfer_success is None
            and checked_at_s is not None
            and transfer.is_due(checked_at_s, now_s=now_s)
        )
        is_young = now_s - token.scanned_at_s < self._settings.refresh_after_s
        return token.is_settled and is_young and not is_recheck_due

    def _is_servable(self, report: Report) -> bool:
        return self._now_s() - report.token.scanned_at_s < self._settings.serve_stale_s

    def _result(self, outcome: asyncio.Future[Report], stored: Report | None) -> Report:
        try:
            return outcome.result()
        except UpstreamError:
            if stored is not None and self._is_servable(stored):
                return stored
            raise

    def _join(self, chain: str, scanner: Scanner, token: Address, *, redecompile: bool) -> _Run:
        # A run that looks codes up is none that works them out: who asks for that joins no other.
        key = (chain, token, redecompile)
        run = self._runs.get(key)
        if run is not None:
            return run
        if len(self._runs) >= _MOST_RUNS:
            raise UpstreamError(service="analysis", reason="too many analyses are waiting")
        run = self._runs[key] = _Run(
            lambda run: self._play(chain, scanner, token, run, redecompile=redecompile)
        )
        run.task.add_done_callback(lambda _: self._leave(key, run))
        return run

    def _leave(self, key: tuple[str, Address, bool], run: _Run) -> None:
        del self._runs[key]
        if run.outcome.cancel():
            return  # broken off before there was one
        error = run.outcome.exception()
        if error is None and not run.task.cancelled():
            error = run.task.exception()
        if error is None:
            return
        if isinstance(error, AssayError):
            _LOG.info("analysis ended without a report", chain=key[0], token=key[1], why=str(error))
        else:
            _LOG.error("analysis failed", chain=key[0], token=key[1], exc_info=error)

    async def _play(
        self, chain: str, scanner: Scanner, token: Address, run: _Run, *, redecompile: bool
    ) -> None:
        """Bring the run to its outcome, and write that. A report that did not settle is written
        only where nothing better will come."""
        async with self._slots[chain]:
            try:
                report = await self._scan(scanner, token, run, redecompile=redecompile)
            except Exception as error:  # noqa: BLE001 - told to all who wait
                run.outcome.set_exception(error)
                if isinstance(error, TokenRefusedError):
                    await self._refuse(scanner.chain_id, token, error)
                elif run.latest is not None:
                    await self._keep(run.latest)
            else:
                run.outcome.set_result(report)
                await self._keep(report)

    async def _scan(
        self, scanner: Scanner, token: Address, run: _Run, *, redecompile: bool
    ) -> Report:
        limit_s = self._settings.longest_run_s
        try:
            async with asyncio.timeout(limit_s):
                async for report in scanner.scan(token, redecompile=redecompile):
                    run.latest = report
        except TimeoutError as error:
            raise UpstreamError(
                service="analysis", reason=f"not finished in {limit_s:g} s"
            ) from error
        assert run.latest is not None  # noqa: S101 - a scan that does not raise reports
        return run.latest

    async def _keep(self, report: Report) -> None:
        token = report.token
        with _kept_going(token.chain_id, token.address):
            await self._shelf.write(report)

    async def _refuse(self, chain_id: int, token: Address, error: TokenRefusedError) -> None:
        refusal = RefusalRow(code=error.code, reason=error.reason, refused_at_s=int(self._now_s()))
        with _kept_going(chain_id, token):
            await self._shelf.refuse(chain_id, token, refusal)


@contextmanager
def _kept_going(chain_id: int, token: Address) -> Iterator[None]:
    """A store that cannot write (a full disk) costs the next caller a new run, not this one its
    answer."""
    try:
        yield
    except StoreError as error:
        _LOG.error("outcome not stored", chain_id=chain_id, token=token, why=str(error))
