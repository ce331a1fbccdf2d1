"""Steps of a history of faults, the circumstances drawn for it, and its end."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path
from random import Random
from unittest import mock

import msgspec

from assay.service.record_report import NextRefresh, record_report
from config.facts.chain import Chain
from config.settings import IndexerSettings
from core.errors import StoreError
from indexer.head.second_reads import unwound_blocks
from indexer.history import backfill as backfill_module
from indexer.history.bulk_writer import LEAST_LOGS
from tests.harness.bare_reports import bare_report
from tests.harness.fault_simulation.expected_rows import Differences, Reading, reading_between
from tests.harness.fault_simulation.faulty_wire import FaultyWire
from tests.harness.fault_simulation.fill_runs import FillRange, FillRuns
from tests.harness.fault_simulation.model_chain import ModelChain, World, world_of
from tests.harness.fault_simulation.simulated_process import (
    SimulatedProcess,
    close_open_batch,
    compact_with,
    take_all_turns,
)
from tests.harness.fault_simulation.store_faults import (
    ProcessEndedError,
    StoreFaults,
    arm_by_chance,
    faults_of_compaction,
    faulty_databases,
)
from tests.harness.fault_simulation.stored_rows import holder_differences, read_store
from tests.harness.replay.block_spool import BlockSpool
from tests.harness.replay.log_formats import LogFormatName

_WORLDS = 4
_FORMATS: tuple[LogFormatName, ...] = ("geth", "reth", "besu")
_LAKE_SHARE = 0.04
_CUT_SHARE = 0.3
_FEW_LOGS = 3


class Circumstances(msgspec.Struct, frozen=True, kw_only=True):
    """Constants of one history."""

    world: World
    chain: Chain
    start: int
    """First block followed; back-fills need room below it."""
    log_format: LogFormatName
    settings: IndexerSettings
    has_lake: bool
    least_logs: int
    """Smallest number of logs of a back-fill chunk that goes straight to the lake."""
    fault_share: float
    """Share of faulty messages of a spoiled node, 0 to 1."""
    changes_between: float
    """Before how many answers the chain changes, 0 to 1."""
    slow_share: float
    """Share of delayed answers, 0 to 1."""
    nodes: int


def draw_circumstances(seed: int, dice: Random) -> Circumstances:
    """Those of one history."""
    world = world_of(seed % _WORLDS)
    # Separate dice, so that the histories of earlier seeds stay as they were.
    late_blocks = Random(f"late logs {seed}").choice((1, 2, 4))  # noqa: S311 - a test's dice
    has_lake = dice.random() < _LAKE_SHARE
    start = 0 if dice.random() < 0.4 and not has_lake else dice.randrange(3, 40)
    return Circumstances(
        world=world,
        chain=msgspec.structs.replace(
            world.chain, finality_blocks=dice.randrange(2, 14), start_block=start
        ),
        start=start,
        log_format=dice.choice(_FORMATS),
        settings=IndexerSettings(
            initial_log_range=dice.choice((2, 8, 40)),
            max_log_range=dice.choice((40, 64)),
            commit_rows=dice.choice((1, 10, 200)),
            late_logs_s=late_blocks * world.chain.block_time_s,
        ),
        has_lake=has_lake,
        least_logs=dice.choice((*(_FEW_LOGS,) * 3, LEAST_LOGS)) if has_lake else LEAST_LOGS,
        fault_share=dice.choice((0.0, 0.05, 0.2)),
        changes_between=dice.choice((0.0, 0.0, 0.03)),
        slow_share=dice.choice((0.0, 0.1, 0.5)),
        nodes=dice.choice((1, 1, 2, 3)),
    )


_LONGEST_CHAIN = 170
_SPOOL_BYTES = 1 << 19
_STEPS = (5, 19)
_STEPS_OF_LAKES = (4, 12)
_MORE_OR_LESS = (0.1, 1.0, 1.0, 5.0)
_NEVER = NextRefresh(worth=0, due_s=2**40)
_SUPPLY = 10**70
"""More than there ever is: only the first block of a token makes its past whole."""


class HistorySteps:
    """The chain, its nodes, the disk and the process of one history."""

    def __init__(self, seed: int, dice: Random, path: Path) -> None:
        self.notices: list[str] = []
        """Events so far."""
        self._dice = dice
        self._path = path
        self._spool = BlockSpool(path.parent, capacity=_SPOOL_BYTES)
        drawn = draw_circumstances(seed, dice)
        self.has_lake = drawn.has_lake
        """True if rows go on to a lake, which costs as much as twenty histories without."""
        self._start = drawn.start
        self._chain = drawn.chain
        self._world = drawn.world
        self._model = ModelChain(self._world, self._chain, dice, drawn.log_format, self._spool)
        chance = Random(f"cut logs {seed}")  # noqa: S311 - a test's dice
        self._model.cuts_logs = chance.random() < _CUT_SHARE
        self._settings = drawn.settings
        self._least_logs = drawn.least_logs
        self._fault_share = drawn.fault_share
        self._changes_between = drawn.changes_between
        self._wires = [
            FaultyWire(
                self._model,
                dice,
                name=f"node:{at}",
                between=self._maybe_change,
                slow_share=drawn.slow_share,
            )
            for at in range(drawn.nodes)
        ]
        self._faults = StoreFaults()
        self._process: SimulatedProcess | None = None
        self._fills = FillRuns(self._chain, self._settings, self._model, dice, self._tell)
        self._reported: set[str] = set()
        self._followed_to = 0
        self._is_away = False
        """The nodes are on a branch that must be refused."""
        kinds: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (20, self._mine),
            (12, self._fork),
            (6, self._mine_many),
            (6, self._spoil_nodes),
            (5, self._heal_nodes),
            (14, self._arm),
            (4, self._restart),
            (4, self._report),
            (20 if self.has_lake else 6, self._start_fill),
            (25 if self.has_lake else 3, self._fill_alone),
            (4, self._end_in_reorg),
            (0 if self.has_lake else 6, self._close_batch),
            (2, self._leave_for_good),
            (8 if self.has_lake else 0, self._compact),
        ]
        # Each history has much of some steps and little of others: so rare ones meet.
        self._kinds = [(weight * dice.choice(_MORE_OR_LESS), kind) for weight, kind in kinds]

    def close(self) -> None:
        """Give up the chain's blocks."""
        self._spool.close()

    async def live(self) -> list[str]:
        """Live through it all. Returns how the store differs from the chain in the end."""
        # Often the block below the first one followed has just become final.
        window = self._chain.finality_blocks
        self._model.grow(self._start + self._dice.choice((window - 1, self._dice.randrange(1, 12))))
        with (
            faulty_databases(self._faults),
            mock.patch.object(backfill_module, "LEAST_LOGS", self._least_logs),
        ):
            try:
                for _ in range(self._dice.randrange(*_STEPS_OF_LAKES if self.has_lake else _STEPS)):
                    await self._step()
                await self._bring_level()
                return self._differences()
            finally:
                if self._process is not None:
                    await self._process.kill()

    async def _step(self) -> None:
        if self._process is None:
            await self._begin()
        weights = [weight for weight, _ in self._kinds]
        (kind,) = self._dice.choices([one for _, one in self._kinds], weights)
        await kind()
        await asyncio.sleep(self._dice.choice((0.0, 0.4, 1.0, 3.0)))
        await self._bury()

    def _tell(self, what: str) -> None:
        self.notices.append(what)

    # --- the process --------------------------------------------------------------------------

    async def _begin(self) -> None:
        while self._process is None:
            self._process = self._opened_process()

    def _opened_process(self, *, is_following: bool = True) -> SimulatedProcess | None:
        """A process on the store. None: it could not begin."""
        try:
            return SimulatedProcess(
                self._chain,
                self._wires,
                self._path,
                self._settings,
                self._faults,
                max_batch=self._dice.choice((100, 100, 5)),
                is_following=is_following,
            )
        except (ProcessEndedError, StoreError):
            self._faults.is_dead = False
            self._faults.abandon()
            return None

    async def _bury(self) -> None:
        """See to a process that has ended."""
        process = self._process
        if process is None:
            return
        self._followed_to = max(self._followed_to, process.highest_tip)
        if process.has_ended:
            self._tell("ended")
            self._process = None
            await self._fills.stop()
            await process.stop()
            self._check_between()

    async def _restart(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        await self._fills.stop()
        if self._dice.random() < 0.5:
            self._tell("stop")
            await process.stop()
        else:
            self._tell("kill")
            await process.kill()
        self._check_between()

    def _check_between(self) -> None:
        """Assert that an ended process has left whole blocks and whole chunks of back-fills."""
        if self.has_lake and self._least_logs < LEAST_LOGS:
            return  # a piece is several transactions
        if self._model.cut:
            return  # the second read of these blocks may not have come yet
        self._faults.is_dead = False
        with faulty_databases(StoreFaults()):  # none of them: the reader is another process
            stored = read_store(self._path)
            reading = reading_between(
                stored,
                self._model,
                start=self._start,
                fills=self._fills.begun(stored.checkpoints),
                followed_to=self._followed_to,
                reported=frozenset(self._reported),
            )
            if reading is not None:
                self._followed_to = reading.followed_to
                found = Differences(reading, stored).compare()
                assert not found, f"between two processes: {found}"

    async def _arm(self) -> None:
        self._tell(arm_by_chance(self._faults, self._dice))

    # --- the chain ----------------------------------------------------------------------------

    async def _mine(self) -> None:
        blocks = self._dice.randint(1, 4)
        self._tell(f"mine {blocks}")
        self._model.grow(blocks)

    async def _mine_many(self) -> None:
        if self._model.head.number < _LONGEST_CHAIN:
            blocks = self._dice.randint(30, 60)
            self._tell(f"mine {blocks}")
            self._model.grow(blocks, busy=0.15)

    async def _fork(self) -> None:
        self._reorganise()

    def _reorganise(self) -> None:
        window = self._chain.finality_blocks
        depth = window if self._dice.random() < 0.3 else self._dice.randint(1, window)
        lowest = self._model.highest - window + 1
        kept = max(1, lowest, len(self._model.canonical) - depth)
        blocks = self._dice.randint(1, window + 2)
        self._tell(f"fork at {kept}, {blocks} blocks")
        self._model.set_canonical(self._model.fork(kept, blocks))

    def _maybe_change(self) -> None:
        """The chain changes between two answers; the process may end between two messages."""
        self._faults.tick()
        if not self._is_away and self._dice.random() < self._changes_between:
            if self._dice.random() < 0.5:
                self._reorganise()
            else:
                self._model.grow(1)

    async def _leave_for_good(self) -> None:
        """All nodes leave our chain below its final block, and come back."""
        is_short = self._model.head.number < self._start + 40
        if self._process is None or self._fills.ranges or is_short:
            return
        await self._heal_nodes()
        self._faults.disarm()
        if not await self._process.is_level_with(self._model):
            return
        ours, self._is_away = self._model.canonical, True
        await self._fills.stop()
        await asyncio.sleep(30)  # until all that is final is finalized, and pasts are fetched
        before = read_store(self._path)
        below = before.blocks[0][0]
        kept = self._dice.randint(self._start + 1, max(self._start + 1, below - 1))
        blocks = len(ours) - kept + self._dice.choice((-3, 0, 2, 50))
        self._model.set_canonical(self._model.fork(kept, max(blocks, 1)), counts=False)
        self._tell(f"leave at {kept}, {blocks} blocks")
        await asyncio.sleep(90)
        error = self._process.status.last_error or ""
        assert "was final" in error or "does not follow" in error, f"it goes on: {error!r}"
        assert read_store(self._path) == before, "what a halt must leave as it was has changed"
        self._model.set_canonical(ours)
        self._is_away = False
        self._tell("come back")

    # --- the nodes ----------------------------------------------------------------------------

    async def _spoil_nodes(self) -> None:
        self._tell("spoil nodes")
        for wire in self._wires:
            wire.spoil(self._fault_share)

    async def _heal_nodes(self) -> None:
        self._tell("heal nodes")
        for wire in self._wires:
            wire.heal()

    # --- work in parallel with following ---------------------------------------------------------

    async def _report(self) -> None:
        process = self._process
        if process is None:
            return
        token = self._dice.choice(self._world.people.tokens).address
        self._tell(f"report on {token[:6]}")
        self._reported.add(token)
        try:
            report = bare_report(token, chain_id=self._chain.id, supply_raw=_SUPPLY)
            record_report(process.store, report, _NEVER)
        except (StoreError, ProcessEndedError):
            self._tell("report failed")

    async def _start_fill(self) -> None:
        """Begin a back-fill, or continue one, in parallel with following."""
        if self._process is not None:
            self._fills.begin(self._process)

    async def _fill_alone(self) -> None:
        """Back-fill in a separate process, without a follower."""
        await self._restart()
        if self._dice.random() < 0.5:
            await self._mine_many()
        reaches_head = self._dice.random() < 0.5
        fill = self._fills.draw_to_head() if reaches_head else self._fills.draw()
        if fill is not None:
            await self._run_alone(fill)

    async def _run_alone(self, fill: FillRange) -> None:
        process = self._opened_process(is_following=False)
        if process is None:
            return
        with suppress(ProcessEndedError):
            await self._fills.run(process, fill)
        await process.stop()
        self._check_between()

    async def _end_in_reorg(self) -> None:
        """End the process in a reorg.

        It has unwound a back-fill's rows, too, and ends before it stores the next block; the
        back-fill goes on before following does.
        """
        process, fill = self._process, self._fills.draw_to_head()
        if process is None or fill is None:
            return
        await self._fills.stop()
        with suppress(ProcessEndedError):
            await self._fills.run(process, fill)
        self._reorganise()
        self._faults.arm("end before", 1, about="into checkpoint")
        self._tell("end in reorg")
        await asyncio.sleep(3)
        await self._bury()
        if self._process is None:
            self._model.grow(self._chain.finality_blocks + self._dice.randrange(4))
            await self._run_alone(fill)

    async def _close_batch(self) -> None:
        """Close the batch as a compaction does first: later final rows wait in another batch."""
        close_open_batch(self._path, self._chain.id)
        self._tell("close batch")

    async def _compact(self) -> None:
        self._tell(compact_with(faults_of_compaction(self._dice), self._path, self._chain.id))

    # --- the end ------------------------------------------------------------------------------

    async def _bring_level(self) -> None:
        """No more faults: everything that is begun is finished."""
        self._tell("bring level")
        self._faults.disarm()
        self._changes_between = 0.0
        await self._heal_nodes()
        await self._bury()
        if self._dice.random() < 0.5:
            await self._restart()
        needed = max(self._start, *(fill.last for fill in self._fills.ranges), 0) + 1
        self._model.grow(max(1, needed - self._model.head.number))
        await self._begin()
        process = self._process
        assert process is not None
        assert await process.is_level_with(self._model), f"it does not come level: {process.status}"
        await self._fills.stop()
        # A back-fill stores what is final, or followed; pasts are fetched of what is final.
        self._model.grow(unwound_blocks(self._chain, self._settings) + 2, busy=0.0)
        await process.is_level_with(self._model)
        for fill in self._fills.ranges:
            await self._fills.run(process, fill)
            if self.has_lake and self._dice.random() < 0.5:
                self._model.grow(1, busy=0.0)
                await process.is_level_with(self._model)
                compact_with(StoreFaults(), self._path, self._chain.id)
        self._model.grow(1, busy=0.0)
        await process.is_level_with(self._model)
        self._followed_to = max(self._followed_to, process.highest_tip)
        await take_all_turns(process)
        await asyncio.sleep(3)
        if process.has_ended:
            await process.stop()
        if self.has_lake:
            # What back-fills put straight into the lake is in the balances after a compaction.
            found = [] if self._least_logs < LEAST_LOGS else self._differences()
            assert not found, f"before the last compaction: {found}"
            assert compact_with(StoreFaults(), self._path, self._chain.id) == "compacted"

    def _differences(self) -> list[str]:
        stored = read_store(self._path)
        canonical = self._model.canonical
        reading = Reading(
            chain=self._chain,
            canonical=canonical,
            tip=canonical[-1].number,
            start=self._start,
            highest=self._model.highest,
            fills=self._fills.done(),
            followed_to=self._followed_to,
            reported=frozenset(self._reported),
        )
        found = Differences(reading, stored).compare()
        assert self._process is not None
        return found + holder_differences(self._process.store, stored, chain_id=self._chain.id)
