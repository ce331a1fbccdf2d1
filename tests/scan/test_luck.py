"""No answer depends on random draws: accounts, purses, sizes and blocks differ each time."""

from typing import Any

import pytest

from analysis.pipeline.chain_context import ChainContext
from api.formats.native.native import render_native
from api.formats.summary.summary import render_summary
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

DRAWS = 5
KEYS = (
    *("honest", "both_tax", "cooldown", "max_transaction", "max_wallet", "mintable", "thin"),
    *("sell_blocked", "evades_round", "dumping", "partial_sale", "melting"),
    *("v3_honest", "v4_hook", "solid_stable", "algebra_honest"),
)
TAX_POINTS = 0.5
"""Rounding of amounts that differ from draw to draw."""


@pytest.mark.parametrize("key", KEYS)
async def test_the_answer_is_the_same_whatever_is_drawn(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key).address
    answers = [await answered(context, token) for _ in range(DRAWS)]
    taxes = [answer.pop("taxes") for answer in answers]
    assert all(answer == answers[0] for answer in answers[1:])
    for drawn in zip(*taxes, strict=True):
        known = [tax for tax in drawn if tax is not None]
        assert len(known) in (0, DRAWS)
        assert not known or max(known) - min(known) <= TAX_POINTS


async def answered(context: ChainContext, token: Any) -> dict[str, Any]:
    """Return verdict, flags, and findings by pool, from a context with a separate secret."""
    fresh = ChainContext(
        chain=context.chain,
        node=context.node,
        index=context.index,
        settings=context.settings,
        now_s=context.now_s,
    )
    report = await judge(fresh, token)
    liquid = context.settings.min_liquidity_usd
    native = render_native(report, clock=None, liquid_above_usd=liquid)
    summary = render_summary(
        report, native, chain=context.chain.slug, address=str(token), liquid_above_usd=liquid
    )
    return {
        "verdict": summary.verdict,
        "reasons": summary.verdict_reasons,
        "flags": [(flag.key, flag.value) for flag in summary.flags],
        "pools": [(pool.pair, pool.buy_success, pool.sell_success) for pool in native.dex],
        "transfer": native.transfer_success,
        "taxes": [
            *(tax for pool in native.dex for tax in (pool.buy_tax, pool.sell_tax)),
            *(native.send_tax, native.receive_tax),
        ],
    }
