"""A check before signing equals the real effect of the same transaction on its sender."""

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.trade_check import TradeCheck, check_trade
from analysis.quotes.unsigned_trade import TradeRefusedError, UnsignedTrade
from assay.demo.anvil import quantity
from assay.demo.layout import ZooToken, native_worth
from assay.demo.trader import Call, buy_call, sell_call, spender_of
from core.evm.abi import call_data
from core.evm.primitives import ZERO_ADDRESS, Address, HexBytes, RawAmount
from tests.harness.chain.contexts import LACKING, Lacking, judge
from tests.harness.chain.transactions import Chain
from tests.harness.quotes.quote_traps import place, with_traps

KEEPER = Address("0x" + "00" * 18 + "beef")


@pytest.fixture
def traps(chain: Chain) -> Chain:
    return with_traps(chain)


def given_trade(ask: UnsignedTrade, call: Call) -> UnsignedTrade:
    return msgspec.structs.replace(
        ask, router=call.to, data=HexBytes(call.data), value_wei=call.value_wei
    )


def sale_of(token: ZooToken, sender: Address, amount: int, *, router: str = "") -> UnsignedTrade:
    return UnsignedTrade(
        token=token.address,
        side="sell",
        amount_raw=RawAmount(amount),
        sender=sender,
        router=router,
    )


def holder(chain: Chain, token: ZooToken, amount: int = 10**21) -> Address:
    account = chain.fresh_account()
    chain.send(token.owner, token.address, "transfer(address,uint256)", account, amount)
    return account


def coins(chain: Chain, account: Address) -> int:
    return quantity(chain.node.rpc("eth_getBalance", account, "latest"))


def changes(check: TradeCheck) -> dict[Address, int]:
    return {each.token: each.change_raw for each in check.changes}


def really(
    chain: Chain, sender: Address, call: Call, *contracts: Address, approves: tuple[Address, int]
) -> tuple[bool, dict[Address, int]]:
    """Send approval and call; return success and the changes of the sender's balances, gas put
    back."""

    def balances() -> dict[Address, int]:
        balances_before = {contract: chain.balance(contract, sender) for contract in contracts}
        return {ZERO_ADDRESS: coins(chain, sender), **balances_before}

    before = balances()
    token, amount = approves
    fees = chain.approve(token, sender, call.to, amount).fee_wei
    receipt = chain.node.execute(call.sent_by(sender, gas=3_000_000))
    fees += quantity(receipt["gasUsed"]) * quantity(receipt["effectiveGasPrice"])
    after = balances()
    after[ZERO_ADDRESS] += fees
    changed = {one: after[one] - before[one] for one in before if after[one] != before[one]}
    return receipt["status"] == "0x1", changed


@pytest.mark.parametrize("kind", ["HonestToken", "RisingTaxToken", "LyingLogToken"])
@pytest.mark.parametrize("back_end", ["simulate", "traces"])
async def test_a_sale_does_what_was_said(
    traps: Chain, context: ChainContext, kind: str, back_end: str
) -> None:
    token = place(traps, kind, knows_pair=kind == "RisingTaxToken")
    sender = holder(traps, token)
    call = sell_call(traps.world.venues, token, trader=sender, token_raw=10**20)
    report = await judge(context, token.address)
    there = msgspec.structs.replace(context, node=Lacking(context.node, LACKING[back_end]))
    check = await check_trade(there, given_trade(sale_of(token, sender, 10**20), call), report)
    assert (check.outcome, check.reason) == ("passed", "")
    assert check.approval is not None
    assert check.approval.passed
    success, changed = really(traps, sender, call, token.address, approves=(token.address, 10**20))
    assert success
    assert set(changed) == {token.address, ZERO_ADDRESS}
    if back_end == "traces":  # which report no gas
        del changed[ZERO_ADDRESS]
    assert changes(check) == changed
    assert check.tax_pct == pytest.approx(2.0 if kind == "RisingTaxToken" else 0.0, abs=0.01)
    assert ("events_disagree" in check.warnings) is (kind == "LyingLogToken")
    assert set(check.warnings) <= {"events_disagree", "not_all_read"}
    assert ("not_all_read" in check.warnings) is (back_end == "traces")


async def test_what_else_a_router_takes_is_said(traps: Chain, context: ChainContext) -> None:
    token = place(traps)
    dollar, other = traps.world.venues.stables[0].address, traps.world.token("honest")
    owners = {dollar: traps.world.deployer, other.address: other.owner}
    keeper = traps.fresh_account()
    for takes in (ZERO_ADDRESS, dollar, other.address):
        router = traps.deploy("SellRouter", takes, keeper)
        sender = holder(traps, token)
        for contract, owner in owners.items():
            traps.send(owner, contract, "transfer(address,uint256)", sender, 5 * 10**9)
            traps.approve(contract, sender, router, 6 * 10**9)
        data = call_data("sell(address,address,uint256)", token.address, token.pool.address, 10**19)
        call = Call(to=router, data=data)
        ask = given_trade(sale_of(token, sender, 10**19), call)
        check = await check_trade(context, ask, None)
        contracts = (token.address, token.pool.quote, *owners)
        success, changed = really(traps, sender, call, *contracts, approves=(token.address, 10**19))
        assert success
        assert changes(check) == changed
        assert [one for one in owners if one in changed] == [one for one in owners if one == takes]
        taken = () if takes == ZERO_ADDRESS else ("other_token_leaves",)
        assert tuple(each for each in check.warnings if each != "allowance_left") == taken
        assert check.tax_pct is None


async def test_an_allowance_that_a_trade_leaves_is_said(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "AllowingToken", knows_pair=False)
    sender = holder(traps, token)
    call = sell_call(traps.world.venues, token, trader=sender, token_raw=10**19)
    check = await check_trade(context, given_trade(sale_of(token, sender, 10**19), call), None)
    assert check.outcome == "passed"
    assert "allowance_to_other" in check.warnings
    (left,) = [each for each in check.allowances if each.after_raw]
    assert (left.key.token, left.key.spender) == (token.address, KEEPER)
    assert left.after_raw == 2**256 - 1


async def test_an_allowance_to_the_router_that_stays_is_said(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps)
    sender = holder(traps, token)
    traps.approve(token.address, sender, spender_of(traps.world.venues, token.pool))
    call = sell_call(traps.world.venues, token, trader=sender, token_raw=10**19)
    check = await check_trade(context, given_trade(sale_of(token, sender, 10**19), call), None)
    assert check.approval is None
    assert check.warnings == ("allowance_left",)


@pytest.mark.parametrize("quote", ["native", "stable"])
async def test_a_buy_made_here_brings_what_a_real_one_brings(
    chain: Chain, context: ChainContext, quote: str
) -> None:
    token = chain.world.token("buy_tax" if quote == "native" else "v2_usdc")
    sender, paid = chain.fresh_account(), chain.quote_worth(token, 30)
    ask = UnsignedTrade(
        token=token.address,
        side="buy",
        amount_raw=RawAmount(paid),
        sender=sender,
        router=token.pool.dex,
    )
    check = await check_trade(context, ask, await judge(context, token.address))
    bought = chain.buy(token, sender, paid)
    assert check.outcome == "passed"
    assert check.call.is_ours
    assert changes(check)[token.address] == bought.token_after
    assert check.has_given_tokens is (quote == "stable")
    tax = 100 * (1 - bought.token_after / bought.pool_out)
    assert check.tax_pct == pytest.approx(tax, abs=0.001)


async def test_a_sender_without_means_is_given_them_and_it_is_said(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps)
    poor = traps.fresh_account(native_wei=0)
    ask = sale_of(token, poor, 10**19, router=token.pool.dex)
    check = await check_trade(context, ask, None)
    assert check.outcome == "passed"
    assert (check.has_given_coins, check.has_given_tokens) == (True, True)
    assert "hypothetical" in check.warnings
    rich = holder(traps, token, 10**19)
    real = await check_trade(context, msgspec.structs.replace(ask, sender=rich), None)
    assert "hypothetical" not in real.warnings
    assert changes(real) == changes(check)


async def test_what_reverts_for_real_reverts_with_its_reason(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "SmallSalesToken")
    sender = holder(traps, token, 10**22)
    call = sell_call(traps.world.venues, token, trader=sender, token_raw=10**22)
    check = await check_trade(context, given_trade(sale_of(token, sender, 10**22), call), None)
    traps.approve(token.address, sender, call.to, 10**22)
    assert traps.node.execute(call.sent_by(sender, gas=3_000_000))["status"] == "0x0"
    assert (check.outcome, check.warnings) == ("reverted", ("reverts",))
    assert check.reason == "TransferHelper: TRANSFER_FROM_FAILED"
    assert check.changes == ()


async def test_odd_targets_are_named(chain: Chain, context: ChainContext) -> None:
    token, sender = chain.world.token("honest"), chain.fresh_account()
    nobody = chain.fresh_account()
    buy = buy_call(chain.world.venues, token, trader=sender, quote_raw=native_worth(30))
    ask = UnsignedTrade(
        token=token.address,
        side="buy",
        amount_raw=RawAmount(native_worth(30)),
        sender=sender,
        router="",
    )
    empty = await check_trade(context, given_trade(ask, Call(to=nobody, data=buy.data)), None)
    assert {"router_has_no_code", "nothing_arrives"} <= set(empty.warnings)
    itself = await check_trade(
        context, given_trade(ask, Call(to=token.address, data=buy.data)), None
    )
    assert "router_is_token" in itself.warnings
    with pytest.raises(TradeRefusedError) as unknown:
        await check_trade(context, msgspec.structs.replace(ask, router=nobody), None)
    assert unknown.value.argument == "router"


async def test_where_nothing_can_act_as_the_sender_it_is_unknown(
    chain: Chain, context: ChainContext
) -> None:
    token, sender = chain.world.token("honest"), chain.fresh_account()
    bare = msgspec.structs.replace(context, node=Lacking(context.node, LACKING["calls"]))
    ask = sale_of(token, sender, 10**18, router=token.pool.dex)
    check = await check_trade(bare, ask, None)
    assert check.outcome == "unknown"
    assert check.reason
    assert check.changes == ()
