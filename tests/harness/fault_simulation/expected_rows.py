"""Rows that a store must hold for a chain, computed event by event, and the differences.

Computed from the events, not from their logs. Where the order of reading decides (a back-fill meets
a pool that following had not known), bounds are given in place of one answer.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import ZERO_ADDRESS
from sql.chain.blocks import FOLLOW
from sql.chain.early_tables import EARLY_SUBJECT
from tests.harness.fault_simulation.model_chain import ModelBlock, ModelChain
from tests.harness.fault_simulation.stored_rows import Cells, StoredRows, read_store, sums_of
from tests.harness.replay.chain_events import (
    ChainEvent,
    Launched,
    Malformed,
    OddTransfer,
    PoolMade,
    Sent,
    Swapped,
)

_PRICED = 16
"""Newest final trades of a pool that are kept for prices."""


class Fill(msgspec.Struct, frozen=True, kw_only=True):
    """The blocks that a back-fill has stored, ends included."""

    stream: str
    """The name of its checkpoint."""
    first: int
    last: int


class Reading(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks of a chain that were read."""

    chain: Chain
    canonical: tuple[ModelBlock, ...]
    tip: int
    """Newest block that following has stored."""
    start: int
    """First block of following."""
    highest: int
    """Highest of all heads so far."""
    fills: tuple[Fill, ...] = ()
    followed_to: int = 0
    """Highest block that following had ever taken when the last back-fill stored something."""
    reported: frozenset[str] = frozenset()
    """Tokens that had a report at any time: they may stay tracked without a pool."""
    is_done: bool = True
    """All histories were fetched."""

    def is_read(self, number: int) -> bool:
        """True if all events of a block were read."""
        return self.start <= number <= self.tip or any(
            one.first <= number <= one.last for one in self.fills
        )


class Differences:
    """Differences between the rows of a store and the expected ones, as text."""

    def __init__(self, reading: Reading, stored: StoredRows) -> None:
        self._reading = reading
        self._stored = stored
        self.found: list[str] = []
        anchors = {ZERO_ADDRESS, *(anchor.address for anchor in reading.chain.anchors)}
        self._anchors = anchors
        self._pools: dict[str, list[tuple[int, int, PoolMade]]] = {}
        self._launches: dict[tuple[str, str], list[tuple[int, int, Launched]]] = {}
        self._sights: dict[str, list[int]] = {}
        self._with_pool: set[str] = set()
        for number, at, event in self._read():
            if isinstance(event, PoolMade):
                self._pools.setdefault(event.pool.key, []).append((number, at, event))
                for side in {event.pool.token0, event.pool.token1} - anchors:
                    self._sights.setdefault(side, []).append(number)
                    self._with_pool.add(side)
            elif isinstance(event, Launched):
                key = (event.token, event.slug)
                self._launches.setdefault(key, []).append((number, at, event))
                self._sights.setdefault(event.token, []).append(number)

    def compare(self) -> list[str]:
        """All differences; none if the store is right."""
        self._compare_progress()
        self._compare_window()
        self._compare_pools()
        self._compare_launches()
        self._compare_tokens()
        self._within("transfers", self._stored.transfers, self._transfers())
        self._within("undecoded", self._stored.undecoded, self._undecoded())
        self._compare_trades()
        self._same("rows of tokens that are gone", self._stored.orphans, [])
        self._same_items("balances", self._stored.balances, self._stored.final_sums)
        if not self._stored.hot:
            self._same_items("sums", self._stored.balances, sums_of(self._stored.transfers))
        return self.found

    # --- progress -----------------------------------------------------------------------------

    def _compare_progress(self) -> None:
        reading, stored = self._reading, self._stored
        spans = [(reading.start, reading.tip), *((one.first, one.last) for one in reading.fills)]
        joined: list[tuple[int, int]] = []
        for first, last in sorted(spans):
            if joined and first <= joined[-1][1] + 1:
                joined[-1] = (joined[-1][0], max(joined[-1][1], last))
            else:
                joined.append((first, last))
        subjects = {"transfers", *(f"pools:{dex.factory}" for dex in reading.chain.dexes)}
        subjects |= {pad.subject for pad in reading.chain.launchpads if pad.event}
        followed = [
            (one, reading.start, reading.tip)
            for one in (EARLY_SUBJECT, reading.chain.liquidity_subject)
        ]
        expected = sorted([*((one, *span) for one in subjects for span in joined), *followed])
        self._same("coverage", stored.coverage, expected)
        streams = {"follow": reading.tip, **{one.stream: one.last for one in reading.fills}}
        found = {name: number for name, (number, _) in stored.checkpoints.items()}
        final = found.pop("final", -1)
        self._same_items("checkpoints", found, streams)
        tip_hash = stored.checkpoints.get("follow", (0, None))[1]
        for name, (number, of) in stored.checkpoints.items():
            if of is not None and of != reading.canonical[number].hash:
                self.found.append(f"checkpoint {name} at {number} is of another branch")
        if tip_hash != reading.canonical[reading.tip].hash:
            self.found.append(f"the follow checkpoint is at {tip_hash}, not at the tip")
        if final > max(-1, reading.highest - reading.chain.finality_blocks - 1):
            self.found.append(f"final up to {final}, the highest head was {reading.highest}")

    def _compare_window(self) -> None:
        reading, stored_blocks = self._reading, self._stored.blocks
        lowest = stored_blocks[0][0] if stored_blocks else reading.tip + 1
        expected = [
            (block.number, block.hash, block.made.parent_hash)
            for block in reading.canonical[lowest : reading.tip + 1]
        ]
        if stored_blocks and lowest == reading.start:
            # Nothing that was read has the hash of the first one's parent: a lie about it passes.
            stored_blocks, expected = (
                [blocks[0][:2], *blocks[1:]] for blocks in (stored_blocks, expected)
            )
        self._same("blocks", stored_blocks, expected)
        bound = max(reading.start, reading.highest - reading.chain.finality_blocks)
        if lowest > min(bound, reading.tip):
            self.found.append(f"the window begins at {lowest}, above {bound}")

    # --- what is announced --------------------------------------------------------------------

    def _compare_pools(self) -> None:
        stored = self._stored.pools
        self._same("pool keys", sorted(stored), sorted(self._pools))
        numbers = {}
        for key, announced in self._pools.items():
            row = stored.get(key)
            if row is None:
                continue
            pool = announced[0][2].pool
            kind = (pool.dex.kind, pool.address, pool.dex.factory, pool.token0, pool.token1)
            places = [(number, at) for number, at, _ in announced]
            if row[:7] != (*kind, *places[0]):
                self.found.append(f"pool {key} is {row}, not {kind} at {places[0]}")
            numbers[row[7]] = pool
        sides = sorted(
            (side, number, other)
            for number, pool in numbers.items()
            for side, other in {(pool.token0, pool.token1), (pool.token1, pool.token0)}
        )
        self._same("pool sides", self._stored.sides, sides)

    def _compare_launches(self) -> None:
        stored = self._stored.launches
        self._same("launches", sorted(stored), sorted(self._launches))
        for key, announced in self._launches.items():
            launches = [
                (
                    *(one.emitter, None if one.event.creator is None else one.creator),
                    *(number, at),
                )
                for number, at, one in announced
            ]
            if stored.get(key) != launches[0]:
                self.found.append(f"launch {key} is {stored.get(key)}, not {launches[0]}")

    def _compare_tokens(self) -> None:
        reading = self._reading
        for token in sorted(self._stored.tokens.keys() | self._sights.keys()):
            row = self._stored.tokens.get(token)
            sights = self._sights.get(token, [])
            may_stay = token in reading.reported
            if row is None or (not sights and not may_stay):
                self.found.append(f"token {token} is {row}, seen at {sights}")
                continue
            because, first, since, has_report, is_whole, _ = row
            reason = "pool" if token in self._with_pool else "launch" if sights else "request"
            if because != reason:
                self.found.append(f"token {token} is tracked because of {because}, not {reason}")
            if sights and (first > min(sights) or (first < min(sights) and not may_stay)):
                self.found.append(f"token {token} was first seen at {min(sights)}, not {first}")
            bounds = self._since(sights)
            is_ahead = since is None or since > reading.tip
            is_met = any(reading.start <= one <= reading.tip for one in sights)
            if is_ahead and not reading.is_done and (may_stay or not is_met):
                continue  # following has yet to meet it, for the first time or again
            if since is None or since > bounds[1] or (since < bounds[0] and not may_stay):
                self.found.append(f"token {token} is complete from {since}, not within {bounds}")
            if reading.is_done and has_report and not is_whole and since:
                self.found.append(f"the history of {token} is not whole, complete from {since}")

    def _since(self, sights: Sequence[int]) -> tuple[int, int]:
        """Between which blocks the complete transfers of a token may begin."""
        reading = self._reading
        if not sights:
            return 0, reading.tip + 1
        followed = min((one for one in sights if one >= reading.start), default=reading.tip + 1)
        if not reading.fills:
            return followed, followed
        met = [
            reading.followed_to + 1
            for one in reading.fills
            if any(one.first <= sight <= one.last for sight in sights)
        ]
        # Below the start where a reorg went down into what a back-fill held.
        return min(sights), max(reading.start, min([followed, *met]))

    # --- events -------------------------------------------------------------------------------

    def _transfers(self) -> Iterator[tuple[Cells, bool]]:
        """Those that may be stored, and whether they must."""
        for number, at, event in self._all():
            if isinstance(event, Sent) and self._may_be_kept(event.token, number):
                sides = (event.token, event.sender, event.recipient)
                cells = (number, at, *sides, event.amount_raw)
                yield cells, self._must_be_kept(event.token, number)

    def _undecoded(self) -> Iterator[tuple[Cells, bool]]:
        """Those that may be stored, and whether they must."""
        for number, at, event in self._all():
            match event:
                case Malformed(log):
                    may = must = self._reading.is_read(number)
                case OddTransfer(log):
                    may = self._may_be_kept(log.address, number)
                    must = self._must_be_kept(log.address, number)
                case _:
                    continue
            if may:
                yield (number, at, log.address, len(log.topics)), must

    def _may_be_kept(self, token: str, number: int) -> bool:
        """True if the transfers of a token in a block may be stored."""
        row = self._stored.tokens.get(token)
        if row is None:
            return False
        first = row[1]
        return self._is_complete(token, number) or any(
            max(one.first, first) <= number <= one.last for one in self._reading.fills
        )

    def _must_be_kept(self, token: str, number: int) -> bool:
        """True if they must be stored: complete there, or back-filled before."""
        return self._is_complete(token, number) or any(
            one.first <= sight <= number <= one.last
            for one in self._reading.fills
            for sight in self._sights.get(token, ())
        )

    def _is_complete(self, token: str, number: int) -> bool:
        row = self._stored.tokens.get(token)
        return row is not None and row[2] is not None and row[2] <= number <= self._reading.tip

    def _compare_trades(self) -> None:
        may, must = set[Cells](), set[Cells]()
        for number, at, event in self._read():
            if not isinstance(event, Swapped):
                continue
            pool = event.pool
            if (pool.token0 in self._anchors) == (pool.token1 in self._anchors):
                continue
            cells = (number, at, pool.key, float(event.amount0_raw), float(event.amount1_raw))
            may.add(cells)
            if self._is_traded(pool.key, number, at):
                must.add(cells)
        rounded = [(*row[:3], *map(float, row[3:])) for row in self._stored.trades]
        self._same("trades twice", sorted(rounded), sorted(set(rounded)))
        places = {row[:3]: row for row in may}
        for row in rounded:
            known = places.get(row[:3])
            if known is None or not all(
                abs(one - other) <= 1e-12 * abs(other)
                for one, other in zip(row[3:], known[3:], strict=True)
            ):
                self.found.append(f"trade {row} is not {known}")
        missing = {row[:3] for row in must} - {row[:3] for row in rounded}
        if missing:
            self.found.append(f"trades are missing: {sorted(missing)[:5]}")
        self._compare_recent()

    def _is_traded(self, key: str, number: int, at: int) -> bool:
        """True if a swap must be stored: its pool was known when its block was read."""
        for announced, index, _ in self._pools.get(key, []):
            if (announced, index) > (number, at):
                continue
            if announced >= self._reading.start:
                return True
            for fill in self._reading.fills:
                if fill.first <= announced <= fill.last and (
                    number <= fill.last or self._reading.followed_to < number <= self._reading.tip
                ):
                    return True
        return False

    def _compare_recent(self) -> None:
        by_pool: dict[str, list[Cells]] = {}
        for row in self._stored.final_trades:
            by_pool.setdefault(row[2], []).append(row)
        expected = sorted(row for rows in by_pool.values() for row in sorted(rows)[-_PRICED:])
        self._same("trades for prices", self._stored.recent, expected)

    # --- how ----------------------------------------------------------------------------------

    def _all(self) -> Iterator[tuple[int, int, ChainEvent]]:
        for block in self._reading.canonical:
            for at, event in enumerate(block.made.events):
                yield block.number, at, event

    def _read(self) -> Iterator[tuple[int, int, ChainEvent]]:
        return (found for found in self._all() if self._reading.is_read(found[0]))

    def _within(
        self, what: str, stored: Sequence[Cells], expected: Iterator[tuple[Cells, bool]]
    ) -> None:
        """Each row once, none that may not be there, and all that must."""
        known = dict(expected)
        rows = set(stored)
        self._same(f"{what} twice", sorted(stored), sorted(rows))
        lost = sorted(row for row, must in known.items() if must and row not in rows)[:3]
        strange = sorted(rows - known.keys())[:3]
        if lost or strange:
            self.found.append(f"{what}: missing {lost}; strange {strange}")

    def _same(self, what: str, stored: Sequence[object], expected: Sequence[object]) -> None:
        if list(stored) == list(expected):
            return
        lost = [one for one in expected if one not in stored][:3]
        strange = [one for one in stored if one not in expected][:3]
        counts = f"{len(stored)} in place of {len(expected)}"
        self.found.append(f"{what}: {counts}; missing {lost}; strange {strange}")

    def _same_items(
        self, what: str, stored: dict[str, int] | dict[tuple[str, str], int], expected: object
    ) -> None:
        if stored != expected:
            self.found.append(f"{what}: {stored} in place of {expected}")


def reading_between(
    stored: StoredRows,
    model: ModelChain,
    *,
    start: int,
    fills: tuple[Fill, ...] = (),
    followed_to: int = 0,
    reported: frozenset[str] = frozenset(),
) -> Reading | None:
    """Build the reading that an idle store must hold.

    It is the branch of the store's newest block, and the back-fills stored so far. Each step is one
    transaction, so this holds wherever a process has ended. None where it is unknown: nothing is
    stored, the newest block is not held, or back-fills were ahead of a following that has yet to
    leave an abandoned branch.
    """
    tip, tip_hash = stored.checkpoints.get(FOLLOW, (0, None))
    if tip_hash is None:
        return None
    filled_to = max((one.last for one in fills), default=0)
    blocks = _joined(model, model.branch_to(tip_hash), filled_to=filled_to)
    if blocks is None:
        return None
    return Reading(
        chain=model.chain,
        canonical=blocks,
        tip=tip,
        start=start,
        highest=model.highest,
        fills=fills,
        followed_to=max(followed_to, tip),
        reported=reported,
        is_done=False,
    )


def _joined(
    model: ModelChain, followed: tuple[ModelBlock, ...], *, filled_to: int
) -> tuple[ModelBlock, ...] | None:
    """The blocks that were followed, and those above that back-fills have stored: up to
    `filled_to`, and from the canonical branch, as they were final. None: that is another branch."""
    common = sum(
        one.hash == other.hash for one, other in zip(followed, model.canonical, strict=False)
    )
    is_abandoned = common < len(followed)
    is_final = model.highest - model.chain.finality_blocks >= common
    if is_abandoned and is_final and filled_to >= common:
        return None
    return followed if is_abandoned else model.canonical[: max(len(followed), filled_to + 1)]


def branch_differences(path: Path, model: ModelChain) -> list[str]:
    """Differences between an idle store, followed from block 0, and the branch of its newest block.

    None where nothing is stored.
    """
    return differences_from(read_store(path), model)


def differences_from(stored: StoredRows, model: ModelChain) -> list[str]:
    """Differences between the rows of such a store and the branch of its newest block."""
    reading = reading_between(stored, model, start=0)
    return [] if reading is None else Differences(reading, stored).compare()
