"""The oracle: predictions for a token equal the real outcomes of fresh accounts.

No expected number is written here. The service analyses at one block; then transactions are sent
for real, and their outcome is compared. Each way of simulation has to agree.
"""

from itertools import product

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.layout import World
from assay.demo.zoo import ZOO
from core.errors import TokenRefusedError
from core.report.report import Report
from tests.harness.chain.contexts import LACKING, Lacking, judge
from tests.harness.chain.trade_oracle import TAX_POINTS, assert_pool_agrees, real_trade
from tests.harness.chain.transactions import Chain
from tests.harness.examples import spread

SPENT_USD = {"tiny_transaction": 1}
"""Spending limits of tokens that accept less than thirty dollars."""

REFUSED = {"symbol_burns_gas": "not_a_token", "symbol_reverts": "not_a_token"}
JUDGED = [animal.key for animal in ZOO if animal.key not in REFUSED]
SIMULATED_KINDS = {"AmmV2", "AmmV3", "AmmV4", "Solid", "SolidV3"}


UNTOLD = {
    "calls": {
        # they look at the clock, or at the block's number
        *("cooldown", "timebomb_constant", "timebomb_stored", "evades_clock", "melting"),
        # they call others, which might
        *("dumping", "evades_rich", "evades_round", "proxy_beacon"),
    }
}
"""Tokens unknown to a back end, as stated: one block cannot show dependence on another."""

UNTRADED = {"calls": {"Uniswap V4", "Algebra"}}
"""Exchanges whose swaps a back end cannot observe, as stated."""


@pytest.fixture(params=LACKING)
def back_end(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def context(context: ChainContext, back_end: str) -> ChainContext:
    return msgspec.structs.replace(context, node=Lacking(context.node, LACKING[back_end]))


def assert_nothing_was_learnt(report: Report) -> None:
    assert report.token.is_settled
    row = report.token
    assert (row.transfer_success, row.send_tax, row.receive_tax) == (None, None, None)
    for pool in report.pools or ():
        assert (pool.buy, pool.buy_tax, pool.sell, pool.sell_tax) == (None, None, None, None)
        assert pool.error_code == "simulation_unavailable"


@pytest.mark.parametrize(
    ("key", "back_end"),
    [*product(JUDGED, ["simulate"]), *spread(product(JUDGED, ["traces", "calls"]), one_in=8)],
    indirect=["back_end"],
)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, context: ChainContext, back_end: str, key: str
) -> None:
    token = chain.world.token(key)
    report = await judge(context, token.address)
    if key in UNTOLD.get(back_end, ()):
        assert_nothing_was_learnt(report)
        return
    real = real_trade(chain, token, spend_usd=SPENT_USD.get(key, 30))
    row = report.token
    assert row.is_settled
    assert row.transfer_success is real.transfer_success
    assert row.send_tax == pytest.approx(real.send_tax, abs=TAX_POINTS)
    assert row.receive_tax == pytest.approx(real.receive_tax, abs=TAX_POINTS)
    assert report.pools is not None
    (pool,) = report.pools
    assert (pool.pool, pool.kind) == (token.pool.address, token.pool.kind)
    is_untraded = pool.dex in UNTRADED.get(back_end, ())
    if pool.error_code == "liquidity_too_low" or token.pool.kind not in SIMULATED_KINDS:
        is_untraded = True
    if is_untraded:
        assert (pool.buy, pool.sell) == (None, None)
        return
    assert_pool_agrees(pool, real)


@pytest.mark.parametrize(("key", "code"), REFUSED.items())
async def test_what_does_not_answer_as_a_token_is_refused(
    context: ChainContext, demo_world: World, key: str, code: str
) -> None:
    with pytest.raises(TokenRefusedError) as refusal:
        await judge(context, demo_world.token(key).address)
    assert refusal.value.code == code
