"""What the five burn addresses hold is counted, whatever a token answers for some of them."""

from hypothesis import given
from hypothesis import strategies as st

from analysis.token import burned_supply
from config.burn import BURN_ADDRESSES
from core.primitives import Address, Hash32
from tests.analysis.state.answers import REVERTED, sent, word

TOKEN = Address("0x" + "11" * 20)
BLOCK = Hash32("0x" + "22" * 32)
ASKED = sorted(BURN_ADDRESSES)


def test_every_burn_address_is_asked() -> None:
    asked = [str(request.params[0]) for request in burned_supply.requests(TOKEN, block=BLOCK)]
    assert len(asked) == 5
    for request, owner in zip(asked, ASKED, strict=True):
        assert "0x70a08231" + "0" * 24 + owner[2:] in request


def test_balances_are_summed_and_listed_largest_first() -> None:
    burned = burned_supply.read((word(0), REVERTED, word(5), word(70), sent(b"")))
    assert burned.burned_raw == 75
    assert [(row.role, row.ordinal, row.owner, row.amount_raw) for row in burned.holders] == [
        ("burn", 0, ASKED[3], 70),
        ("burn", 1, ASKED[2], 5),
    ]


@given(st.lists(st.integers(0, 2**256 - 1), min_size=5, max_size=5))
def test_no_balance_breaks_the_sum(balances: list[int]) -> None:
    burned = burned_supply.read([word(balance) for balance in balances])
    assert burned.burned_raw == min(sum(balances), 2**256 - 1)
    assert len(burned.holders) == sum(balance > 0 for balance in balances)
