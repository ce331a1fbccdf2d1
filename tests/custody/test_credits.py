"""Oracle for credits without payment: balances really made out of nothing, and honest doubles."""

from collections.abc import Sequence

import pytest

from analysis.static.analyse_code import analyse_code
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.transactions import Chain
from tests.harness.custody.custody_contracts import with_contracts

pytestmark = pytest.mark.compiler

AMOUNT = 10**18


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return with_contracts(chain, "Credits.sol")


@pytest.mark.parametrize(
    ("contract", "call", "values", "is_created"),
    [
        ("SoundUpdate", "transfer(address,uint256)", ("thief", AMOUNT), False),
        ("Library", "transfer(address,uint256)", ("thief", AMOUNT), False),
        ("ChangedAnswer", "collect(uint256)", (AMOUNT,), True),
        ("OtherZero", "send(address,address,uint256)", (ZERO_ADDRESS, "thief", AMOUNT), True),
    ],
)
def test_what_is_created_out_of_nothing_is_reported(
    chain: Chain, contract: str, call: str, values: Sequence[object], *, is_created: bool
) -> None:
    token, thief = chain.deploy(contract, "Credits", "CRE"), chain.fresh_account()
    chain.node.set_balance(thief, 10**20)
    chain.send(thief, token, call, *(thief if each == "thief" else each for each in values))
    assert bool(chain.balance(token, thief)) is is_created
    code = str(chain.node.rpc("eth_getCode", token, "latest")).removeprefix("0x")
    assert analyse_code(bytes.fromhex(code)).hints.creates_balances is is_created
