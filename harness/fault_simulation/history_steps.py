"""The steps of a history of faults, and how it is brought to its end."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from random import Random
from types import TracebackType
from typing import Any, Self

import msgspec

from config.settings_model import IndexerSettings
from core.errors import AssayError, StoreError
from harness.bare_reports import bare_report
from harness.fault_simulation.all_histories import take_all_turns
from harness.fault_simulation.expected_rows import Differences, Fill, Reading
from harness.fault_simulation.faulty_compaction import compact_with
from harness.fault_simulation.faulty_wire import FaultyWire
from harness.fault_simulation.holder_differences import holder_differences
from harness.fault_simulation.model_chain import ModelChain, world_of
from harness.fault_simulation.simulated_process import SimulatedProcess
from harness.fault_simulation.store_faults import (
    FaultKind,
    ProcessEndedError,
    StoreFaults,
    faulty_databases,
)
from harness.fault_simulation.stored_rows import read_store
from harness.replay.block_spool import BlockSpool
from harness.replay.log_formats import LogFormatName
from indexer.backfill import backfill
from indexer.ingest import FOLLOW
from sql.blocks import read_checkpoint
from sql.reports import NextRefresh, write_report

_WORLDS = 4
_FORMATS: tuple[LogFormatName, ...] = ("geth", "reth", "besu")
_LONGEST_CHAIN = 170
_NEVER = NextRefresh(worth=0, due_s=2**40)
_SUPPLY = 10**70
"""More than there ever is: only the first block of a token makes its past whole."""


class HistorySteps:
    """The chain, its nodes, the disk and the process of one history. Use as a context manager."""

    def __init__(self, seed: int, dice: Random, path: Path) -> None:
        self.told: list[str] = []
        """What has happened so far."""
        self._dice = dice
        self._path = path
        self._spool = BlockSpool()
        world = world_of(seed % _WORLDS)
        self._start = 0 if dice.random() < 0.6 else dice.randrange(3, 40)
        self._chain = msgspec.structs.replace(
            world.chain, finality_blocks=dice.randrange(2, 14), start_block=self._start
        )
        self._world = world
        self._model = ModelChain(world, self._chain, dice, dice.choice(_FORMATS), self._spool)
        self._settings = IndexerSettings(
            initial_log_range=dice.choice((2, 8, 40)),
            max_log_range=dice.choice((40, 64)),
            commit_rows=dice.choice((1, 10, 200)),
        )
        self._has_lake = dice.random() < 0.04
        self._fault_share = dice.choice((0.0, 0.05, 0.2))
        self._changes_between = dice.choice((0.0, 0.0, 0.03))
        self._wires = [
            FaultyWire(self._model, dice, name=f"node:{at}", between=self._maybe_change)
            for at in range(dice.choice((1, 1, 2, 3)))
        ]
        self._faults = StoreFaults()
        self._process: SimulatedProcess | None = None
        self._fill: Fill | None = None
        self._filling: asyncio.Task[None] | None = None
        self._reported: set[str] = set()
        self._followed_to = 0
        self._is_away = False
        """The nodes are on a branch that must be refused."""
        self._kinds: list[tuple[float, Callable[[], Awaitable[None]]]] = [
            (20, self._mine),
            (12, self._fork),
            (6, self._mine_many),
            (6, self._spoil_nodes),
            (5, self._heal_nodes),
            (10, self._arm),
            (4, self._restart),
            (4, self._report),
            (3, self._start_fill),
            (2, self._leave_for_good),
            (30 if self._has_lake else 0, self._compact),
        ]

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._spool.close()

    async def live(self) -> list[str]:
        """Live through it all. Returns how the store differs from the chain in the end."""
        self._model.grow(self._start + self._dice.randrange(1, 12))
        with faulty_databases(self._faults):
            try:
                for _ in range(self._dice.randrange(6, 22)):
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
        self.told.append(what)

    # --- the process --------------------------------------------------------------------------

    async def _begin(self) -> None:
        while self._process is None:
            try:
                self._process = SimulatedProcess(
                    self._chain,
                    self._wires,
                    self._path,
                    self._settings,
                    self._faults,
                    max_batch=self._dice.choice((100, 100, 5)),
                )
            except (ProcessEndedError, StoreError):
                self._faults.is_dead = False
                self._faults.abandon()

    async def _bury(self) -> None:
        """See to a process that has ended."""
        process = self._process
        if process is None:
            return
        self._note_followed(process)
        if process.has_ended:
            self._tell("ended")
            self._process = None
            await self._stop_filling()
            await process.stop()

    async def _restart(self) -> None:
        process, self._process = self._process, None
        if process is None:
            return
        await self._stop_filling()
        if self._dice.random() < 0.5:
            self._tell("stop")
            await process.stop()
        else:
            self._tell("kill")
            await process.kill()

    async def _arm(self) -> None:
        kinds: tuple[FaultKind, ...] = (
            *("end before", "end before", "end after", "full disk"),
            "told failed",
        )
        kind = self._dice.choice(kinds)
        longest = (1, 5, 20, 60, 150) if kind != "told failed" else (1, 2, 6)
        statements = self._dice.choice(longest)
        statements = self._dice.randint(1, statements)
        full_for = self._dice.choice((1, 3, 40))
        self._faults.arm(kind, statements, full_for=full_for)
        self._tell(f"{kind} at {statements}" + f" for {full_for}" * (kind == "full disk"))

    def _note_followed(self, process: SimulatedProcess) -> None:
        if process.status.tip is not None:
            self._followed_to = max(self._followed_to, process.status.tip.number)

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
        """All nodes leave our chain below what is final, and come back."""
        is_short = self._model.head.number < self._start + 40
        if self._process is None or self._fill is not None or is_short:
            return
        await self._heal_nodes()
        self._faults.disarm()
        if not await self._waited_level():
            return
        ours, self._is_away = self._model.canonical, True
        await self._stop_filling()
        below = read_store(self._path).blocks[0][0]
        kept = self._dice.randint(self._start + 1, max(self._start + 1, below - 1))
        blocks = len(ours) - kept + self._dice.choice((-3, 0, 2, 50))
        self._model.set_canonical(self._model.fork(kept, max(blocks, 1)), counts=False)
        self._tell(f"leave at {kept}, {blocks} blocks")
        await asyncio.sleep(400)
        process = self._process
        error = process.status.last_error or ""
        halted = read_store(self._path)
        if self._model.head.number > below:
            assert "was final" in error or "does not follow" in error, f"it goes on: {error!r}"
        await asyncio.sleep(100)
        assert read_store(self._path) == halted, "the store changes while following has halted"
        at = halted.checkpoints.get(FOLLOW, (0, None))[0]
        reading = msgspec.structs.replace(self._reading(ours[: at + 1]), is_done=False)
        found = Differences(reading, halted).compare()
        assert not found, f"halted at {at}: {found}"
        self._model.set_canonical(ours)
        self._is_away = False
        self._tell("come back")

    # --- the nodes ----------------------------------------------------------------------------

    async def _spoil_nodes(self) -> None:
        self._tell("spoil nodes")
        for wire in self._wires:
            wire.heal()
            wire.fault_share = self._fault_share
            wire.most_blocks = self._dice.choice((None, None, 1, 3, 10))
            wire.needs_address = self._dice.random() < 0.15
            wire.most_calls = self._dice.choice((None, None, 1, 4))
            if self._dice.random() < 0.3:
                wire.view.stay()

    async def _heal_nodes(self) -> None:
        self._tell("heal nodes")
        for wire in self._wires:
            wire.heal()

    # --- work beside following ----------------------------------------------------------------

    async def _report(self) -> None:
        process = self._process
        if process is None:
            return
        token = self._dice.choice(self._world.people.tokens).address
        self._tell(f"report on {token[:6]}")
        self._reported.add(token)
        try:
            report = bare_report(token, chain_id=self._chain.id, supply_raw=_SUPPLY)
            write_report(process.store, report, _NEVER)
        except (StoreError, ProcessEndedError):
            self._tell("report failed")

    async def _start_fill(self) -> None:
        process = self._process
        # Known faults of a back-fill beside the first blocks of following while they are not final:
        # nobody watches over what it holds below a gap, and where they are reorganised away, it
        # halts for ever, as if they were final.
        is_early = self._followed_to < self._start + self._chain.finality_blocks + 1
        if process is None or self._filling is not None or self._start == 0 or is_early:
            return
        if self._fill is None:
            first = self._dice.randrange(self._start)
            last = min(self._model.head.number, self._start + self._dice.randrange(-2, 25))
            if self._has_lake:
                # Known fault: trades and undecoded logs that are there already get there twice.
                last = min(last, self._start - 1)
            self._fill = Fill(first=first, last=max(first, last), followed_to=0)
        self._tell(f"fill {self._fill.first} to {self._fill.last}")
        self._filling = asyncio.create_task(self._run_fill(process, self._fill))

    async def _run_fill(self, process: SimulatedProcess, fill: Fill) -> None:
        try:
            await backfill(
                self._chain,
                process.client,
                process.store,
                self._settings,
                from_block=fill.first,
                to_block=fill.last,
            )
        except AssayError as error:
            self._tell(f"fill failed: {error}")
        except ProcessEndedError:
            return
        finally:
            self._filling = None

    async def _stop_filling(self) -> None:
        if self._filling is not None:
            self._filling.cancel()
            await asyncio.gather(self._filling, return_exceptions=True)

    async def _compact(self) -> None:
        faults = StoreFaults()
        if self._dice.random() < 0.6:
            kinds: tuple[FaultKind, ...] = ("end before", "end after", "full disk")
            faults.arm(self._dice.choice(kinds), self._dice.randint(1, 70))
        self._tell(compact_with(faults, self._path, self._chain.id))

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
        needed = max(self._start, 0 if self._fill is None else self._fill.last) + 1
        self._model.grow(max(1, needed - self._model.head.number))
        await self._begin()
        process = self._process
        assert process is not None
        assert await self._waited_level(), f"it does not come level: {process.status}"
        if self._fill is not None:
            await self._stop_filling()
            await self._run_fill(process, self._fill)
        # Following takes up what the back-fill has met; pasts are fetched of what is final.
        self._model.grow(self._chain.finality_blocks + 2, busy=0.0)
        await self._waited_level()
        self._note_followed(process)
        await take_all_turns(process)
        await asyncio.sleep(3)
        if process.has_ended:
            await process.stop()
        if self._has_lake:
            found = self._differences()
            assert not found, f"before the last compaction: {found}"
            assert compact_with(StoreFaults(), self._path, self._chain.id) == "compacted"

    async def _waited_level(self) -> bool:
        """Wait until our tip is the node's head, and all that is final is finalized."""
        process = self._process
        assert process is not None
        for _ in range(300):
            await asyncio.sleep(1)
            if process.has_ended:
                return False
            at = read_checkpoint(process.store, chain_id=self._chain.id, stream=FOLLOW)
            if at is not None and at.hash == self._model.head.hash:
                await asyncio.sleep(2.1)
                return True
        return False

    def _reading(self, canonical: Any) -> Reading:
        fill = self._fill
        fills = (
            () if fill is None else (msgspec.structs.replace(fill, followed_to=self._followed_to),)
        )
        return Reading(
            chain=self._chain,
            canonical=canonical,
            start=self._start,
            highest=self._model.highest,
            fills=fills,
            reported=frozenset(self._reported),
        )

    def _differences(self) -> list[str]:
        stored = read_store(self._path)
        found = Differences(self._reading(self._model.canonical), stored).compare()
        assert self._process is not None
        return found + holder_differences(self._process.store, stored, chain_id=self._chain.id)
