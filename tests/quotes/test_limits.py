"""Limits that are found equal those that real transactions meet: one unit more reverts."""

from collections.abc import Callable

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.limit_inquiry import LimitFindings, TokenLimit, find_limits
from analysis.scenarios.trade.limit_probes import LimitKind
from assay.demo.anvil import ETHER
from assay.demo.layout import ZooToken
from assay.demo.trader import Call, spender_of
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.quotes.quote_traps import place, with_traps

_SUPPLY = 1_000_000 * ETHER
_FAR = 2**40

_BUY_EXACTLY = "swapETHForExactTokens(uint256,address[],address,uint256)"


@pytest.fixture
def traps(chain: Chain) -> Chain:
    return with_traps(chain)


async def limits_of(context: ChainContext, token: ZooToken) -> LimitFindings:
    return await find_limits(context, token.address, await judge(context, token.address))


def limit(found: LimitFindings, kind: LimitKind) -> TokenLimit:
    return next(one for one in found.limits if one.kind == kind)


def give(chain: Chain, token: ZooToken, account: Address, amount_raw: int) -> bool:
    return chain.transfer(token.address, token.owner, account, amount_raw).success


def sells(chain: Chain, token: ZooToken, amount_raw: int) -> bool:
    seller = chain.fresh_account()
    assert give(chain, token, seller, amount_raw)
    return chain.sell(token, seller, amount_raw).success


def buys(chain: Chain, token: ZooToken, amount_raw: int) -> bool:
    buyer = chain.fresh_account(native_wei=10_000_000 * ETHER)
    path = [chain.world.venues.wrapped_native.address, token.address]
    data = call_data(_BUY_EXACTLY, amount_raw, path, buyer, _FAR)
    router = spender_of(chain.world.venues, token.pool)
    return chain.call(buyer, Call(to=router, data=data, value_wei=9_000_000 * ETHER)).success


def sends(chain: Chain, token: ZooToken, amount_raw: int) -> bool:
    """Send the amount from a wallet, or from the owner if no wallet may hold it."""
    sender, receiver = chain.fresh_account(), chain.fresh_account()
    if not give(chain, token, sender, amount_raw):
        return give(chain, token, receiver, amount_raw)
    return chain.transfer(token.address, sender, receiver, amount_raw).success


def holds(chain: Chain, token: ZooToken, amount_raw: int) -> bool:
    """Let an account buy a little on top of what it was given, up to the amount."""
    little = 10**12
    buyer = chain.fresh_account(native_wei=1_000 * ETHER)
    assert give(chain, token, buyer, amount_raw - little)
    path = [chain.world.venues.wrapped_native.address, token.address]
    data = call_data(_BUY_EXACTLY, little, path, buyer, _FAR)
    router = spender_of(chain.world.venues, token.pool)
    return chain.call(buyer, Call(to=router, data=data, value_wei=ETHER)).success


REAL: dict[LimitKind, Callable[[Chain, ZooToken, int], bool]] = {
    "buy": buys,
    "sale": sells,
    "transfer": sends,
    "holding": holds,
}


@pytest.mark.parametrize(
    ("contract", "expected", "floor_raw"),
    [
        (
            "FlooredLimitToken",
            dict.fromkeys(("buy", "sale", "transfer"), _SUPPLY // 100 + 7),
            1_000,
        ),
        ("MaxTransactionToken", dict.fromkeys(("buy", "sale", "transfer"), _SUPPLY // 100), 0),
        ("MaxWalletToken", dict.fromkeys(("buy", "transfer", "holding"), _SUPPLY // 50), 0),
        ("SmallSalesToken", {"sale": _SUPPLY // 200}, None),
        ("HonestToken", {}, None),
    ],
)
async def test_a_limit_is_what_real_transactions_meet(
    traps: Chain,
    context: ChainContext,
    contract: str,
    expected: dict[LimitKind, int],
    floor_raw: int | None,
) -> None:
    token = place(traps, contract, knows_pair=contract != "MaxTransactionToken")
    found = await limits_of(context, token)
    for kind, really in REAL.items():
        one = limit(found, kind)
        assert one.is_limited is (kind in expected), kind
        assert one.limit_raw == expected.get(kind)
        if one.limit_raw is None:
            continue
        assert one.refused_raw == one.limit_raw + 1
        assert one.is_confirmed is True
        for amount, passes in ((one.limit_raw, True), (one.refused_raw, False)):
            snapshot = traps.node.snapshot()
            assert really(traps, token, amount) is passes, (kind, amount)
            traps.node.revert(snapshot)
    capped = limit(found, "holding" if contract == "MaxWalletToken" else "transfer")
    if floor_raw is not None:
        assert capped.by_code_raw == capped.limit_raw
        assert capped.floor_raw == (_SUPPLY // floor_raw if floor_raw else 0)
    assert found.depends_on_balance is False
    assert found.buy_gas is not None
    assert found.sale_gas is not None
    assert 40_000 < found.sale_gas < 400_000


async def test_gas_is_what_real_trades_use(traps: Chain, context: ChainContext) -> None:
    token = place(traps)
    found = await limits_of(context, token)
    account = traps.fresh_account()
    bought = traps.buy(token, account)
    sold = traps.sell(token, account, traps.balance(token.address, account) // 2)
    assert found.buy_gas == pytest.approx(bought.sent.gas_used, rel=0.15)
    assert found.sale_gas == pytest.approx(sold.sent.gas_used, rel=0.15)


async def test_a_limit_that_differs_by_holder_shows(traps: Chain, context: ChainContext) -> None:
    token = place(traps, "LimitByHolderToken")
    holders = [traps.fresh_account() for _ in range(3)]
    for holder in holders:
        assert traps.buy(token, holder).success
    before = await limits_of(context, token)
    assert (before.differs_by_holder, before.holders_tried) == (False, 3)
    assert limit(before, "sale").limit_raw == _SUPPLY // 50
    less = traps.send(token.owner, token.address, "setLess(address,uint256)", holders[0], 5)
    assert less.success
    after = await limits_of(context, token)
    assert after.differs_by_holder is True
    assert limit(after, "sale").limit_raw == _SUPPLY // 50


async def test_a_limit_by_the_sellers_balance_is_no_number(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "HalfSalesToken")
    found = await limits_of(context, token)
    assert found.depends_on_balance is True
    sale = limit(found, "sale")
    assert (sale.limit_raw, sale.is_limited) == (None, None)
    assert limit(found, "transfer").is_limited is False


async def test_a_report_has_the_caps_of_the_code_in_percent(
    traps: Chain, context: ChainContext
) -> None:
    capped = (await judge(context, place(traps, "FlooredLimitToken").address)).scan
    assert capped.trading_cap_pct == pytest.approx(1, abs=1e-5)
    assert capped.position_cap_pct is None
    wallet = (await judge(context, place(traps, "MaxWalletToken").address)).scan
    assert wallet.position_cap_pct == 2
    assert (await judge(context, place(traps).address)).scan.trading_cap_pct is None
