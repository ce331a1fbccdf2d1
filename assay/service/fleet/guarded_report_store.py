"""Storage of reports by the one process that analyses the token."""

import asyncio
from collections.abc import Awaitable, Callable

from analysis.pipeline.analyser import ReportStorage
from assay.service.fleet.leased_runs import LeasedRuns, lost_error
from core.errors import StoreError
from core.evm.primitives import Address
from core.report.report import Report
from core.report.rows import RefusalRow
from sql.engine.postgres.write_guard import guard_writes
from sql.fleet.analysis_runs import AnalysisRuns, LostRunError

_WRITE_WITHIN_S = 30.0
"""Time for retries of a write while the database does not answer."""

_AGAIN_S = 0.5


class GuardedReportStore:
    """A `ReportStorage` that rejects writes once another process has taken the token over.

    Retries writes for some seconds while the database is away.
    """

    def __init__(
        self, report_store: ReportStorage, runs: AnalysisRuns, leased_runs: LeasedRuns
    ) -> None:
        self._report_store = report_store
        self._runs = runs
        self._leased_runs = leased_runs

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none."""
        return await self._report_store.read(chain_id, token)

    async def write(self, report: Report) -> None:
        """Replace the token's report. Raises StoreError."""
        token = report.token
        await self._guarded(token.chain_id, token.address, lambda: self._report_store.write(report))

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        """Store that the token was not admitted. Raises StoreError."""
        await self._guarded(
            chain_id, token, lambda: self._report_store.refuse(chain_id, token, refusal)
        )

    async def _guarded(
        self, chain_id: int, token: Address, write: Callable[[], Awaitable[None]]
    ) -> None:
        leased = self._leased_runs.find(chain_id, token)
        if leased is None or leased.lost.is_set():
            raise lost_error(self._runs)
        deadline_s = asyncio.get_running_loop().time() + _WRITE_WITHIN_S
        with guard_writes(self._runs.guard_of(leased.run)):
            while True:
                try:
                    await write()
                except LostRunError:
                    leased.lost.set()
                    raise
                except StoreError:
                    # After an unconfirmed commit the same report is written twice: harmless.
                    if leased.lost.is_set() or asyncio.get_running_loop().time() > deadline_s:
                        raise
                    await asyncio.sleep(_AGAIN_S)
                else:
                    leased.is_stored = True
                    return
