"""Tokens in concentrated pools without liquidity at the current price."""

from collections.abc import Sequence
from math import sqrt

import msgspec

from assay.demo.anvil import ETHER
from assay.demo.concentrated import POOL_KEY, open_concentrated, pool_key
from assay.demo.layout import FOR_EVER, Pool, Sides, VenueKey, ZooToken, positions_of
from assay.demo.seeding import UNLIMITED, fetch_addresses
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import ZERO_ADDRESS, Address
from tests.harness.chain.transactions import Chain

VENUES: tuple[VenueKey, ...] = ("v3", "pancake", "algebra", "slipstream", "v4")

_TICK = 600
"""A multiple of every venue's spacing but PancakeSwap's."""
_PANCAKE_TICK = 500


class Position(msgspec.Struct, frozen=True, kw_only=True):
    """Liquidity between two multiples of a tick, counted from the price of one for one: above it
    lies the token, below it the quote."""

    lower: int
    upper: int
    liquidity: int = 100 * ETHER


ASK = Position(lower=1, upper=20)
BID = Position(lower=-20, upper=-1)
LAUNCH = Position(lower=0, upper=100)
"""Begins where the price is."""
DUST = Position(lower=0, upper=100, liquidity=10**12)


def place(
    chain: Chain,
    venue: VenueKey,
    contract: str,
    positions: Sequence[Position],
    *,
    hooks: Address = ZERO_ADDRESS,
    tick: int = 0,
) -> ZooToken:
    """A token with these positions, at the price of 1.0001 to the `tick` wrapped coins (V4: coins),
    from where they are counted. Hooks on V4 only."""
    venues, world = chain.world.venues, chain.world
    owner, weth = world.owner, venues.wrapped_native.address
    pipeline = Pipeline(chain.node, chain.artifacts)
    planned = pipeline.next_address(owner)
    sides = Sides(
        token=planned,
        token_raw=10**30,
        quote=weth,
        quote_raw=int(10**30 * 1.0001**tick),
        owner=owner,
        opener=world.launcher,
    )
    pool = open_concentrated(pipeline, venues, venue, sides, hooks=hooks)
    pipeline.flush()
    (pool,) = fetch_addresses(chain.node, venues, [(planned, pool)])
    extras = (pool.address,)[: len(chain.artifacts[contract].constructor) - 2]
    token = pipeline.deploy(contract, "Range", "RANGE", *extras, sender=owner)
    assert token == planned
    pipeline.call(weth, "deposit()", sender=owner, value_wei=2_000 * ETHER)
    spender = venues.liquidity_v4 if venue == "v4" else positions_of(venues.dex_of(venue))
    for asset in (token, weth):
        pipeline.call(asset, "approve(address,uint256)", spender, UNLIMITED, sender=owner)
    holders = world.token("honest").holders
    for holder in holders:
        pipeline.call(token, "transfer(address,uint256)", holder, 100 * ETHER, sender=owner)
    for position in positions:
        _fill(chain, pipeline, pool, token, position, tick)
    pipeline.flush()
    like = world.token("honest")
    return msgspec.structs.replace(like, key="range", address=token, pool=pool, holders=holders)


def _fill(
    chain: Chain, pipeline: Pipeline, pool: Pool, token: Address, position: Position, at: int
) -> None:
    venues, owner = chain.world.venues, chain.world.owner
    unit = _PANCAKE_TICK if pool.venue == "pancake" else _TICK
    lower, upper = at + position.lower * unit, at + position.upper * unit
    if token > pool.quote:
        lower, upper = -upper, -lower
    if pool.venue == "v4":
        pipeline.call(
            venues.liquidity_v4,
            f"modifyLiquidity({POOL_KEY},(int24,int24,int256,bytes32),bytes)",
            *(pool_key(pool, token), (lower, upper, position.liquidity, bytes(32)), b""),
            sender=owner,
            value_wei=500 * ETHER,
        )
        return
    spender = positions_of(venues.dex_of(pool.venue))
    first, second = sorted((token, pool.quote))
    if pool.venue in ("pancake", "slipstream"):
        pipeline.call(
            spender,
            "mintBetween(address,address,int24,int24,int24,uint128)",
            *(first, second, pool.fee or pool.tick_spacing, lower, upper, position.liquidity),
            sender=owner,
        )
        return
    most = _amounts(position.liquidity, lower, upper, at if token < pool.quote else -at)
    key: tuple[object, ...] = (ZERO_ADDRESS,) if pool.venue == "algebra" else (pool.fee,)
    key_type = "address" if pool.venue == "algebra" else "uint24"
    pipeline.call(
        spender,
        f"mint((address,address,{key_type},int24,int24,"
        "uint256,uint256,uint256,uint256,address,uint256))",
        (*(first, second), *key, lower, upper, *most, 0, 0, owner, FOR_EVER),
        sender=owner,
    )


def _amounts(liquidity: int, lower: int, upper: int, tick: int) -> tuple[int, ...]:
    """Return the position's amounts of both sides at a tick, a little less for rounding.

    Of a side that it needs nothing or next to nothing of, more than enough.
    """
    low, high, price = (sqrt(1.0001**at) for at in (lower, upper, tick))
    price = min(max(price, low), high)
    first, second = liquidity * (1 / price - 1 / high), liquidity * (price - low)
    least = max(first, second) / 10**6
    return tuple(int(side * 0.999) if side > least else ETHER for side in (first, second))
