"""Protects the demo's market data: it equals the chain's state, also after trades."""

import pytest

from assay.demo.outside_services import fetch_listed, listed_tokens
from assay.demo.reads import balance_of
from tests.harness.chain.transactions import Chain
from tests.harness.liquidity.pool_values import quote_by_ticks, usd_of


@pytest.mark.parametrize("key", ["honest", "v4_honest", "v4_usdc"])
def test_what_is_listed_is_what_the_pool_holds(chain: Chain, key: str) -> None:
    token = chain.world.token(key)
    assert token in listed_tokens(chain.world)
    before = fetch_listed(chain.node, chain.world, token)
    moved = chain.buy(token, chain.fresh_account(), chain.quote_worth(token, 3_000))
    assert moved.success
    after = fetch_listed(chain.node, chain.world, token)
    pool_depth_usd = (
        quote_by_ticks(chain, token, (-887_220, 887_220))
        if key != "honest"
        else balance_of(chain.node, token.pool.quote, token.pool.address)
    )
    assert after.quote_usd == pytest.approx(
        usd_of(chain, token.pool.quote, pool_depth_usd), rel=1e-6
    )
    sold = before.whole_tokens - after.whole_tokens
    assert sold == pytest.approx(moved.pool_out / 10**token.decimals, rel=1e-3)
    assert after.usd > before.usd * 1.2
