"""State machine of a follower on a node that forks, lies and crashes."""

import asyncio
import tempfile
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from config.settings import IndexerSettings
from core.errors import UpstreamError
from core.rpc.client import RpcClient
from indexer.head.follower import Follower
from sql.chain.blocks import FOLLOW, find_final
from sql.chain.finalization import finalize_rows
from sql.engine.store import Store
from tests.harness.indexer.expected_tables import assert_window, expect, read
from tests.harness.node.chain import (
    CHAIN,
    TRANSFER,
    Event,
    Lie,
    Log,
    LpSent,
    Odd,
    Pair,
    Pool,
    PositionMinted,
    ScriptedNode,
    Sent,
    address,
    client_of,
)
from tests.harness.store.empty_files import new_store

T = TypeVar("T")
SETTINGS = IndexerSettings(initial_log_range=8, max_log_range=16)
SLOW = msgspec.structs.replace(CHAIN, block_time_s=86_400)
"""A chain on which pools are young for few blocks."""


YOUNG_BLOCKS = 32
SIDES = st.sampled_from([(-1, 0), (0, 1), (-1, 2), (3, 1)])
POOLS = st.one_of(
    st.builds(lambda sides: Pair(*sides), SIDES),
    st.builds(lambda sides: Pool(*sides), SIDES),
    st.just(Pair(2, 0)),  # which is never created
)


EVENTS: st.SearchStrategy[Event] = st.one_of(
    st.builds(lambda sides: Pair(*sides), SIDES),
    st.builds(lambda sides: Pool(*sides), SIDES),
    st.builds(Sent, st.integers(-1, 3), st.integers(0, 2**256 - 1)),
    st.builds(Odd, st.integers(0, 3)),
    st.builds(LpSent, POOLS, st.integers(0, 2**256 - 1)),
    st.builds(PositionMinted, POOLS, st.integers(0, 2**128 - 1)),
)


BLOCKS = st.lists(st.lists(EVENTS, max_size=3), min_size=1, max_size=4)


def each_result(change: Any) -> Lie:
    """The same change in every answer that can be lied about so."""

    def lie(answers: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [one | {"result": change(one["result"])} for one in answers]

    return lie


def on_logs(change: Any) -> Lie:
    return each_result(lambda result: change(result) if isinstance(result, list) else result)


def on_blocks(**changes: str) -> Lie:
    return each_result(lambda result: result | changes if isinstance(result, dict) else result)


def with_each(**changes: Any) -> Lie:
    return on_logs(lambda logs: [log | changes for log in logs])


def smuggle(logs: list[Log]) -> list[Log]:
    """A transfer more, of a contract that the bloom filter excludes."""
    if not logs:
        return logs
    stranger: Log = logs[-1] | {
        "address": address("stranger"),
        "topics": [TRANSFER.topic0],
        "logIndex": "0x99",
    }
    return [*logs, stranger]


LIES: dict[str, Lie] = {
    "logs of another block": with_each(blockHash="0x" + "66" * 32),
    "logs of another height": with_each(blockNumber="0xffff"),
    "logs of another topic": with_each(topics=["0x" + "77" * 32]),
    "removed logs": with_each(removed=True),
    "logs backwards": on_logs(lambda logs: logs[::-1] if len(logs) > 1 else None),
    "logs twice": on_logs(lambda logs: logs + logs if logs else None),
    "a smuggled log": on_logs(smuggle),
    "no logs": on_logs(lambda _: []),
    "no list": on_logs(lambda _: {"logs": []}),
    "blocks of another height": on_blocks(number="0xfff0"),
    "blocks without hash": on_blocks(hash="0x"),
    "errors": lambda answers: [
        {"id": one["id"], "error": {"code": -32000, "message": "header not found"}}
        for one in answers
    ],
}


class Following(RuleBasedStateMachine):
    """A node whose chain changes, and a follower that is interrupted."""

    @initialize()
    def begin(self) -> None:
        self.runner = asyncio.Runner()
        self.folder = tempfile.TemporaryDirectory()
        self.path = Path(self.folder.name) / "store.duckdb"
        self.node = ScriptedNode()
        self.store = new_store(self.path)
        self.client: RpcClient = client_of(self.node)
        self.follower = self.new_follower()
        self.is_level = False

    @rule(blocks=BLOCKS)
    def mine(self, blocks: Sequence[Sequence[Event]]) -> None:
        for events in blocks:
            self.node.extend(events)
        self.is_level = False

    @rule(count=st.integers(40, 60), events=st.lists(EVENTS, max_size=2))
    def mine_many(self, count: int, events: Sequence[Event]) -> None:
        """Mine enough blocks that they are read by range."""
        if len(self.node.canonical) < 150:
            for number in range(count):
                self.node.extend(events if number % 7 == 0 else ())
            self.is_level = False

    @rule(depth=st.integers(1, CHAIN.finality_blocks), branch=BLOCKS)
    def reorg(self, depth: int, branch: Sequence[Sequence[Event]]) -> None:
        self.node.reorg(depth, branch)
        self.is_level = False

    @rule(lies=st.lists(st.sampled_from(sorted(LIES)), min_size=1, max_size=3))
    def prepare_lies(self, lies: Sequence[str]) -> None:
        self.node.lies = [LIES[name] for name in lies]

    @rule(steps=st.integers(1, 2))
    def follow_a_little(self, steps: int) -> None:
        """Stopped, or failed, in the middle."""
        self.run(self.advance(steps))

    @rule()
    def crash(self) -> None:
        """A new process: nothing but the file is left."""
        self.store.close()
        self.store = Store.open(self.path)
        self.follower = self.new_follower()

    @rule(at_most=st.integers(1, 9))
    def finalize(self, at_most: int) -> None:
        """Finalize one step in parallel with following, ended anywhere."""
        depth = CHAIN.finality_blocks
        final = find_final(self.store, chain_id=CHAIN.id, stream=FOLLOW, depth=depth)
        if final is not None:
            finalize_rows(self.store, chain_id=CHAIN.id, final=final - 1, at_most=at_most)

    @rule(age=st.integers(1, 4))
    def see_an_old_head(self, age: int) -> None:
        """Simulate a node that lags behind, or repeats its answer."""
        head = self.node.canonical
        self.node.canonical = head[: max(1, len(head) - age)]
        header = self.run(self.client.fetch_head_header())
        self.node.canonical = head
        self.run(self.advance(3, header=header))

    @rule()
    def silence(self) -> None:
        self.node.is_dead = True
        self.run(self.advance(1))
        self.node.is_dead = False

    @precondition(lambda self: not self.is_level)
    @rule()
    def catch_up(self) -> None:
        self.node.lies = []
        self.run(self.advance(500))
        self.is_level = True

    @invariant()
    def what_is_held_is_the_canonical_chain(self) -> None:
        if getattr(self, "is_level", False):
            expected = expect(self.node.canonical, young_blocks=YOUNG_BLOCKS)
            assert read(self.store) == expected
            assert_window(self.store, self.node.canonical, highest=self.node.highest)

    def teardown(self) -> None:
        if hasattr(self, "runner"):
            try:
                self.catch_up()
                self.what_is_held_is_the_canonical_chain()
            finally:
                self.store.close()
                self.runner.close()
                self.folder.cleanup()

    def new_follower(self) -> Follower:
        return Follower(SLOW, self.client, self.store, SETTINGS)

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(coroutine)

    async def advance(self, steps: int, header: Any = None) -> None:
        try:
            if not self.follower.is_loaded:
                await self.follower.load()
            head = header or await self.client.fetch_head_header()
            async for _ in self.follower.advance(head):
                steps -= 1
                if steps == 0:
                    return
        except UpstreamError:
            self.follower.forget()
