"""Protects pools of bins of PancakeSwap Infinity, entries of a manager whose tokens lie in a vault:
they are found, worth what their bins hold, and what the service says of trades is what then
happens."""

from math import log
from typing import Final, Literal

import pytest
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import NATIVE_USD
from config.chains import Dex
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.chain.token_analysis import judge
from tests.harness.chain.transactions import Chain
from tests.harness.node.log_limited_node import LogLimitedNode
from tests.harness.venues import further_venues
from tests.harness.venues.further_venues import QUOTE_RAW, TOKEN_RAW, Market
from tests.liquidity.test_pools import context_with
from tests.venues.test_matrix import with_dexes

KEY = "(address,address,address,address,uint24,bytes32)"
FEE, STEP = 2_500, 25
BINS, GAP = 8, 3
"""Bins on each side of the price, and the empty ones from each to the next: a large buy goes
through several."""
MOST_FILLED = 50
"""Bins on each side that one transaction fills."""
BEFORE_SWAP = 1 << 6

Hook = Literal["closed", "open", "frees", "keeps", "taxes"]
EXITS: Final = {
    "frees": (0, 1 << 4),
    "keeps": (1, 1 << 4),
    "taxes": (2, 1 << 5 | 1 << 13),
}
"""Hooks that are asked about liquidity that leaves: their mode and permissions."""


def place(
    chain: Chain,
    contract: str = "HonestToken",
    *,
    blocks: Literal["vault", "manager"] = "vault",
    hook: Hook | None = None,
    is_coin: bool = False,
    token_raw: int = TOKEN_RAW,
    quote_raw: int = QUOTE_RAW,
    bins: int = BINS,
    gap: int = GAP,
) -> Market:
    """A token and its pool. `blocks`: what the token takes for its pool. `hook`: one that refuses
    the token as payment, or nothing; that liquidity leaves freely, its maker's only, or a tenth of
    it."""
    opening = further_venues.prepare(chain, is_coin=is_coin)
    pipeline, maker = opening.pipeline, opening.maker
    vault = pipeline.deploy("InfinityVault", sender=maker)
    manager = pipeline.deploy("InfinityBinManager", vault, sender=maker)
    router = pipeline.deploy("InfinityBinRouter", vault, sender=maker)
    pipeline.call(vault, "registerApp(address)", manager, sender=maker)
    hooks, permissions = ZERO_ADDRESS, 0
    if hook in EXITS:
        mode, permissions = EXITS[hook]
        hooks = pipeline.deploy("InfinityBinExitHook", vault, mode, sender=maker)
    elif hook is not None:
        blocked, permissions = opening.token if hook == "closed" else maker, BEFORE_SWAP
        hooks = pipeline.deploy("InfinityBinHook", blocked, sender=maker)
    parameters = STEP << 16 | permissions
    tokens, (usual_x, usual_y) = opening.sides
    key = (*tokens, hooks, manager, FEE, parameters.to_bytes(32))
    active = 2**23 + round(log(usual_y / usual_x) / log(1 + STEP / 10_000))
    pipeline.call(manager, f"initialize({KEY},uint24)", key, active, sender=maker)
    pipeline.flush()
    opening.release(contract, {"vault": vault, "manager": manager}[blocks], spender=router)
    amounts = (token_raw, quote_raw) if tokens[0] == opening.token else (quote_raw, token_raw)
    for first in range(0, bins, MOST_FILLED):
        count = min(MOST_FILLED, bins - first)
        parts = [amount * count // bins for amount in amounts]
        pipeline.call(
            router,
            f"fill({KEY},uint24,uint24,uint24,uint256,uint256)",
            *(key, first * gap, count, gap, *parts),
            sender=opening.owner,
            value_wei=quote_raw * count // bins if is_coin else 0,
        )
    pipeline.flush()

    def swap_data(_: Address, paid: Address, amount: int) -> tuple[Address, str]:
        return router, call_data(f"swap({KEY},bool,uint256)", key, paid == tokens[0], amount)

    return Market(
        dex=Dex(
            name="PancakeSwap Infinity Bin",
            kind="AmmV4",
            variant="infinity_bin",
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


@pytest.mark.parametrize(
    ("contract", "blocks", "is_coin"),
    [
        ("HonestToken", "vault", False),
        ("HonestToken", "vault", True),
        ("TransferTaxToken", "vault", True),
        ("BuyTaxToken", "vault", False),
        ("SellTaxToken", "vault", True),
        ("SellBlockedToken", "vault", False),
        # The honest double: nothing is ever sent to the manager.
        ("SellBlockedToken", "manager", True),
    ],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain,
    context: ChainContext,
    contract: str,
    blocks: Literal["vault", "manager"],
    *,
    is_coin: bool,
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


@pytest.mark.parametrize("bins", [8, 20])
async def test_bins_that_end_are_not_the_tokens_fault(
    chain: Chain, context: ChainContext, *, bins: int
) -> None:
    """The real trade fails too, for want of tokens to buy: that is said, and no refusal, nor for
    the gas of the way through all of them."""
    market = place(chain, token_raw=10**15, bins=bins)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert not further_venues.buy(chain, market, chain.fresh_account()).success
    assert (row.buy, row.sell) == (None, None)
    assert row.error_code == "missing_swap_parameters"


async def test_a_pool_that_opens_with_tokens_only_is_bought_from(
    chain: Chain, context: ChainContext
) -> None:
    market = place(chain, quote_raw=0)
    await further_venues.assert_foretold(chain, with_dexes(context, (market.dex,)), market)


@pytest.mark.parametrize("is_coin", [False, True])
async def test_the_pool_is_worth_what_its_bins_hold(
    chain: Chain, context: ChainContext, *, is_coin: bool
) -> None:
    market = place(chain, is_coin=is_coin)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd == pytest.approx(QUOTE_RAW / 1e18 * NATIVE_USD)
    price_usd = QUOTE_RAW / TOKEN_RAW * NATIVE_USD
    assert row.token_usd == pytest.approx(price_usd, rel=STEP / 10_000)


async def test_of_too_many_bins_the_nearest_are_counted(
    chain: Chain, context: ChainContext
) -> None:
    market = place(chain, bins=250, gap=10)
    report = await judge(with_dexes(context, (market.dex,)), market.token)
    assert report.pools is not None
    (row,) = report.pools
    assert row.quote_side_usd is not None
    assert 0.1 < row.quote_side_usd / (QUOTE_RAW / 1e18 * NATIVE_USD) < 1
    assert (row.buy, row.sell) == ("passed", "passed")


@pytest.mark.parametrize("hook", [None, "open"])
async def test_what_the_follower_reads_is_enough_without_logs(
    chain: Chain, context: ChainContext, hook: Hook | None
) -> None:
    market = place(chain, hook=hook)
    row = further_venues.assert_followed(chain, market)
    assert (row.fee, row.tick_spacing, row.hooks is None) == (FEE, STEP, hook is None)
    market_context = with_dexes(context, (market.dex,))
    report = await judge(
        context_with(market_context, rows=[row], node=LogLimitedNode(market_context.node)),
        market.token,
    )
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.buy, pool.sell) == ("passed", "passed")
