"""Chain that grows by the clock: blocks, bursts and reorgs at the times of its plan.

Events follow from seed and plan; the clock only decides how many of them have happened.
"""

import threading
from collections.abc import Callable

import msgspec

from core.evm.primitives import Hash32
from tests.harness.replay.block_encoding import encode_block
from tests.harness.replay.block_maker import BlockMaker, ReplaySpec
from tests.harness.replay.block_spool import BlockSpool, SpooledBlock

_TRANSFER_SHARE = 0.87
"""Share of transfers in all logs."""


class PlannedReorg(msgspec.Struct, frozen=True, kw_only=True):
    """The newest blocks are replaced by as many others."""

    at_s: float
    """Seconds after the start."""
    depth: int
    """Blocks."""


class LivePlan(msgspec.Struct, frozen=True, kw_only=True):
    """Schedule of a chain."""

    interval_s: float
    """Between blocks."""
    transfers_per_s: float
    """On average outside of bursts."""
    burst_every_s: float = 60.0
    burst_s: float = 3.0
    """Length of a burst, at the end of each interval."""
    burst_factor: float = 10.0
    reorgs: tuple[PlannedReorg, ...] = ()
    """In the order of their times."""

    def logs_until(self, at_s: float) -> int:
        """Return the number of logs within these seconds."""
        whole, rest_s = divmod(at_s, self.burst_every_s)
        quiet_s = self.burst_every_s - self.burst_s
        usual_s = whole * quiet_s + min(rest_s, quiet_s)
        burst_s = whole * self.burst_s + max(0.0, rest_s - quiet_s)
        return int((usual_s + self.burst_factor * burst_s) * self.transfers_per_s / _TRANSFER_SHARE)


class Published(msgspec.Struct, frozen=True, array_like=True):
    """Block with the time of its publication by the node."""

    number: int
    hash: Hash32
    at_s: float
    """As the caller's clock had it."""


class LiveChain:
    """A growing chain, as a node knows it. One thread advances it, others may read."""

    def __init__(self, spec: ReplaySpec, plan: LivePlan, spool: BlockSpool) -> None:
        """Make the spec's blocks, from before the start."""
        self.chain_id = spec.chain.id
        self.spool = spool
        self.published: list[Published] = []
        """Blocks since the start, reorged ones too."""
        self.on_head: Callable[[SpooledBlock], None] = lambda _: None
        """Called with each new head, on the thread that advances."""
        self._plan = plan
        self._maker = BlockMaker(spec)
        self.first = spec.first_block
        """Number of the lowest block."""
        self._wallets = frozenset(map(str, self._maker.people.wallets))
        self._canonical: list[SpooledBlock] = []
        self._by_hash: dict[str, SpooledBlock] = {}
        self._lock = threading.Lock()
        self._branch = 0
        self._grown = 0
        self._reorgs = list(plan.reorgs)
        for _ in range(spec.blocks):
            self._append(self._make(None))

    @property
    def head(self) -> int:
        """Number of the newest block."""
        return self.first + len(self._canonical) - 1

    def at(self, number: int) -> SpooledBlock | None:
        """The canonical block at a height. None: there is none."""
        with self._lock:
            place = number - self.first
            return self._canonical[place] if 0 <= place < len(self._canonical) else None

    def by_hash(self, block_hash: str) -> SpooledBlock | None:
        """A block of any branch. None: unknown."""
        return self._by_hash.get(block_hash)

    def has_code(self, address: str, number: int) -> bool:
        """True if it is none of the wallets, at any existing height."""
        return self.at(number) is not None and address not in self._wallets

    @property
    def next_s(self) -> float:
        """Seconds after the start at which something happens next."""
        block_s = (self._grown + 1) * self._plan.interval_s
        return min(block_s, self._reorgs[0].at_s) if self._reorgs else block_s

    def advance(self, at_s: float, *, read_clock: Callable[[], float]) -> None:
        """Do everything due by `at_s` seconds after the start.

        `read_clock` gives the time of a block's publication, once it has been made.
        """
        while self.next_s <= at_s:
            if self._reorgs and self._reorgs[0].at_s <= self.next_s:
                self._reorganise(self._reorgs.pop(0).depth, read_clock)
                continue
            self._grown += 1
            ends_s = (at * self._plan.interval_s for at in (self._grown - 1, self._grown))
            since, until = map(self._plan.logs_until, ends_s)
            made = self._make(until - since)
            self._publish([made], kept=len(self._canonical), now_s=read_clock())

    def _reorganise(self, depth: int, read_clock: Callable[[], float]) -> None:
        self._branch += 1
        kept = max(1, len(self._canonical) - depth)
        replaced = self._canonical[kept:]
        parent_hash, branch = self._canonical[kept - 1].hash, []
        for old in replaced:
            block = self._made(old.number, parent_hash, len(old.emitters))
            branch.append(block)
            parent_hash = block.hash
        self._publish(branch, kept=kept, now_s=read_clock())

    def _publish(self, blocks: list[SpooledBlock], *, kept: int, now_s: float) -> None:
        """Continue the first `kept` blocks with these."""
        with self._lock:
            self._by_hash |= {block.hash: block for block in blocks}
            self._canonical[kept:] = blocks
        self.published += [Published(block.number, block.hash, now_s) for block in blocks]
        for block in blocks[-1:]:
            self.on_head(block)

    def _append(self, block: SpooledBlock) -> None:
        self._by_hash[block.hash] = block
        self._canonical.append(block)

    def _make(self, logs: int | None) -> SpooledBlock:
        last = self._canonical[-1].hash if self._canonical else self._maker.root_hash
        return self._made(self.head + 1, last, logs)

    def _made(self, number: int, parent_hash: Hash32, logs: int | None) -> SpooledBlock:
        block = self._maker.make(number, parent_hash=parent_hash, branch=self._branch, logs=logs)
        spec = self._maker.spec
        encoded = encode_block(block, spec.log_format, has_transactions=spec.has_transactions)
        return self.spool.add(encoded)
