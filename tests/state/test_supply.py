"""Balances of the five burn addresses are counted, whatever a token returns for some of them."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.reads.read_batch import ReadBatch
from analysis.token.burned_supply import Burned, BurnReads
from config.burn import BURN_ADDRESSES
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer
from tests.harness.node.answers import BLOCK, REVERTED, answer_in_turn, requests_of, sent, word

TOKEN = Address("0x" + "11" * 20)
ASKED = sorted(BURN_ADDRESSES)


def read(*answers: RpcAnswer) -> Burned:
    batch = ReadBatch(BLOCK)
    burns = BurnReads(batch, TOKEN)
    answer_in_turn(batch, answers)
    return burns.read()


def test_every_burn_address_is_asked() -> None:
    batch = ReadBatch(BLOCK)
    BurnReads(batch, TOKEN)
    addresses = [str(request.params[0]) for request in requests_of(batch)]
    assert len(addresses) == 5
    for request, owner in zip(addresses, ASKED, strict=True):
        assert "0x70a08231" + "0" * 24 + owner[2:] in request


def test_balances_are_summed_and_listed_largest_first() -> None:
    burned = read(word(0), REVERTED, word(5), word(70), sent(b""))
    assert burned.burned_raw == 75
    assert [(row.role, row.ordinal, row.owner, row.amount_raw) for row in burned.holders] == [
        ("burn", 0, ASKED[3], 70),
        ("burn", 1, ASKED[2], 5),
    ]


@given(st.lists(st.integers(0, 2**256 - 1), min_size=5, max_size=5))
def test_no_balance_breaks_the_sum(balances: list[int]) -> None:
    burned = read(*map(word, balances))
    assert burned.burned_raw == min(sum(balances), 2**256 - 1)
    assert len(burned.holders) == sum(balance > 0 for balance in balances)
