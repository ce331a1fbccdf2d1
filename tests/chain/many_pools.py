"""A token with a pool on every venue against every anchor."""

from config.primitives import Address
from demo.layout import Pool, Venues, ZooToken, native_worth
from demo.pipeline import Pipeline
from demo.seeding import Sides, seed_solid, seed_v2, seed_v3, seed_v4
from tests.chain.verbs import Chain

_SHARE_RAW = 1_000 * 10**18
_NO_HOOKS = Address("0x" + "0" * 40)


def seed_nine_more(chain: Chain, token: ZooToken) -> None:
    """Nine pools beside the token's own, which must be Uniswap V2's against the wrapped coin.

    On four venues, each worth about 20,000 to 100,000 dollars.
    """
    venues = chain.world.venues
    pipeline = Pipeline(chain.node, chain.artifacts)
    weth, *stables = (venues.wrapped_native, *venues.stables)
    for usd, anchor in zip((10_000, 20_000, 30_000), (weth, *stables), strict=True):
        sides = Sides(
            token=token.address,
            token_raw=_SHARE_RAW,
            quote=anchor.address,
            quote_raw=native_worth(usd) if anchor == weth else usd * 10**anchor.decimals,
            owner=token.owner,
        )
        for pool in _seeded(pipeline, venues, sides, has_v2=anchor == weth):
            assert pool.quote in (anchor.address, _NO_HOOKS)
    pipeline.flush()


def _seeded(pipeline: Pipeline, venues: Venues, sides: Sides, *, has_v2: bool) -> list[Pool]:
    pools = [seed_v3(pipeline, venues, sides), seed_solid(pipeline, venues, sides)]
    if has_v2:
        return [*pools, seed_v4(pipeline, venues, sides, hooks=_NO_HOOKS)]
    return [*pools, seed_v2(pipeline, venues, sides)]
