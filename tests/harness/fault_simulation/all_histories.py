"""Histories of all tokens, fetched to their ends, postponed ones included."""

import itertools

from core.rpc.backoff import SystemClock
from indexer.transfer_history import Histories
from tests.harness.fault_simulation.simulated_process import SimulatedProcess

_MOST_TURNS = 2_000
_LONG_S = 1e6


class LateClock(SystemClock):
    """Clock so late that everything postponed is due."""

    time_s = 1e10

    def now_s(self) -> float:
        """Return the seconds that were set."""
        return self.time_s


async def take_all_turns(process: SimulatedProcess) -> None:
    """Take turns until none is due."""
    clock = LateClock()
    histories = Histories(
        process.chain, process.client, process.store, process.settings, now_s=clock.now_s
    )
    for turn in itertools.count():
        assert turn < _MOST_TURNS, "histories never end"
        clock.time_s += _LONG_S
        if not await histories.fetch_next():
            return
