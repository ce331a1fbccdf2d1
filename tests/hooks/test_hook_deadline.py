"""A slow node costs parts of a hook dossier, and never the rest of it; nothing unknown passes."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes import chain_quotes
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.quotes.hook_inquiry import HookFindings, find_hooks
from analysis.quotes.timed_simulation import LATE
from analysis.reads.node import Node
from analysis.simulation.simulate_v1 import NotSimulated, Passed
from core.evm.primitives import Address, BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.chain.contexts import judge, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.v4_positions import seed_hooked

_UNTIL_S = 8.0
"""Far beyond the time of answers that are not delayed."""


class HeldBack:
    """A node that never answers some of the simulations, by the hook that they name: from which
    batch on."""

    def __init__(self, node: Node, hooks: dict[Address, int] | None = None) -> None:
        """`hooks` None: none of them is answered."""
        self._node, self._hooks = node, hooks
        self._sent = Counter[Address]()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        if self._is_held(requests):
            await asyncio.Event().wait()
        return await self._node.batch(requests)

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    def _is_held(self, requests: Sequence[RpcRequest]) -> bool:
        simulated = [one for one in requests if one.method == "eth_simulateV1"]
        if not simulated or self._hooks is None:
            return bool(simulated)
        text = msgspec.json.encode([one.params for one in simulated]).decode()
        named = [hook for hook in self._hooks if hook[2:] in text]
        self._sent.update(named)
        return any(self._sent[hook] >= self._hooks[hook] for hook in named)


def assert_nothing_claimed(found: HookFindings) -> None:
    (pool,) = found.pools
    assert pool.grants.granted == ("after_swap", "after_swap_returns_delta")
    assert pool.code.findings.is_proxy is False
    assert len(pool.measured.trades) == 18
    for trade in pool.measured.trades:
        assert isinstance(trade.outcome, NotSimulated)
        assert trade.outcome.reason == LATE
    assert pool.measured.varies_by_size is None
    assert pool.leaving.is_refused is None
    assert pool.leaving.reason


async def test_when_no_time_is_left_code_and_control_are_told(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.world.token("v4_hook").address
    found = await find_hooks(context, token, until_s=asyncio.get_running_loop().time())
    assert_nothing_claimed(found)
    assert found.pools[0].leaving.reason == LATE


async def test_the_service_answers_while_its_node_simulates_nothing(
    chain: Chain, context: ChainContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = chain.world.token("v4_hook").address
    report = await judge(context, token)
    monkeypatch.setattr(chain_quotes, "WITHIN_S", _UNTIL_S)
    monkeypatch.setattr(chain_quotes, "_TO_ANSWER_S", _UNTIL_S - 1)
    silent = with_node(context, HeldBack(context.node))
    async with aclosing(ChainQuotes({"ethereum": silent}, concurrency=1)) as quotes:
        assert_nothing_claimed(await quotes.find_hooks("ethereum", report))


async def test_pools_that_answered_in_time_are_told(chain: Chain, context: ChainContext) -> None:
    """One pool has no answer on any trade, another none on a sale."""
    token, venues = chain.world.token("honest"), chain.world.venues
    manager = seed_hooked(chain, token, holders=1)
    dexes = (
        msgspec.structs.replace(dex, position_manager=manager) if dex.kind == "AmmV4" else dex
        for dex in context.chain.dexes
    )
    facts = msgspec.structs.replace(context.chain, dexes=tuple(dexes))
    known = msgspec.structs.replace(
        context,
        chain=facts,
        node=HeldBack(context.node, {venues.fee_hook: 1, venues.dynamic_hook: 2}),
    )
    until_s = asyncio.get_running_loop().time() + _UNTIL_S
    found = await find_hooks(known, token.address, until_s=until_s)
    of_hook = {pool.hook: pool for pool in found.pools}
    assert set(of_hook) == {venues.fee_hook, venues.dynamic_hook, venues.input_hook}
    passed = {
        hook: [
            {"buy": "b", "sell": "s"}[trade.side]
            for trade in pool.measured.trades
            if isinstance(trade.outcome, Passed)
        ]
        for hook, pool in of_hook.items()
    }
    assert passed[venues.fee_hook] == []
    assert passed[venues.dynamic_hook] == ["b"] * 9
    assert passed[venues.input_hook] == ["b"] * 9 + ["s"] * 9
    assert of_hook[venues.dynamic_hook].measured.varies_by_side is None
    for pool in found.pools:
        assert len(pool.leaving.tried) == 4
        assert all(isinstance(one.withdrawn.outcome, Passed) for one in pool.leaving.tried)
