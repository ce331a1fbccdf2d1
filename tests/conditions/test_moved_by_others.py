"""The oracle for state that others move: its effect on real sales, and the report before it."""

import json
from collections.abc import Callable
from typing import Final

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.exit_quote import RequestedSize, quote_exit
from assay.demo.layout import ZooToken
from core.evm.primitives import Address
from core.report.report import Report
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps

DEAD: Final = Address("0x000000000000000000000000000000000000dead")
ONE: Final = Address("0x" + "0" * 39 + "1")

Act = Callable[[Chain, ZooToken, Address], object]
"""An act of another account before a trader sells."""


def name_pool(chain: Chain, token: ZooToken, _trader: Address) -> None:
    pool = token.pool.address
    assert chain.send(token.owner, token.address, "act(address)", pool).success


def burn(chain: Chain, token: ZooToken, _trader: Address) -> None:
    assert chain.transfer(token.address, token.owner, DEAD, 1).success


def approve_liquidity(chain: Chain, token: ZooToken, _trader: Address) -> None:
    assert chain.approve(token.pool.address, token.owner, ONE, 1).success


def send_dust(chain: Chain, token: ZooToken, _trader: Address) -> None:
    giver = chain.fresh_account()
    chain.buy(token, giver)
    quote = token.pool.quote
    assert chain.send(giver, quote, "deposit()", value_wei=5).success
    assert chain.send(giver, quote, "transfer(address,uint256)", token.address, 1).success


def delegate(chain: Chain, _token: ZooToken, trader: Address) -> None:
    chain.node.rpc("anvil_setCode", trader, "0xef0100" + "7" * 40)


def sell_often(chain: Chain, token: ZooToken, _trader: Address) -> None:
    seller = chain.fresh_account()
    assert chain.buy(token, seller).success
    for _ in range(6):
        chain.sell(token, seller, 10**12)


def buy_half(chain: Chain, token: ZooToken, _trader: Address) -> None:
    coins_raw = chain.balance(token.pool.quote, token.pool.address)
    assert chain.buy(token, chain.fresh_account(), coins_raw).success


def sell_much(chain: Chain, token: ZooToken, _trader: Address) -> None:
    amount_raw = chain.balance(token.address, token.owner)
    assert chain.sell(token, token.owner, amount_raw).success


def send_odd(chain: Chain, token: ZooToken, trader: Address) -> None:
    more = (0xDEAD - chain.balance(token.address, trader)) % 2**16
    assert chain.transfer(token.address, token.owner, trader, more).success


def fill(chain: Chain, token: ZooToken, _trader: Address) -> None:
    account = Address("0x1111222233334444555566667777888899990000")
    assert chain.transfer(token.address, token.owner, account, 1).success


def fill_well(chain: Chain, token: ZooToken, _trader: Address) -> None:
    account = Address("0x1111222233334444555566667777888899990000")
    assert chain.transfer(token.address, token.owner, account, 2 * 10**18).success


def burn_some(chain: Chain, token: ZooToken, _trader: Address) -> None:
    assert chain.send(token.owner, token.address, "burn(uint256)", 2 * 10**18).success


def feel(chain: Chain, token: ZooToken, _trader: Address) -> None:
    stranger = chain.fresh_account()
    assert chain.send(stranger, token.address, "feel(uint256)", 2**200).success


def claim_and_burn(chain: Chain, token: ZooToken, trader: Address) -> None:
    assert chain.send(trader, token.address, "claim()").success
    burn(chain, token, trader)


def set_shares(chain: Chain, token: ZooToken, _trader: Address) -> None:
    chain.send(token.owner, token.address, "setShares(uint256)", 1)


ROWS: Final[tuple[tuple[str, str, Act, str], ...]] = (
    ("NamedPoolToken", "NamedFeeToken", name_pool, "power"),
    ("NamedTaxToken", "NamedFeeToken", name_pool, "power"),
    ("BurntSwitchToken", "BurntShareToken", burn, "condition"),
    ("ConstantHolderToken", "ConstantFeeToken", fill, "untested"),
    ("ApprovalSwitchToken", "ReserveReaderToken", approve_liquidity, "untested"),
    ("DustSwitchToken", "DustCounterToken", send_dust, "condition"),
    ("NoWalletCodeToken", "WalletCodeToken", delegate, "condition"),
    ("NarrowCountToken", "WideCountToken", sell_often, "crowd"),
    ("RisingTaxToken", "FallingTaxToken", sell_often, "tax"),
    ("PriceTaxToken", "PriceFeeToken", buy_half, "tax"),
    ("FullPoolToken", "FullPoolFeeToken", sell_much, "crowd"),
    ("OddBalanceToken", "WideCountToken", send_odd, "untested"),
    ("HalfShownToken", "NamedFeeToken", name_pool, "disguise"),
    ("SaysNoToken", "NamedFeeToken", name_pool, "disguise"),
    ("HeldDifferenceToken", "HeldTotalToken", fill_well, "untested"),
    ("OpenProductToken", "OpenRecordToken", feel, "crowd"),
    ("OpenTypeToken", "OpenRecordToken", feel, "crowd"),
    ("SupplyDifferenceToken", "SupplyShareToken", burn_some, "crowd"),
    ("SupplyCapToken", "SupplyShareToken", burn_some, "crowd"),
    ("OpenLoopToken", "ListLoopToken", feel, "crowd"),
    ("ClaimedSwitchToken", "ClaimedShareToken", claim_and_burn, "untested"),
    ("BurntArgumentToken", "NoSharesToken", burn, "untested"),
    ("OwnersArgumentToken", "NoSharesToken", set_shares, "power"),
    ("SyncedSaleToken", "ReadSaleToken", burn, "condition"),
    ("OwnRelayToken", "OwnGetterToken", burn, "untested"),
    ("FailingGetterToken", "OwnGetterToken", burn, "untested"),
    ("AllGasToken", "LittleGasToken", feel, "untested"),
    ("CoinFundToken", "CoinShareToken", sell_often, "untested"),
)


def signs_of(report: Report) -> set[str]:
    """Return the kinds of findings that keep a token from being safe."""
    scan = report.scan
    found = {
        "condition": scan.sell_depends_on_conditions,
        "crowd": scan.sell_blocked_after_others,
        "tax": scan.sell_tax_rises,
        "untested": scan.untested_conditions,
        "power": scan.hidden_owner_controls
        and any(
            power.check == "hidden_owner_controls" and not power.is_harmless
            for power in report.powers
        ),
    }
    found["disguise"] = any(power.what == "disguise" for power in report.powers)
    return {name for name, sign in found.items() if sign is not False}


def is_harmed(chain: Chain, token: ZooToken, act: Act) -> bool:
    """True if a buyer can no longer sell for half of its tokens' worth after the act."""
    trader = chain.fresh_account()
    assert chain.buy(token, trader).success
    act(chain, token, trader)
    balance_raw = chain.balance(token.address, trader)
    sold = chain.sell(token, trader, balance_raw)
    return not sold.success or sold.pool_in < balance_raw // 2


@pytest.mark.parametrize(("trap", "double", "act", "sign"), ROWS, ids=[row[0] for row in ROWS])
async def test_a_trap_is_reported_before_it_shuts(
    chain: Chain, context: ChainContext, trap: str, double: str, act: Act, sign: str
) -> None:
    chain = with_traps(chain)
    token = place(chain, trap, knows_pair=True)
    chain.node.rpc("anvil_setBalance", token.address, hex(4))
    assert sign in signs_of(await judge(context, token.address))
    assert is_harmed(chain, token, act)


async def test_a_heavy_tax_refuses_no_sale_after_others(
    chain: Chain, context: ChainContext
) -> None:
    chain = with_traps(chain)
    token = place(chain, "HighTaxToken", knows_pair=True)
    report = await judge(context, token.address)
    [pool] = report.pools or ()
    assert pool.sell == "passed"
    assert pool.sell_tax == pytest.approx(61, abs=0.1)
    assert report.scan.sell_blocked_after_others is False
    trader = chain.fresh_account()
    assert chain.buy(token, trader).success
    buy_half(chain, token, trader)
    assert chain.sell(token, trader).success


async def test_fees_sold_within_a_sale_are_a_loss_and_no_tax(
    chain: Chain, context: ChainContext
) -> None:
    chain = with_traps(chain)
    token = place(chain, "SellsItsFeesToken", knows_pair=True)
    report = await judge(context, token.address)
    quote = await quote_exit(context, token.address, report, RequestedSize())
    [part] = quote.lines[0].parts
    assert part.loss_pct is None
    collected_raw = chain.balance(token.address, token.owner) // 2
    assert chain.transfer(token.address, token.owner, token.address, collected_raw).success
    report = await judge(context, token.address)
    [pool] = report.pools or ()
    assert pool.sell == "passed"
    assert pool.sell_tax == 0
    assert any('"loss":2.' in row.body for row in report.evidence)
    quote = await quote_exit(context, token.address, report, RequestedSize())
    [part] = quote.lines[0].parts
    assert part.tax_pct == 0
    assert part.loss_pct == pytest.approx(2.4, abs=0.2)
    seller = chain.fresh_account()
    assert chain.transfer(token.address, token.owner, seller, part.amount_raw).success
    sold = chain.sell(token, seller, part.amount_raw)
    assert sold.other_after - sold.other_before == part.proceeds_raw


@pytest.mark.parametrize("contract", ["NamedPoolToken", "HalfShownToken"])
async def test_the_evidence_names_what_the_owner_sets(
    chain: Chain, context: ChainContext, contract: str
) -> None:
    chain = with_traps(chain)
    report = await judge(context, place(chain, contract, knows_pair=True).address)
    [row] = [row for row in report.evidence if row.key == "powers"]
    functions = [
        function
        for power in json.loads(row.body)["powers"]
        if power["check"] == "hidden_owner_controls"
        for function in power["functions"]
    ]
    assert functions
    assert all(function["slots"] and function["callers"] for function in functions)


@pytest.mark.parametrize(("double", "act"), dict.fromkeys((row[1], row[2]) for row in ROWS))
async def test_its_honest_double_is_not(
    chain: Chain, context: ChainContext, double: str, act: Act
) -> None:
    chain = with_traps(chain)
    token = place(chain, double, knows_pair=True)
    assert not signs_of(await judge(context, token.address))
    assert not is_harmed(chain, token, act)
