"""A token whose code was not analysed in time is never `safe`, whatever its trades show."""

from contextlib import closing

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.result_cache import StaticResultCache
from api.formats.native.native import render_native
from api.formats.summary.summary import render_summary
from core.evm.primitives import Address
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain

pytestmark = pytest.mark.process

SAFE = ("honest", "burned", "v3_honest", "v4_honest")


async def verdict_of(context: ChainContext, token: Address) -> str | None:
    report = await judge(context, token)
    liquid = context.settings.min_liquidity_usd
    native = render_native(report, clock=None, liquid_above_usd=liquid)
    slug = context.chain.slug
    return render_summary(
        report, native, chain=slug, address=token, liquid_above_usd=liquid
    ).verdict


@pytest.mark.parametrize("key", SAFE)
async def test_a_code_that_was_cut_off_is_not_safe(
    chain: Chain, context: ChainContext, key: str
) -> None:
    token = chain.world.token(key).address
    whole = await verdict_of(context, token)
    with closing(StaticResultCache(in_processes=True, longest_s=0.001)) as results:
        cut = await verdict_of(msgspec.structs.replace(context, static_results=results), token)
    assert (whole, cut) == ("safe", "warning")
