"""Oracle for the sum of balances: what functions really add to it, and honest doubles."""

from collections.abc import Collection
from typing import Final

import pytest

from analysis.static.analyse_code import CodeAnalysis, analyse_code
from analysis.token.live_setters import (
    LiveSetters,
    UnprovedCredits,
    slots_of,
    unproved_credits,
)
from core.evm.abi import selector_of
from core.evm.primitives import ZERO_ADDRESS, Address, Selector
from tests.harness.chain.transactions import Chain
from tests.harness.custody.custody_contracts import with_contracts

pytestmark = pytest.mark.compiler

ACT: Final = "act(address,address,uint256)"
AMOUNT: Final = 10**18

TRAPS: Final = {
    "SelfDouble": "a balance is read before it, or another one, may be stored",
    "ReadTwice": "a balance is read before it, or another one, may be stored",
    "KeptInMemory": "a balance is read before it, or another one, may be stored",
    "SupplyTakenBack": "more is added to balances than taken from them",
    "SupplySet": "more is added to balances than taken from them",
    "SupplyTwice": "more is added to balances than taken from them",
    "NarrowDebit": "more is added to balances than taken from them",
    "FlatFee": "a difference may be negative",
    "FeeOnTop": "more is added to balances than taken from them",
    "DoubleCredit": "more is added to balances than taken from them",
    "Unchecked": "a difference may be negative",
    "CheckedOnce": "a difference may be negative",
    "ChangedRate": "an amount may change between debit and credit",
    "Batch": "more is added to balances than taken from them",
    "PaidMint": "more is added to balances than taken from them",
    "OpenSetUp": "more is added to balances than taken from them",
    "BehindHash": "more is added to balances than taken from them",
}
TO_SELF: Final = {"SelfDouble", "ReadTwice", "KeptInMemory"}
DOUBLES: Final = (
    *("OtherThanSelf", "LimitFirst", "NarrowCredit", "CheckedFee", "SplitFee", "Sweep"),
    *("EachOfBatch", "Claim", "Burn", "ListedPair"),
)


STALE: Final = {
    "MarkedBetween": "self",
    "MarkedInCall": "other",
    "MarkedByOwnCode": "other",
    "ReadThenCalled": "other",
    "TransientMark": "self",
    "ZeroRateBefore": "self",
    "CheckedThenCalled": "other",
    "NestedSelfDouble": "self",
    "FieldSelfDouble": "self",
}
"""Recipient of each trap in which a test is relied on after it no longer holds."""
STEADY: Final = (
    "MarkedElsewhere",
    "CalledThenChecked",
    "NestedHonest",
    "EndlessAfterCall",
    "ReadThenHelped",
)


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return with_contracts(with_contracts(chain, "Credits.sol"), "Sums.sol", "Stale.sol")


def code_of(chain: Chain, token: Address) -> CodeAnalysis:
    code = str(chain.node.rpc("eth_getCode", token, "latest")).removeprefix("0x")
    return analyse_code(bytes.fromhex(code))


def unproved(
    chain: Chain, token: Address, *, explained: Collection[Selector] = ()
) -> UnprovedCredits:
    """Return the unproved functions of a token on the chain that can run, or could later."""
    powers = code_of(chain, token).powers
    words = {
        slot: int(str(chain.node.rpc("eth_getStorageAt", token, slot, "latest")), 16)
        for slot in slots_of(powers)
    }
    found = unproved_credits(powers, LiveSetters(powers, words), explained=explained)
    assert found is not None
    return found


def act(chain: Chain, name: str) -> tuple[Address, int]:
    """Deploy a token and call `act` with an account that holds a little of it. Return the token and
    by how much all balances have grown together."""
    token = chain.deploy(name)
    actor, other = chain.fresh_account(), chain.fresh_account()
    chain.send(chain.world.owner, token, "transfer(address,uint256)", actor, AMOUNT)
    people = (chain.world.owner, actor, other, token, Address("0x" + "1".zfill(40)))
    before = sum(chain.balance(token, each) for each in people)
    recipient = actor if name in TO_SELF else other
    if not chain.send(actor, token, ACT, actor, recipient, AMOUNT).success:
        return token, 0
    return token, sum(chain.balance(token, each) for each in people) - before


@pytest.mark.parametrize("name", TRAPS)
def test_what_raises_the_sum_of_balances_is_not_proved(chain: Chain, name: str) -> None:
    token, grown = act(chain, name)
    found = unproved(chain, token)
    if name == "OpenSetUp":  # it has run, and never can again
        assert (
            unproved(chain, token, explained=[each.setter.selector for each in found.past]).every
            == ()
        )
    assert grown > 0
    assert found.create_balances(probed=()) is True
    assert TRAPS[name] in {each.reason for each in found.every}


def act_by_contract(chain: Chain, name: str, recipient: str) -> tuple[Address, int]:
    """Deploy a token and let a contract that holds a little of it call `act`. Return the token and
    by how much all balances have grown together."""
    token, actor = chain.deploy(name), chain.deploy("Actor")
    other, friend = chain.fresh_account(), chain.fresh_account()
    chain.send(chain.world.owner, token, "transfer(address,uint256)", actor, AMOUNT)
    people = (chain.world.owner, actor, other, friend)
    before = sum(chain.balance(token, each) for each in people)
    to = actor if recipient == "self" else other
    call = "run(address,address,uint256,address)"
    if not chain.send(friend, actor, call, token, to, AMOUNT, friend).success:
        return token, 0
    return token, sum(chain.balance(token, each) for each in people) - before


@pytest.mark.parametrize("name", STALE)
def test_what_was_tested_before_a_change_proves_nothing(chain: Chain, name: str) -> None:
    token, grown = act_by_contract(chain, name, STALE[name])
    assert grown != 0
    assert unproved(chain, token).create_balances(probed=()) is not False


@pytest.mark.parametrize("name", STEADY)
def test_what_cannot_change_is_proved(chain: Chain, name: str) -> None:
    token, grown = act_by_contract(chain, name, "other")
    assert grown <= 0
    assert unproved(chain, token).every == ()


@pytest.mark.parametrize("name", DOUBLES)
def test_what_keeps_the_sum_of_balances_is_proved(chain: Chain, name: str) -> None:
    token, grown = act(chain, name)
    assert grown <= 0
    assert unproved(chain, token).every == ()


@pytest.mark.parametrize(
    ("contract", "call", "is_created"),
    [
        ("SoundUpdate", "transfer(address,uint256)", False),
        ("Library", "transfer(address,uint256)", False),
        ("ChangedAnswer", "collect(uint256)", True),
        ("OtherZero", "send(address,address,uint256)", True),
    ],
)
def test_a_mint_that_anybody_can_reach_is_a_power(
    chain: Chain, contract: str, call: str, *, is_created: bool
) -> None:
    token, thief = chain.deploy(contract, "Credits", "CRE"), chain.fresh_account()
    values = {"collect(uint256)": (AMOUNT,), "transfer(address,uint256)": (thief, AMOUNT)}
    chain.send(thief, token, call, *values.get(call, (ZERO_ADDRESS, thief, AMOUNT)))
    assert bool(chain.balance(token, thief)) is is_created
    powers = code_of(chain, token).powers
    open_mints = [
        setter
        for power in powers.powers
        for setter in power.setters
        if power.what == "mint" and setter.authority == "anybody"
    ]
    assert bool(open_mints) is is_created
    assert unproved(chain, token).every == ()  # the supply counts what is minted


@pytest.mark.parametrize("name", ["TwoAnswers", "GrownAnswer", "OneAnswer"])
def test_amounts_that_calls_return_are_not_proved(chain: Chain, name: str) -> None:
    """Two calls of one contract have the same expression, whatever each returns."""
    token, grown = act(chain, name)
    assert (grown > 0) is (name != "OneAnswer")
    assert unproved(chain, token).create_balances(probed=()) is None


@pytest.mark.parametrize(("name", "is_proved"), [("NarrowSupply", False), ("CheckedSupply", True)])
def test_a_supply_in_few_bits_counts_a_mint_if_it_fits(
    chain: Chain, name: str, *, is_proved: bool
) -> None:
    token, holder = chain.deploy(name), chain.fresh_account()
    for _ in range(2):
        chain.send(holder, token, ACT, holder, holder, 2**96 - 1)
    answer = chain.node.rpc(
        "eth_call", {"to": token, "data": selector_of("totalSupply()")}, "latest"
    )
    supply = int(str(answer), 16)
    assert (chain.balance(token, holder) <= supply) is is_proved
    assert (unproved(chain, token).every == ()) is is_proved
