"""Hook dossiers compared with running hooks and managers, also on a slow node."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from contextlib import aclosing

import msgspec
import pytest

from analysis.market.venues.state.hook_permissions import DYNAMIC_FEE, permissions_of_address
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes import chain_quotes
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.quotes.hook_inquiry import HookFindings, PoolHook, find_hooks
from analysis.quotes.timed_simulation import LATE
from analysis.reads.node import Node
from analysis.simulation.simulate_v1 import NotSimulated, Passed
from analysis.token.proxy_resolution import ADMIN_SLOT
from api.formats.resources.hooks_format import hooks_answer
from core.evm.primitives import Address, BlockRef
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.chain.contexts import judge, with_dexes, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.custody.proxied_controls import Front, stand
from tests.harness.liquidity.v4_positions import seed_hooked
from tests.harness.venues import infinity, infinity_bin
from tests.harness.venues.range_pools import LAUNCH, place

ADMIN = Address("0x" + "ad" * 20)


async def only(context: ChainContext, token: Address) -> PoolHook:
    found = await find_hooks(context, token)
    (pool,) = found.pools
    assert (found.pools_left_out, found.pools_without_hooks) == (0, 0)
    return pool


@pytest.mark.parametrize(
    ("key", "granted", "is_dynamic"),
    [
        ("v4_hook", ("after_swap", "after_swap_returns_delta"), False),
        ("v4_input_hook", ("before_swap", "before_swap_returns_delta"), False),
        ("v4_dynamic_fee", ("before_swap",), True),
    ],
)
async def test_the_managers_own_bits_and_fee_are_told(
    chain: Chain, context: ChainContext, key: str, granted: tuple[str, ...], *, is_dynamic: bool
) -> None:
    token = chain.world.token(key)
    pool = await only(context, token.address)
    assert pool.hook == token.pool.hooks
    assert pool.grants.granted == granted
    assert pool.has_dynamic_fee is is_dynamic is (token.pool.fee == DYNAMIC_FEE)


async def test_a_pool_without_a_hook_is_counted_only(chain: Chain, context: ChainContext) -> None:
    found = await find_hooks(context, chain.world.token("v4_honest").address)
    assert (found.pools, found.pools_without_hooks) == ((), 1)


@pytest.mark.parametrize(
    ("contract", "front", "is_proxy", "is_replaceable", "refuses"),
    [
        ("StoppableHook", "none", False, False, True),
        ("StoppableHook", "constant", True, False, True),
        ("StoppableHook", "slot", True, True, True),
        # The honest double: nobody can stop it, until its code is replaced.
        ("OpenHook", "none", False, False, False),
        ("OpenHook", "slot", True, True, False),
    ],
)
async def test_code_is_followed_behind_proxies(
    chain: Chain,
    context: ChainContext,
    contract: str,
    front: Front,
    *,
    is_proxy: bool,
    is_replaceable: bool,
    refuses: bool,
) -> None:
    hook = stand(chain, contract, front)
    if front == "slot":
        chain.node.rpc("anvil_setStorageAt", hook, ADMIN_SLOT, f"0x{int(ADMIN, 16):064x}")
    token = place(chain, "v4", "HonestToken", (LAUNCH,), hooks=hook)
    found = await find_hooks(context, token.address)
    report = await judge(context, token.address)
    (pool,) = hooks_answer(found, context.chain, report.token).pools
    assert pool.permissions == ("before_swap",)
    assert pool.code.is_proxy is is_proxy
    assert pool.code.is_replaceable is is_replaceable
    assert pool.code.refuses_by_owner is refuses
    assert (pool.control.proxy_admin or "").lower() == (ADMIN if front == "slot" else "")
    if contract == "StoppableHook":
        assert chain.world.owner in (found.pools[0].control.wallets or ())
        assert pool.control.is_renounced is False
    else:
        assert pool.control.is_renounced is None


@pytest.mark.parametrize("family", [infinity, infinity_bin])
async def test_infinitys_permissions_are_the_keys(
    chain: Chain, context: ChainContext, family: object
) -> None:
    market = family.place(chain, hook="open", is_coin=True)  # type: ignore[attr-defined]
    pool = await only(with_dexes(context, (market.dex,)), market.token)
    assert pool.grants.granted == ("before_swap",)
    assert pool.grants.is_as_declared is True
    # Trades of the real exchange's pools run, too; their liquidity holders are not known here.
    outcomes = [each.outcome for each in pool.measured.trades if each.size_usd <= 1_000]
    assert outcomes == [Passed(tax=0.0)] * 12
    assert pool.leaving.is_refused is None
    # The key is fixed, whatever the hook changes later.
    chain.node.rpc("anvil_setCode", pool.hook, "0x60ff5f5260205ff3")
    chain.mine(1)
    changed = await only(with_dexes(context, (market.dex,)), market.token)
    assert changed.grants.granted == ("before_swap",)
    assert changed.grants.is_as_declared is False


@pytest.mark.parametrize(
    ("bits", "granted"),
    [
        (1 << 13, "before_initialize"),
        (1 << 9, "before_remove_liquidity"),
        (1 << 7, "before_swap"),
        (1 << 0, "after_remove_liquidity_returns_delta"),
        (1 << 14, None),
    ],
)
def test_bits_are_those_of_v4_core(bits: int, granted: str | None) -> None:
    """Numbers of v4-core's Hooks library."""
    permissions = permissions_of_address(Address(f"0x{bits:040x}"))
    assert permissions == (() if granted is None else (granted,))


# --- hook deadline ------------------------------------------------------------------------------

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
