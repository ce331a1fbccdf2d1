"""Withdrawals through hooks, as predicted, equal real ones.

They go through the position manager that Uniswap ships, and one with the interface of
PancakeSwap's.
"""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.hook_inquiry import find_hooks
from analysis.quotes.hook_withdrawals import LiquidityExit, TriedWithdrawal
from analysis.simulation.simulate_v1 import Passed, Refused
from assay.demo.layout import native_worth
from config.facts.chain import Dex
from core.evm.primitives import Address
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.hook_positions import _HELD, Held, hold_on_infinity
from tests.harness.liquidity.v4_positions import deploy_position_manager, mint_position
from tests.harness.venues import bin_pools, infinity, infinity_bin
from tests.harness.venues.bin_pools import BinPool
from tests.harness.venues.range_pools import Position, place
from tests.harness.venues.taxing_hooks import AFTER_REMOVE_TAKES, BEFORE_REMOVE, mine_before, stand


def hold(chain: Chain, hook: Address, *, holder: Address | None = None) -> Held:
    """Add a position. `holder` None: an account unrelated to the hook."""
    token = place(chain, "v4", "HonestToken", (Position(lower=-100, upper=100),), hooks=hook)
    manager = deploy_position_manager(chain)
    someone = holder or chain.fresh_account(native_wei=100 * 10**18)
    given = chain.send(
        token.owner, token.address, "transfer(address,uint256)", someone, 1_000 * 10**18
    )
    assert given.success
    pool = (token.address, token.pool)
    coins_wei = native_worth(90_000)
    assert mint_position(chain, manager, someone, pool, _HELD, coins_wei=coins_wei).success
    return Held(token=token.address, manager=manager, holder=someone)


async def withdrawals_of(
    context: ChainContext, position: Held, *others: Dex, traces: bool = False
) -> LiquidityExit:
    """Return the predicted withdrawals of a position.

    `others`: exchanges beyond the demo's. `traces`: as the node has them; else as a node without.
    """
    if not traces:
        context.capabilities.traces.note_refusal()
    dexes = tuple(
        msgspec.structs.replace(dex, position_manager=position.manager)
        if dex.kind == "AmmV4"
        else dex
        for dex in others or context.chain.dexes
    )
    facts = msgspec.structs.replace(context.chain, dexes=dexes)
    known = msgspec.structs.replace(context, chain=facts)
    (pool,) = (await find_hooks(known, position.token)).pools
    return pool.leaving


def really(
    chain: Chain, position: Held, one: TriedWithdrawal, *, hook: str
) -> tuple[bool, int, int]:
    """Return the success of the transaction, and the tokens and coins that it brought."""
    snapshot, start = chain.node.snapshot(), chain.node.head_time()
    actor = position.holder
    if one.by_stranger:
        actor = chain.fresh_account()
        position.hand_over(chain, actor)
    if one.wait_s:
        chain.node.set_time(start + one.wait_s)
        mine_before(chain, one.block.number, hook=hook)
    receiver = chain.fresh_account(native_wei=0)
    success = position.leave(chain, actor, receiver)
    coins = int(str(chain.node.rpc("eth_getBalance", receiver, "latest")), 16)
    tokens = chain.balance(position.token, receiver)
    chain.node.revert(snapshot)
    return success, tokens, coins


def assert_as_real(chain: Chain, position: Held, found: LiquidityExit, *, hook: str = "") -> None:
    """`hook`: its contract; empty: one that counts no blocks."""
    assert [(one.by_stranger, one.wait_s) for one in found.tried] == [
        (False, 0),
        (False, 86_400),
        (True, 0),
        (True, 86_400),
    ]
    for one in found.tried:
        success, tokens, coins = really(chain, position, one, hook=hook)
        assert isinstance(one.withdrawn.outcome, Passed if success else Refused), one
        if success:
            assert (one.withdrawn.token_raw, one.withdrawn.quote_raw) == (tokens, coins)


@pytest.mark.parametrize(
    ("contract", "is_refused", "passed"),
    [
        ("OwnerExitHook", True, [False] * 4),
        ("ClosingExitHook", True, [True, False, True, False]),
        # The honest double: the hook is called, and lets every holder go, as far as blocks were
        # simulated.
        ("OpenExitHook", None, [True] * 4),
    ],
)
async def test_a_hook_that_keeps_liquidity_is_told(
    chain: Chain,
    context: ChainContext,
    contract: str,
    passed: list[bool],
    *,
    is_refused: bool | None,
) -> None:
    position = hold(chain, stand(chain, contract, permissions=BEFORE_REMOVE))
    found = await withdrawals_of(context, position)
    assert [isinstance(one.withdrawn.outcome, Passed) for one in found.tried] == passed
    assert found.is_refused is is_refused
    assert {one.is_controller for one in found.tried} == {False}
    assert_as_real(chain, position, found)


@pytest.mark.parametrize(
    ("contract", "is_refused"), [("CountingExitHook", True), ("OpenExitHook", False)]
)
async def test_where_the_node_traces_calls_all_blocks_of_a_day_are_waited_for(
    chain: Chain, context: ChainContext, contract: str, *, is_refused: bool
) -> None:
    position = hold(chain, stand(chain, contract, permissions=BEFORE_REMOVE))
    found = await withdrawals_of(context, position, traces=True)
    assert {one.block.left_out for one in found.tried} == {0}
    passed = [isinstance(one.withdrawn.outcome, Passed) for one in found.tried]
    assert passed == [True, not is_refused] * 2
    assert found.is_refused is is_refused
    assert_as_real(chain, position, found, hook=contract)


async def test_that_its_owner_can_leave_says_nothing_of_others(
    chain: Chain, context: ChainContext
) -> None:
    hook = stand(chain, "OwnerExitHook", permissions=BEFORE_REMOVE)
    position = hold(chain, hook, holder=chain.world.owner)
    found = await withdrawals_of(context, position)
    passed = [isinstance(one.withdrawn.outcome, Passed) for one in found.tried]
    assert passed == [True, True, False, False]
    assert found.tried[0].is_controller
    assert found.is_refused is True
    assert_as_real(chain, position, found)


async def test_what_a_hook_keeps_of_a_withdrawal_is_no_pass(
    chain: Chain, context: ChainContext
) -> None:
    manager = chain.world.venues.v4.factory
    hook = stand(chain, "KeepingExitHook", manager, permissions=AFTER_REMOVE_TAKES)
    position = hold(chain, hook)
    found = await withdrawals_of(context, position)
    assert found.is_refused is True
    assert [one.brought_share for one in found.tried] == pytest.approx([0.1] * 4, abs=0.01)
    assert_as_real(chain, position, found)


async def test_where_no_holder_is_known_nothing_is_claimed(
    chain: Chain, context: ChainContext
) -> None:
    hook = stand(chain, "OpenExitHook", permissions=BEFORE_REMOVE)
    token = place(chain, "v4", "HonestToken", (Position(lower=-100, upper=100),), hooks=hook)
    (pool,) = (await find_hooks(context, token.address)).pools
    assert (pool.leaving.tried, pool.leaving.is_refused) == ((), None)
    assert pool.leaving.reason


@pytest.mark.parametrize(
    ("hook", "is_refused", "passed"),
    [("keeps", True, [False] * 4), ("frees", None, [True] * 4)],
)
async def test_liquidity_leaves_infinity_as_its_hook_lets_it(
    chain: Chain,
    context: ChainContext,
    hook: infinity.Hook,
    passed: list[bool],
    *,
    is_refused: bool | None,
) -> None:
    position, dex = hold_on_infinity(chain, hook)
    found = await withdrawals_of(context, position, dex)
    assert [isinstance(one.withdrawn.outcome, Passed) for one in found.tried] == passed
    assert found.is_refused is is_refused
    assert_as_real(chain, position, found)


class HeldBins(Held, frozen=True, kw_only=True):
    """Token in a hooked pool of bins, with shares of an account."""

    bins: BinPool

    def hand_over(self, chain: Chain, receiver: Address) -> None:
        assert self.bins.hand_over(chain, self.holder, receiver).success

    def leave(self, chain: Chain, actor: Address, receiver: Address) -> bool:
        return self.bins.redeem(chain, actor, receiver).success


@pytest.mark.parametrize(
    ("hook", "is_refused", "passed", "brought"),
    [
        ("keeps", True, [False] * 4, None),
        ("taxes", True, [True] * 4, 0.1),
        ("frees", None, [True] * 4, 1),
    ],
)
async def test_bins_of_infinity_leave_as_their_hook_lets_them(
    chain: Chain,
    context: ChainContext,
    hook: infinity_bin.Hook,
    passed: list[bool],
    *,
    is_refused: bool | None,
    brought: float | None,
) -> None:
    market = infinity_bin.place(chain, hook=hook, is_coin=True)
    someone = chain.fresh_account(native_wei=100 * 10**18)
    bins = bin_pools.open_infinity(chain, market)
    bins.add(chain, someone)
    position = HeldBins(token=market.token, manager=bins.tokens, holder=someone, bins=bins)
    found = await withdrawals_of(context, position, market.dex)
    assert [isinstance(one.withdrawn.outcome, Passed) for one in found.tried] == passed
    assert found.is_refused is is_refused
    if brought is not None:
        assert [one.brought_share for one in found.tried] == pytest.approx([brought] * 4, abs=0.01)
    assert_as_real(chain, position, found)
