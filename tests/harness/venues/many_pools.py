"""A token with a pool on every venue against every anchor."""

from assay.demo.layout import Pool, Sides, VenueKey, Venues, ZooToken, native_worth
from assay.demo.seeding import seed
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import ZERO_ADDRESS
from tests.harness.chain.transactions import Chain

_SHARE_RAW = 1_000 * 10**18


def seed_nine_more(chain: Chain, token: ZooToken) -> None:
    """Create nine pools besides the token's own, a Uniswap V2 pair with the wrapped coin.

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
            assert pool.quote in (anchor.address, ZERO_ADDRESS)
    pipeline.flush()


def _seeded(pipeline: Pipeline, venues: Venues, sides: Sides, *, has_v2: bool) -> list[Pool]:
    keys: tuple[VenueKey, ...] = ("v3", "solid", "v4" if has_v2 else "v2")
    return [seed(pipeline, venues, key, sides) for key in keys]
