"""Oracle for stores behind the hash of a variable: strings, lists and structs.

Each trap really overwrites a stranger's balance through them, and is never answered with `false`.
What compilers emit for the same variables is proved to stay in their data areas.
"""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.compile import Artifacts, compile_sources
from assay.demo.npm_packages import PROJECT_ROOT
from core.evm.keccak import keccak
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.custody.robberies import HONEST, Answer, Robbery

pytestmark = pytest.mark.compiler

SOURCE = Path(__file__).parent / "contracts" / "Places.sol"
BASE = "base/Erc20.sol"
BALANCES, FIRST_OWN = 2, 5
"""Slots of the base's balances, and of the first variable after the base's."""


@cache
def places() -> Artifacts:
    zoo = PROJECT_ROOT / "assay" / "demo" / "contracts" / "zoo"
    return compile_sources({SOURCE.name: SOURCE.read_text(), BASE: (zoo / BASE).read_text()})


@pytest.fixture
def chain(chain: Chain) -> Chain:
    return Chain(chain.node, chain.world, chain.artifacts | places())


def distance(r: Robbery) -> int:
    """Return the distance from the data of the first variable to the victim's balance."""
    balance = keccak(int(r.victim, 16).to_bytes(32) + BALANCES.to_bytes(32))
    data = keccak(FIRST_OWN.to_bytes(32))
    return (int.from_bytes(balance) - int.from_bytes(data)) % 2**256


def by_number(r: Robbery) -> None:
    r.call(r.attacker, "setPiece(uint256,uint256)", distance(r), 0)


def by_stride(r: Robbery) -> None:
    r.call(r.attacker, "setPieces(uint256,uint256,uint256)", distance(r), 1, 0)


def by_length(r: Robbery) -> None:
    r.call(r.attacker, "resize(uint256)", 2**256 - 1)
    r.call(r.attacker, "put(uint256,uint256)", distance(r), 0)


def by_pop(r: Robbery) -> None:
    r.call(r.attacker, "pop()")
    r.call(r.attacker, "put(uint256,uint256)", distance(r), 0)


def by_two_pops(r: Robbery) -> None:
    r.call(r.attacker, "push(uint256)", 0)
    r.call(r.attacker, "popTwo()")
    r.call(r.attacker, "put(uint256,uint256)", distance(r), 0)


def by_place(r: Robbery) -> None:
    r.call(r.attacker, "note(address,uint256)", r.victim, 0)


def all_of_them(r: Robbery) -> None:
    """Call what the traps are called with."""
    by_two_pops(r)
    by_length(r)


class Row(msgspec.Struct, frozen=True, kw_only=True):
    contract: str
    rob: Callable[[Robbery], None]
    is_robbed: bool = True


ROWS = (
    Row(contract="PieceByNumber", rob=by_number),
    Row(contract="Strides", rob=by_stride),
    Row(contract="LongList", rob=by_length),
    Row(contract="ShortList", rob=by_pop),
    Row(contract="PoppedTwice", rob=by_two_pops),
    Row(contract="StoredPlace", rob=by_place),
    Row(contract="SoundPlaces", rob=all_of_them, is_robbed=False),
)


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.contract)
async def test_a_store_that_may_be_anywhere_is_not_called_safe(
    chain: Chain, context: ChainContext, row: Row
) -> None:
    robbery = Robbery(chain, row.contract, has_keeper=False)
    report = await judge(context, robbery.token)
    row.rob(robbery)
    assert (robbery.left < robbery.before) is row.is_robbed
    answer: Answer = (report.token.allowance_bypass, report.token.funds_can_be_drained)
    if row.is_robbed:
        assert answer[1] is not False
        assert report.scan.unproved_custody is True
    else:
        assert answer == HONEST
        assert report.scan.unproved_custody is False
