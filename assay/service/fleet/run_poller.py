"""Waiting for runs of other processes."""

from collections.abc import Callable, Sequence

from assay.service.fleet.row_poller import RowPoller
from core.evm.primitives import Address
from sql.fleet.analysis_runs import AnalysisRuns, RunState

Until = Callable[[RunState | None], bool]
"""Whether what is known of a token's runs ends a wait. None: nothing is known."""

_Token = tuple[int, Address]


class RunPoller(RowPoller[_Token, RunState]):
    """Who waits for runs of tokens. For one event loop."""

    def __init__(self, runs: AnalysisRuns) -> None:
        def read(tokens: Sequence[_Token]) -> dict[_Token, RunState]:
            return {(one.chain_id, one.address): one for one in runs.states_of(tokens)}

        super().__init__(read, what="runs of other processes")

    async def wait(self, chain_id: int, address: Address, until: Until) -> RunState | None:
        """Wait until what is known of a token's runs is as it should be, however long it takes."""
        return await self.until((chain_id, address), until)
