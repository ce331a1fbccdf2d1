"""Oracle for thefts that only the code reveals.

Each is really done, by real transactions, next to an honest double that cannot be robbed. Real
thefts are never called safe; honest code is called honest.
"""

from collections.abc import Callable

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.zoo_token import Animal
from core.evm.abi import call_data
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.custody.custody_reports import shown
from tests.harness.custody.robberies import (
    HONEST,
    KEEPER,
    TAKEN,
    TRANSFER_FROM,
    UNKNOWN,
    Answer,
    Robbery,
    tail,
)

SECRET = 0x1D2C3B4A59687776F


def masked(r: Robbery) -> None:
    r.spend(r.attacker, (r.before // 2) & ~0xFFFF | 0xBEEF)


def secret(r: Robbery) -> None:
    r.call(r.attacker, "settle(address,uint256,uint256)", r.victim, SECRET, r.before // 2)


def by_contract(r: Robbery) -> None:
    r.chain.node.rpc("anvil_setCode", r.attacker, "0x00")
    r.spend(r.attacker)


def signed_up(r: Robbery) -> None:
    r.call(r.attacker, "signUp()")
    r.chain.wait(660)
    r.spend(r.attacker)


def named(r: Robbery) -> None:
    r.call(r.attacker, "setOperator(address,bool)", r.attacker, True)
    r.spend(r.attacker)


def short(r: Robbery) -> None:
    r.call(r.victim, "approve(address,uint256)", r.attacker, 10**18)
    r.spend(r.attacker)


def forwarded(r: Robbery) -> None:
    r.call(KEEPER, "give(address,uint256)", KEEPER, r.before // 2, tail=r.victim[2:])


def unsigned(r: Robbery) -> None:
    """Call with numbers that are no signature."""
    given = "permit(address,address,uint256,uint8,bytes32,bytes32)"
    r.call(r.attacker, given, r.victim, r.attacker, r.before, 27, b"\xff" * 32, b"\xff" * 32)
    r.spend(r.attacker)


def unanswered(r: Robbery) -> None:
    given = "permit(address,address,uint256,bytes)"
    r.call(r.attacker, given, r.victim, r.attacker, r.before, bytes(65))
    r.spend(r.attacker)


def revived(r: Robbery) -> None:
    r.call(KEEPER, "collect()")
    r.call(KEEPER, "correct(address,address,uint256)", r.victim, KEEPER, r.before // 2)


def forged(r: Robbery) -> None:
    tx = {"to": r.token, "data": call_data("forwarder()")}
    word = r.chain.node.rpc("eth_call", tx, "latest")
    assert isinstance(word, str)
    given = call_data("give(address,uint256)", r.attacker, r.before // 2)
    call = "pass(address,address,bytes,uint8,bytes32,bytes32)"
    words = r.victim, r.token, bytes.fromhex(given[2:]), 27, b"\1" * 32, b"\1" * 32
    data = call_data(call, *words)
    r.chain.node.execute({"from": r.attacker, "to": "0x" + word[-40:], "data": data})


class Row(msgspec.Struct, frozen=True, kw_only=True):
    contract: str
    rob: Callable[[Robbery], None]
    expected: Answer
    is_robbed: bool
    has_keeper: bool = False


ROWS = (
    Row(contract="TailWord", rob=tail, expected=TAKEN, is_robbed=True),
    Row(contract="TailRefused", rob=tail, expected=HONEST, is_robbed=False),
    Row(contract="MaskedAmount", rob=masked, expected=TAKEN, is_robbed=True),
    Row(contract="RoundAmount", rob=masked, expected=HONEST, is_robbed=False),
    Row(contract="SecretArgument", rob=secret, expected=(False, True), is_robbed=True),
    Row(contract="SecretOfOnesOwn", rob=secret, expected=HONEST, is_robbed=False),
    Row(contract="ContractSpender", rob=by_contract, expected=TAKEN, is_robbed=True),
    Row(contract="NoContracts", rob=by_contract, expected=HONEST, is_robbed=False),
    Row(contract="SignedUpSpender", rob=signed_up, expected=TAKEN, is_robbed=True),
    Row(contract="NamedOperator", rob=named, expected=HONEST, is_robbed=False),
    # A thousandth of one unit is nothing, which everybody is allowed.
    Row(contract="ShortPayment", rob=short, expected=TAKEN, is_robbed=True),
    Row(contract="StaleSigner", rob=unsigned, expected=UNKNOWN, is_robbed=True),
    Row(contract="ClearedSigner", rob=unsigned, expected=HONEST, is_robbed=False),
    Row(contract="SizedSigner", rob=unsigned, expected=HONEST, is_robbed=False),
    Row(contract="StaleAnswer", rob=unanswered, expected=(False, True), is_robbed=True),
    Row(contract="SizedAnswer", rob=unanswered, expected=HONEST, is_robbed=False),
    Row(contract="ForwardedBySignature", rob=forged, expected=UNKNOWN, is_robbed=False),
    Row(
        contract="RevivedOwner",
        rob=revived,
        expected=UNKNOWN,
        is_robbed=True,
        has_keeper=True,
    ),
    Row(
        contract="BuriedOwner",
        rob=revived,
        expected=HONEST,
        is_robbed=False,
        has_keeper=True,
    ),
    Row(
        contract="Forwarded",
        rob=forwarded,
        expected=(False, True),
        is_robbed=True,
        has_keeper=True,
    ),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.contract)
async def test_who_has_read_the_code_can_take_what_is_said(
    chain: Chain, context: ChainContext, row: Row
) -> None:
    robbery = Robbery(chain, row.contract, has_keeper=row.has_keeper)
    report = await judge(context, robbery.token)
    row.rob(robbery)
    assert (robbery.left < robbery.before) is row.is_robbed
    token = report.token
    assert (token.allowance_bypass, token.funds_can_be_drained) == row.expected
    for key, value in zip(("allowance_bypass", "funds_can_be_drained"), row.expected, strict=True):
        assert ("on stage" in shown(report, f"{key}:open")) is (value is None)


async def test_an_allowance_to_somebody_the_holder_did_not_name_is_found_by_a_buyer(
    chain: Chain, context: ChainContext
) -> None:
    """Only who approves is robbed, so the victim on stage buys and approves first."""
    animal = Animal(
        key="second_spender",
        trait="approves the keeper, too",
        symbol="SECOND",
        contract="SecondSpender",
        extra="keeper",
    )
    placed = chain.place(animal)
    report = await judge(context, placed.address)
    assert (report.token.allowance_bypass, report.token.funds_can_be_drained) == (True, True)
    keeper, holder = placed.keeper, placed.holders[0]
    assert keeper is not None
    assert report.token.privileged_spenders == (keeper,)
    balance = chain.balance(placed.address, holder)
    chain.node.set_balance(keeper, 10**20)
    assert chain.approve(placed.address, holder, chain.fresh_account()).success
    assert chain.send(keeper, placed.address, TRANSFER_FROM, holder, keeper, balance // 2).success
    assert chain.balance(placed.address, holder) < balance


@pytest.mark.parametrize(
    ("contract", "has_keeper", "expected"),
    [("MasterPermit", True, None), ("PlainPermit", False, False)],
)
async def test_what_a_hidden_key_may_sign_is_not_known(
    chain: Chain, context: ChainContext, contract: str, *, has_keeper: bool, expected: bool | None
) -> None:
    """The holder's signature cannot be simulated, so only the code can distinguish the two."""
    robbery = Robbery(chain, contract, has_keeper=has_keeper)
    report = await judge(context, robbery.token)
    assert report.token.allowance_bypass is False
    assert report.token.funds_can_be_drained is expected
