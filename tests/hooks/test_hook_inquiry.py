"""Hook dossiers compared with running hooks and managers: permissions, code, and control."""

import pytest

from analysis.market.venues.state.hook_permissions import DYNAMIC_FEE, permissions_of_address
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.hook_inquiry import PoolHook, find_hooks
from analysis.simulation.simulate_v1 import Passed
from analysis.token.proxy_resolution import ADMIN_SLOT
from api.formats.resources.hooks_format import hooks_answer
from core.evm.primitives import Address
from tests.harness.chain.contexts import judge, with_dexes
from tests.harness.chain.transactions import Chain
from tests.harness.custody.proxied_controls import Front, stand
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
