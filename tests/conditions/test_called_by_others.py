"""The oracle for functions that strangers call: real sales after them, and the report before."""

from typing import Final

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import ZooToken
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_traps import place, with_traps

ROWS: Final = (
    ("StuckLockToken", "FreedLockToken", "claim()", ()),
    ("OpenLeastToken", "TinyLeastToken", "setLeast(uint256)", (2**200,)),
    ("LockingGiftToken", "CountedGiftToken", "gift(address,uint256)", ("seller", 1)),
    ("RoundEndToken", "RoundFeeToken", "endRound()", ()),
    ("TestedAgainToken", "StoredElsewhereToken", "choose(uint256)", (1,)),
    ("TransientAgainToken", "TransientElsewhereToken", "choose(uint256)", (1,)),
    ("ShortAnswerToken", "SameAnswerToken", "feel(uint256)", (77,)),
    ("TakingApprovalToken", "CountingApprovalToken", "feel(uint256)", (77,)),
)


def is_harmed(chain: Chain, token: ZooToken, call: str, values: tuple[object, ...]) -> bool:
    """True if a buyer's sale fails, or loses half, a day after a stranger's call."""
    seller, stranger = chain.fresh_account(), chain.fresh_account()
    for account in (seller, stranger):
        assert chain.buy(token, account).success
    chain.send(
        stranger, token.address, call, *(seller if one == "seller" else one for one in values)
    )
    chain.wait(86_400, blocks=2)
    balance_raw = chain.balance(token.address, seller)
    sold = chain.sell(token, seller, balance_raw)
    return not sold.success or sold.pool_in < balance_raw // 2


@pytest.mark.parametrize(("trap", "double", "call", "values"), ROWS, ids=[row[0] for row in ROWS])
async def test_a_call_that_stops_sales_is_found_before(
    chain: Chain,
    context: ChainContext,
    trap: str,
    double: str,
    call: str,
    values: tuple[object, ...],
) -> None:
    chain = with_traps(chain)
    token = place(chain, trap, knows_pair=True)
    report = await judge(context, token.address)
    assert report.scan.sell_blocked_after_others is True
    assert is_harmed(chain, token, call, values)
    token = place(chain, double, knows_pair=True)
    report = await judge(context, token.address)
    assert report.scan.sell_blocked_after_others is False
    assert not is_harmed(chain, token, call, values)
