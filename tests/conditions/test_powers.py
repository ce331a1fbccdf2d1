"""The oracle for powers: each is used on the chain, by every account that could, before trades."""

from collections.abc import Callable

import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.summary.power_checks import hurtful_powers
from assay.demo.layout import ZooToken
from core.evm.primitives import ZERO_ADDRESS, Address
from core.report.report import Report
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps

Act = tuple[str, *tuple[object, ...]]
"""Signature and arguments of a call by the owner."""

RENOUNCE: Act = ("renounceOwnership()",)
STOP: Act = ("setOpen(bool)", False)
BLOCK: Act = ("block_(address,bool)", ZERO_ADDRESS, True)


def kinds(report: Report, check: str) -> set[str]:
    return {power.holder_kind for power in report.powers if power.check == check}


def is_hurtful(report: Report) -> bool:
    """True if a power hurts; these tokens' liquidity is their owner's, which is another matter."""
    return any(power.what != "withdraw" for power in hurtful_powers(report))


def send(chain: Chain, token: ZooToken, act: Act, sender: Address | None = None) -> bool:
    signature, *arguments = act
    return chain.send(sender or token.owner, token.address, signature, *arguments).success


SET_UP: Act = ("setUp(address,uint256)", ZERO_ADDRESS, 1)

PAUSE, MINT, LIST, HIDDEN = (
    "pause_status_can_be_modified",
    "mint_or_burn_function",
    "has_blacklist_or_whitelist",
    "hidden_owner_controls",
)


@pytest.mark.parametrize(
    ("contract", "before", "check", "found", "use"),
    [
        ("PausedToken", (), PAUSE, {"wallet"}, STOP),
        ("PausedToken", (RENOUNCE,), PAUSE, {"nobody"}, STOP),
        (
            "PausedToken",
            (RENOUNCE,),
            LIST,
            {"nobody"},
            ("block_(address,bool)", ZERO_ADDRESS, True),
        ),
        ("ComesBackToken", (("lock(uint256)", 0),), PAUSE, {"wallet"}, ("unlock()",)),
        ("ComesBackToken", (RENOUNCE,), PAUSE, {"nobody"}, ("unlock()",)),
        ("FinishedMintToken", (), MINT, {"wallet"}, ("mint(address,uint256)", ZERO_ADDRESS, 1)),
        (
            "FinishedMintToken",
            (("finish()",),),
            MINT,
            {"nobody"},
            ("mint(address,uint256)", ZERO_ADDRESS, 1),
        ),
        ("ResumedMintToken", (("finish()",),), MINT, {"wallet"}, ("resume()",)),
        ("SetUpOnceToken", (), MINT, {"anybody"}, SET_UP),
        ("SetUpOnceToken", (SET_UP,), MINT, {"nobody"}, SET_UP),
        ("PackedOwnerToken", (), PAUSE, {"wallet"}, STOP),
        ("PackedOwnerToken", (RENOUNCE,), PAUSE, {"nobody"}, STOP),
        ("RoleMintToken", (), MINT, {"list"}, ("mint(address,uint256)", ZERO_ADDRESS, 1)),
        ("TwoNamesToken", (), HIDDEN, {"wallet"}, ("setFirst(address)", ZERO_ADDRESS)),
        ("BurnsOthersToken", (), MINT, {"wallet"}, ("burn(address,uint256)", ZERO_ADDRESS, 0)),
    ],
)
async def test_a_power_is_dead_where_the_owner_cannot_use_it(
    chain: Chain,
    context: ChainContext,
    contract: str,
    before: tuple[Act, ...],
    check: str,
    found: set[str],
    use: Act,
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract)
    for act in before:
        assert send(chain, token, act)
    report = await judge(context, token.address)
    assert kinds(report, check) == found
    assert send(chain, token, use) is (found != {"nobody"})
    assert is_hurtful(report) is (found != {"nobody"})


async def test_a_switch_that_only_opens_is_used_up(chain: Chain, context: ChainContext) -> None:
    chain = with_traps(chain)
    token = place(chain, "OpenOnceToken")
    report = await judge(context, token.address)
    assert report.static.pause_status_can_be_modified is True
    assert kinds(report, PAUSE) == {"nobody"}
    assert send(chain, token, ("enableTrading()",))
    assert chain.buy(token, chain.fresh_account()).success


async def test_holders_burn_their_own(chain: Chain, context: ChainContext) -> None:
    chain = with_traps(chain)
    token = place(chain, "BurnableToken")
    report = await judge(context, token.address)
    assert kinds(report, MINT) == {"holders"}
    assert not is_hurtful(report)
    holder, thief = chain.fresh_account(), chain.fresh_account()
    assert chain.buy(token, holder).success
    assert send(chain, token, ("burn(uint256)", 1), holder)
    assert not send(chain, token, ("burnFrom(address,uint256)", holder, 1), thief)


@pytest.mark.parametrize(
    ("contract", "is_harmless", "use"),
    [("LaterMintToken", True, None), ("GiftToken", False, "claim()")],
)
async def test_the_clock_is_no_power_where_no_trade_depends_on_it(
    chain: Chain, context: ChainContext, contract: str, *, is_harmless: bool, use: str | None
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract)
    report = await judge(context, token.address)
    assert report.static.timebomb is True
    assert bool(kinds(report, "timebomb")) is is_harmless
    holder = chain.fresh_account()
    assert chain.buy(token, holder).success
    if use is not None:
        assert send(chain, token, (use,), holder)
    chain.wait(7_200, blocks=1)
    assert chain.sell(token, holder, 10**15).success is is_harmless


def owned_by(contract: str) -> Callable[[Chain, ZooToken], Address]:
    def hand(chain: Chain, token: ZooToken) -> Address:
        holder = chain.deploy(contract)
        assert send(chain, token, ("transferOwnership(address)", holder))
        return holder

    return hand


@pytest.mark.parametrize(
    ("contract", "kind", "can_stop"),
    [("FakeMultisig", "wallet", True), ("Grave", "nobody", False)],
)
async def test_a_contract_is_judged_by_its_code_and_not_by_its_answers(
    chain: Chain, context: ChainContext, contract: str, kind: str, *, can_stop: bool
) -> None:
    chain = with_traps(chain)
    token = place(chain, "PausedToken")
    holder = owned_by(contract)(chain, token)
    report = await judge(context, token.address)
    assert kinds(report, PAUSE) == {kind}
    stopped = chain.send(chain.world.owner, holder, "setOpen(address,bool)", token.address, False)
    assert (stopped.success and not chain.buy(token, chain.fresh_account()).success) is can_stop


TAX, CAP = "tax_can_be_modified", "trading_cap_can_be_modified"


@pytest.mark.parametrize(
    ("contract", "check", "is_low", "acts"),
    [
        ("BoundedFeeToken", TAX, True, [("setFees(uint256,uint256)", 90, 0)]),
        ("WrappingFeeToken", TAX, False, [("setFees(uint256,uint256)", 90, 2**256 - 90)]),
        ("LoweredFeeToken", TAX, True, [("lower(uint256)", 90)]),
        ("RaisedFeeToken", TAX, False, [("reset()",)]),
        ("MovedBoundToken", TAX, False, [("setMost(uint256)", 90), ("setFee(uint256)", 90)]),
        ("ModeFeeToken", TAX, False, [("setMode(bool)", True)]),
        ("MagicFeeToken", TAX, False, [("setFee(uint256)", 4)]),
        ("BoundedCapToken", CAP, True, [("setCap(uint256)", 10**18)]),
        ("LowCapToken", CAP, False, [("setCap(uint256)", 1)]),
    ],
)
async def test_a_bound_is_one_that_the_owner_cannot_pass(
    chain: Chain,
    context: ChainContext,
    contract: str,
    check: str,
    acts: list[Act],
    *,
    is_low: bool,
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract)
    report = await judge(context, token.address)
    bounds = {power.bound for power in report.powers if power.check == check}
    assert (bounds == {"low"}) or not is_low
    assert is_hurtful(report) is not is_low
    assert all(send(chain, token, act) for act in acts) is not is_low
