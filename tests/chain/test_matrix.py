"""The oracle over every kind of pool: what the service says of a token in a pool is what then
really happens there to fresh accounts, through a router that is not ours.
"""

import msgspec
import pytest

from analysis.desk import Desk
from demo.layout import ZooToken
from sql.rows import PoolResultRow, Report
from tests.chain.judging import judge
from tests.chain.matrix import CASES, KINDS, animal_of
from tests.chain.oracle import real_trade
from tests.chain.test_prediction import assert_pool_agrees
from tests.chain.verbs import Chain

WITHOUT_ROUTERS = (
    "honest",
    "both_tax",
    "transfer_tax",
    "sell_blocked",
    "dumping",
    "partial_sale",
    "silent_refusal",
)


def pool_of(report: Report, token: ZooToken) -> PoolResultRow:
    """The token's own pool, among what its own transfers may have made."""
    assert report.pools is not None
    (pool,) = [row for row in report.pools if row.pool == token.pool.address]
    return pool


@pytest.mark.parametrize(("behaviour", "kind"), CASES)
async def test_the_prediction_is_what_then_happens(
    chain: Chain, desk: Desk, behaviour: str, kind: str
) -> None:
    token = chain.place(animal_of(behaviour, kind))
    pool = pool_of(await judge(desk, token.address), token)
    assert_pool_agrees(pool, real_trade(chain, token))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("behaviour", WITHOUT_ROUTERS)
async def test_a_venue_without_a_router_is_judged_the_same(
    chain: Chain, desk: Desk, behaviour: str, kind: str
) -> None:
    token = chain.place(animal_of(behaviour, kind))
    dexes = tuple(
        msgspec.structs.replace(dex, router=None, fee_bp=None) for dex in desk.chain.dexes
    )
    bare = Desk(
        chain=msgspec.structs.replace(desk.chain, dexes=dexes),
        node=desk.node,
        knowledge=desk.knowledge,
        settings=desk.settings,
        now_s=desk.now_s,
    )
    pool = pool_of(await judge(bare, token.address), token)
    assert_pool_agrees(pool, real_trade(chain, token))
