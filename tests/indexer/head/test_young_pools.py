"""Protects the memory of young pools: it contains every pool announced by following.

Even when transactions are rolled back, unwound or done by other processes in the meantime.
"""

from collections.abc import Iterator
from contextlib import ExitStack, suppress

import msgspec
import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from core.evm.primitives import Address
from core.process.arrays import ByteArray
from indexer import young_pools
from indexer.young_pools import YoungPools
from sql.chain.blocks import write_checkpoint
from sql.chain.pool_tables import insert_pools
from sql.engine.store import Store
from sql.engine.table_rows import CheckpointRow
from sql.unwind import unwind_from
from tests.harness.examples import one_in
from tests.harness.node.chain import CHAIN
from tests.harness.store.empty_files import temporary_store
from tests.harness.store.sample_rows import hash32, pool

SLOW = msgspec.structs.replace(CHAIN, block_time_s=86_400)
YOUNG_BLOCKS = 32
FIRST = 100


NEWS = st.lists(st.integers(0, 4), min_size=1, max_size=8)
"""Number of pools in each block of a chunk."""


class _RolledBackError(Exception):
    """A transaction fails at its end."""


def _end(*, fails: bool) -> None:
    if fails:
        raise _RolledBackError


def follow(number: int) -> CheckpointRow:
    return CheckpointRow(chain_id=1, stream="follow", number=number, hash=hash32(number))


def place(number: int) -> Address:
    """Return an address whose first bytes are the number."""
    return Address(f"0x{number + 1:04x}{number % 3:04x}{'00' * 16}")


def columns(addresses: list[Address]) -> ByteArray:
    joined = b"".join(bytes.fromhex(one[2:]) for one in addresses)
    return np.frombuffer(joined, np.uint8).reshape(-1, 20)


class Followed(RuleBasedStateMachine):
    """Two processes that follow one chain by turns, and a back-fill of the blocks below."""

    @initialize()
    def begin(self) -> None:
        self.exits = ExitStack()
        self.store = self.exits.enter_context(temporary_store())
        patch = self.exits.enter_context(pytest.MonkeyPatch.context())
        patch.setattr(young_pools, "_MOST_ADDED", 5)
        self.model: dict[Address, int] = {}
        """Block of the announcement of each pool that is committed."""
        self.tip = FIRST - 1
        self.highest = FIRST - 1
        self.made = 0
        self.leader = 0
        self.memories = [
            YoungPools(SLOW, unwound_blocks=SLOW.finality_blocks),
            YoungPools(SLOW, unwound_blocks=SLOW.finality_blocks),
        ]

    def new_pools(self, count: int) -> list[Address]:
        self.made += count
        return [place(at) for at in range(self.made - count, self.made)]

    @rule(news=NEWS)
    def follow_in_turn(self, news: list[int]) -> None:
        """The other process follows a chunk, and this one goes on."""
        self.change_places(is_new=False)
        self.follow(news, fails=False)
        self.change_places(is_new=False)

    @rule(news=NEWS, fails=st.booleans())
    def follow(self, news: list[int], *, fails: bool) -> None:
        """Read one block or several, with new pools in each.

        A chunk that fails is read again: the position is reloaded, and its blocks may have other
        pools then.
        """
        first = self.tip + 1
        announced = {
            one: number for number, count in enumerate(news, first) for one in self.new_pools(count)
        }
        rows = [pool(0, place(0), block_number=number) for number in announced.values()]
        rows = [
            msgspec.structs.replace(row, pool=one, pool_key=one, log_index=at)
            for at, (row, one) in enumerate(zip(rows, announced, strict=True))
        ]
        tip = first + len(news) - 1
        with suppress(_RolledBackError), self.store.transaction() as tx:
            insert_pools(tx, rows)
            self.memories[self.leader].add(rows, first=first)
            write_checkpoint(tx, follow(tip))
            self.assert_knows({**self.model, **announced}, tip)
            _end(fails=fails)
        if fails:
            self.load()
            return
        self.model |= announced
        self.tip, self.highest = tip, max(self.highest, tip)

    @rule(depth=st.integers(1, CHAIN.finality_blocks))
    def unwind(self, depth: int) -> None:
        number = max(FIRST, self.tip - depth + 1, self.highest - CHAIN.finality_blocks + 1)
        if number <= self.tip:
            with self.store.transaction() as tx:
                unwind_from(tx, chain_id=1, number=number)
            self.model = {one: at for one, at in self.model.items() if at < number}
            self.tip = number - 1

    @rule()
    def load(self) -> None:
        if self.tip >= FIRST:
            with self.store.snapshot() as reader:
                self.memories[self.leader].load(reader, tip=self.tip)

    @rule(is_new=st.booleans())
    def change_places(self, *, is_new: bool) -> None:
        """The other process follows now, perhaps after a start."""
        self.leader = 1 - self.leader
        if is_new:
            self.memories[self.leader] = YoungPools(SLOW, unwound_blocks=SLOW.finality_blocks)
        self.load()

    @rule(count=st.integers(1, 3))
    def fill(self, count: int) -> None:
        """No events of pools below the first block are requested."""
        rows = [
            msgspec.structs.replace(
                pool(0, place(0), block_number=FIRST - 1), pool=one, pool_key=one, log_index=at
            )
            for at, one in enumerate(self.new_pools(count), self.made)
        ]
        with self.store.transaction() as tx:
            insert_pools(tx, rows)

    @invariant()
    def none_is_missing(self) -> None:
        if hasattr(self, "store"):
            self.assert_knows(self.model, self.tip)

    def assert_knows(self, pools: dict[Address, int], tip: int) -> None:
        young = [one for one, at in pools.items() if at >= tip - YOUNG_BLOCKS]
        found = self.memories[self.leader].may_contain(columns(young))
        assert [one for one, known in zip(young, found.tolist(), strict=True) if not known] == []

    def teardown(self) -> None:
        if hasattr(self, "exits"):
            self.exits.close()


Followed.TestCase.settings = settings(
    max_examples=one_in(1), stateful_step_count=20, suppress_health_check=list(HealthCheck)
)
test_followed = Followed.TestCase


@pytest.fixture
def store() -> Iterator[Store]:
    with temporary_store() as opened:
        yield opened


def test_others_are_told_from_pools_and_old_ones_go(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(young_pools, "_MOST_ADDED", 2)
    memory = YoungPools(SLOW, unwound_blocks=SLOW.finality_blocks)
    addresses = [place(at) for at in range(90)]
    for number, one in enumerate(addresses):
        row = pool(0, place(0), block_number=number)
        memory.add([msgspec.structs.replace(row, pool=one)], first=number)
    found = memory.may_contain(columns(addresses)).tolist()
    assert all(found[-YOUNG_BLOCKS:])
    assert not any(found[: 90 - YOUNG_BLOCKS - CHAIN.finality_blocks - 3])
    assert not memory.may_contain(columns([place(at) for at in range(90, 99)])).any()
    assert memory.may_contain(columns([])).tolist() == []


def test_pools_within_one_contract_are_told_by_their_ids(store: Store) -> None:
    """The contract's address does not identify them."""
    memory = YoungPools(SLOW, unwound_blocks=SLOW.finality_blocks)
    row = msgspec.structs.replace(
        pool(0, place(0), block_number=100), pool=place(1), pool_id=hash32(1), pool_key=hash32(1)
    )
    with store.transaction() as tx:
        insert_pools(tx, [row])
    memory.add([row], first=100)
    with store.snapshot() as reader:
        memory.load(reader, tip=100)
    assert not memory.may_contain(columns([place(1)])).any()
