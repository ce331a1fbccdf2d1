"""The back-fills of one history: which ranges, begun when, and how far each has come."""

import asyncio
from collections.abc import Callable, Mapping
from contextlib import suppress
from random import Random

import msgspec

from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import AssayError
from indexer.history.backfill import backfill
from tests.harness.fault_simulation.expected_rows import Fill
from tests.harness.fault_simulation.model_chain import ModelChain
from tests.harness.fault_simulation.simulated_process import SimulatedProcess
from tests.harness.fault_simulation.store_faults import ProcessEndedError

_MOST = 3


class FillRange(msgspec.Struct, frozen=True, kw_only=True):
    """Range of a back-fill, ends included."""

    first: int
    last: int

    @property
    def stream(self) -> str:
        """The name of its checkpoint."""
        return f"backfill:{self.first}:{self.last}"

    def up_to(self, number: int) -> Fill:
        """Return the part stored when its checkpoint is at a block."""
        return Fill(stream=self.stream, first=self.first, last=min(number, self.last))


class FillRuns:
    """One at a time; each may be stopped, and gone on with."""

    def __init__(
        self,
        chain: Chain,
        settings: IndexerSettings,
        model: ModelChain,
        dice: Random,
        tell: Callable[[str], None],
    ) -> None:
        """`tell`: hears of each that is begun, and of each that fails."""
        self._chain = chain
        self._start = chain.start_block or 0
        self._settings = settings
        self._model = model
        self._dice = dice
        self._tell = tell
        self._under_way: asyncio.Task[None] | None = None
        self.ranges: list[FillRange] = []

    @property
    def is_under_way(self) -> bool:
        """True if a back-fill runs."""
        return self._under_way is not None

    def done(self) -> tuple[Fill, ...]:
        """Return all of them, as they are once each has ended."""
        return tuple(one.up_to(one.last) for one in self.ranges)

    def begun(self, checkpoints: Mapping[str, tuple[int, str | None]]) -> tuple[Fill, ...]:
        """Return those that have stored anything, by their checkpoints."""
        known = ((one, checkpoints.get(one.stream)) for one in self.ranges)
        return tuple(one.up_to(at[0]) for one, at in known if at is not None)

    def draw(self) -> FillRange | None:
        """Draw a range to begin or continue, which may overlap others and followed blocks.

        None: there is no room below the first block followed.
        """
        if self._start == 0:
            return None
        if len(self.ranges) < _MOST and self._dice.random() < 0.6:
            last = self._start + self._dice.choice((-1, self._dice.randrange(-6, 25)))
            self._add(min(last, self._model.head.number))
        return self._dice.choice(self.ranges) if self.ranges else None

    def draw_to_head(self) -> FillRange | None:
        """One that stores all that following holds. None: there is no room below the first block
        followed, or there have been enough."""
        if self._start == 0 or len(self.ranges) > _MOST:
            return None
        return self._add(self._model.head.number)

    def _add(self, last: int) -> FillRange:
        first = self._dice.randrange(self._start)
        one = FillRange(first=first, last=max(first, last))
        if one not in self.ranges:
            self.ranges.append(one)
        return one

    def begin(self, process: SimulatedProcess) -> None:
        """Begin a back-fill in parallel with other work of the process."""
        one = self.draw()
        if one is not None and not self.is_under_way:
            self._under_way = asyncio.create_task(self._run_beside(process, one))

    async def stop(self) -> None:
        """Stop a running back-fill anywhere."""
        if self._under_way is not None:
            self._under_way.cancel()
            await asyncio.gather(self._under_way, return_exceptions=True)

    async def run(self, process: SimulatedProcess, one: FillRange) -> None:
        """Fill as far as possible. Faults of nodes, disk and store are noted; ProcessEndedError is
        raised."""
        self._tell(f"fill {one.first} to {one.last}")
        try:
            await backfill(
                self._chain,
                process.client,
                process.store,
                self._settings,
                from_block=one.first,
                to_block=one.last,
            )
        except AssayError as error:
            self._tell(f"fill failed: {error}")

    async def _run_beside(self, process: SimulatedProcess, one: FillRange) -> None:
        try:
            with suppress(ProcessEndedError):
                await self.run(process, one)
        finally:
            self._under_way = None
