"""Simulation builder: collects the calls of simulated blocks, and returns a handle for each.

A writer of a call keeps its handle, which reads the result.
"""

from collections.abc import Iterable

import msgspec

from analysis.simulation.simulate_v1 import CallHandle, SimBlock, SimCall


class CallWriter:
    """Appends calls to one block."""

    def __init__(
        self, block: int, calls: list[SimCall], *, prefix: str = "", gas: int | None = None
    ) -> None:
        """`block`: index of the block. `calls`: its calls, to which new ones are appended. `prefix`
        precedes all labels. `gas`: limit of every transaction; None: that of each call."""
        self._block = block
        self._calls = calls
        self._prefix = prefix
        self._gas = gas

    def add(self, call: SimCall) -> CallHandle:
        """Append a call; return its handle."""
        gas = call.gas if self._gas is None or call.is_read else self._gas
        self._calls.append(msgspec.structs.replace(call, label=self._prefix + call.label, gas=gas))
        return CallHandle(self._block, len(self._calls) - 1)

    def named(self, prefix: str, *, gas: int | None = None) -> "CallWriter":
        """Return a writer to the same block, with `prefix` before the labels. `gas`: limit of every
        transaction, but not of reads; None: as here."""
        return CallWriter(
            self._block, self._calls, prefix=self._prefix + prefix, gas=gas or self._gas
        )


class SimulationBuilder:
    """The blocks of a simulation that is being written."""

    def __init__(self, times: Iterable[tuple[int, int]]) -> None:
        """`times`: number and time of each block."""
        self._times = tuple(times)
        self._calls: list[list[SimCall]] = [[] for _ in self._times]

    def __len__(self) -> int:
        return len(self._times)

    def __getitem__(self, block: int) -> CallWriter:
        """Return the writer of the block with this index."""
        return CallWriter(block, self._calls[block])

    def blocks(self) -> tuple[SimBlock, ...]:
        """Return the blocks with the calls that were added."""
        return tuple(
            SimBlock(number=number, time_s=time_s, calls=tuple(calls))
            for (number, time_s), calls in zip(self._times, self._calls, strict=True)
        )
