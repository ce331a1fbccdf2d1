"""Storage of reports by the process that judges the token, and by no other."""

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
"""For how long a write is tried again while the database does not answer."""

_AGAIN_S = 0.5


class GuardedReportStore:
    """A `ReportStorage` that writes nothing once another process has taken a token over, and that
    outlasts some seconds without the database."""

    def __init__(self, shelf: ReportStorage, runs: AnalysisRuns, held: LeasedRuns) -> None:
        self._shelf = shelf
        self._runs = runs
        self._held = held

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none."""
        return await self._shelf.read(chain_id, token)

    async def write(self, report: Report) -> None:
        """Replace the token's report. Raises StoreError."""
        token = report.token
        await self._guarded(token.chain_id, token.address, lambda: self._shelf.write(report))

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        """Store that the token was not admitted. Raises StoreError."""
        await self._guarded(chain_id, token, lambda: self._shelf.refuse(chain_id, token, refusal))

    async def _guarded(
        self, chain_id: int, token: Address, write: Callable[[], Awaitable[None]]
    ) -> None:
        held = self._held.find(chain_id, token)
        if held is None or held.lost.is_set():
            raise lost_error(self._runs)
        deadline_s = asyncio.get_running_loop().time() + _WRITE_WITHIN_S
        with guard_writes(self._runs.guard_of(held.run)):
            while True:
                try:
                    await write()
                except LostRunError:
                    held.lost.set()
                    raise
                except StoreError:
                    # Written twice, where a commit was not confirmed, it is the same report.
                    if held.lost.is_set() or asyncio.get_running_loop().time() > deadline_s:
                        raise
                    await asyncio.sleep(_AGAIN_S)
                else:
                    held.is_stored = True
                    return
