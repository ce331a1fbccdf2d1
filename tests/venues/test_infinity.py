"""Protects pools of PancakeSwap Infinity, entries of a manager whose tokens lie in a vault: they
are found, worth what was put into them, and what the service says of trades is what then happens.
"""

from typing import Literal

import msgspec
import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from assay.demo.transaction_pipeline import Pipeline
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.node.log_limited_node import LogLimitedNode
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, Market, Opening
from tests.liquidity.test_pools import context_with
from tests.venues.test_matrix import with_dexes

KEY = "(address,address,address,address,uint24,bytes32)"
FEE, SPACING, OUTERMOST = 2_500, 50, 887_250
BEFORE_REMOVE, BEFORE_SWAP = 1 << 4, 1 << 6

Blocks = Literal["vault", "manager"]
Hook = Literal["closed", "open", "keeps", "frees"]


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    blocks: Blocks = "vault",
    hook: Hook | None = None,
    is_coin: bool = False,
) -> Market:
    """A token and its pool. `blocks`: what the token takes for its pool. `hook`: one that refuses
    the token as payment, or nothing; or that liquidity is removed by others, or nothing."""
    opening = further_venues.prepare(chain, is_coin=is_coin)
    pipeline, maker = opening.pipeline, opening.maker
    vault = pipeline.deploy("InfinityVault", sender=maker)
    manager = pipeline.deploy("InfinityManager", vault, sender=maker)
    router = pipeline.deploy("InfinityRouter", vault, sender=maker)
    pipeline.call(vault, "registerApp(address)", manager, sender=maker)
    hooks, permissions = ZERO_ADDRESS, 0
    if hook in ("closed", "open"):
        blocked = opening.token if hook == "closed" else maker
        hooks, permissions = pipeline.deploy("InfinityHook", blocked, sender=maker), BEFORE_SWAP
    elif hook is not None:
        freed = hook == "frees"
        hooks, permissions = pipeline.deploy("InfinityExitHook", freed, sender=maker), BEFORE_REMOVE
    parameters = SPACING << 16 | permissions
    tokens, _ = opening.sides
    key = (*tokens, hooks, manager, FEE, parameters.to_bytes(32))
    pipeline.call(manager, f"initialize({KEY},uint160)", key, opening.price, sender=maker)
    pipeline.flush()
    opening.release(contract, {"vault": vault, "manager": manager}[blocks], spender=router)
    fill(pipeline, opening, router, key)

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        signature = f"swap({KEY},bool,uint256)"
        return router, call_data(signature, key, paid == tokens[0], amount)

    return Market(
        dex=Dex(
            name="PancakeSwap Infinity CL",
            kind="AmmV4",
            variant="infinity_cl",
            factory=manager,
            vault=vault,
            from_block=0,
        ),
        token=opening.token,
        quote=opening.quote,
        holder=vault,
        key=Hash32("0x" + keccak(encode([KEY], [key])).hex()),
        emitter=manager,
        spender=router,
        swap_data=swap_data,
    )


def fill(pipeline: Pipeline, opening: Opening, router: Address, key: tuple[object, ...]) -> None:
    """The owner brings both sides, over all prices."""
    pipeline.call(
        *(router, f"fill({KEY},int24,int256)", key, OUTERMOST, opening.liquidity),
        sender=opening.owner,
        value_wei=QUOTE_RAW if opening.quote == ZERO_ADDRESS else 0,
    )
    pipeline.flush()


@pytest.mark.parametrize(
    ("contract", "blocks", "is_coin"),
    [
        ("HonestToken", "vault", False),
        ("HonestToken", "vault", True),
        ("TransferTaxToken", "vault", True),
        ("BuyTaxToken", "vault", True),
        ("SellTaxToken", "vault", False),
        ("SellBlockedToken", "vault", False),
        ("SellBlockedToken", "vault", True),
        # The honest double: nothing is ever sent to the manager.
        ("SellBlockedToken", "manager", True),
    ],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, contract: str, blocks: Blocks, *, is_coin: bool
) -> None:
    market = place(chain, contract, blocks=blocks, is_coin=is_coin)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


@pytest.mark.parametrize(("hook", "sale"), [("closed", "refused"), ("open", "passed")])
async def test_a_hook_decides_about_sales(
    chain: Chain, context: ChainContext, hook: Hook, sale: str
) -> None:
    market = place(chain, hook=hook, is_coin=True)
    market_context = with_dexes(context, (market.dex,))
    row = await further_venues.assert_foretold(chain, market_context, market)
    assert row.sell == sale


async def test_the_pool_is_worth_what_was_put_into_it(chain: Chain, context: ChainContext) -> None:
    market = place(chain)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    balance = chain.balance(market.quote, market.holder)
    assert row.quote_side_usd == pytest.approx(balance / 1e18 * NATIVE_USD, rel=1e-3)


@pytest.mark.parametrize("hook", [None, "open"])
async def test_what_the_follower_reads_is_enough_without_logs(
    chain: Chain, context: ChainContext, hook: Hook | None
) -> None:
    """Then it is worth at least what is around the price, and traded by its id alone."""
    market = place(chain, hook=hook)
    row = further_venues.assert_followed(chain, market)
    assert (row.fee, row.tick_spacing, row.hooks is None) == (FEE, SPACING, hook is None)
    settings = msgspec.structs.replace(context.settings, min_liquidity_usd=1e-3)
    market_context = with_dexes(msgspec.structs.replace(context, settings=settings), (market.dex,))
    report = await judge(
        context_with(market_context, rows=[row], node=LogLimitedNode(market_context.node)),
        market.token,
    )
    assert report.pools is not None
    (pool,) = report.pools
    held_usd = chain.balance(market.quote, market.holder) / 1e18 * NATIVE_USD
    assert pool.quote_side_usd is not None
    assert 0 < pool.quote_side_usd < held_usd / 100
    assert (pool.buy, pool.sell) == ("passed", "passed")


async def test_the_vault_is_no_large_holder(chain: Chain, context: ChainContext) -> None:
    market = place(chain)
    market_context = with_dexes(context, (market.dex,))
    assert market.holder in market_context.chain.custodians
    report = await judge(market_context, market.token)
    holders = {row.owner: row.amount_raw for row in report.holders}
    assert holders[market.holder] == chain.balance(market.token, market.holder)
