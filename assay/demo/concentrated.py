"""Opens and fills pools of concentrated liquidity, each with one position over the whole range."""

from math import isqrt

import msgspec
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from assay.demo.layout import FOR_EVER, Pool, Sides, VenueKey, Venues, positions_of
from assay.demo.transaction_pipeline import Pipeline
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32

POOL_FEE = 3_000
"""Fee of V3 and V4 pools, in hundredths of a basis point."""
POOL_KEY = "(address,address,uint24,int24,address)"

_DYNAMIC_FEE = 0x800000
"""Fee in the key of a V4 pool whose hook sets the fee. Source: v4-core, LPFeeLibrary."""
_MINT, _SETTLE, _SWEEP = 0x02, 0x0B, 0x14
"""Actions of V4's position manager. Source: v4-periphery, libraries/Actions."""
_PANCAKE_FEE = 2_500
_V4_SPACING = 60
_SLIPSTREAM_SPACING = 200
_OUTERMOST_TICK = {"v3": 887_220, "algebra": 887_220, "v4": 887_220} | {
    "pancake": 887_250,
    "slipstream": 887_200,
}
"""Outermost allowed tick, a multiple of the venue's spacing."""


def open_concentrated(
    pipeline: Pipeline, venues: Venues, venue: VenueKey, sides: Sides, *, hooks: Address
) -> Pool:
    """Create and price the pool. Its tokens need not exist yet; `hooks` apply only to V4."""
    pool = _plan(venues, venue, sides, hooks)
    tokens, amounts = _sort_sides(sides, pool)
    price = isqrt((amounts[1] << 192) // amounts[0])
    opening: dict[str, tuple[Address, str, tuple[object, ...]]] = {
        "v3": (
            positions_of(venues.v3),
            "createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
            (*tokens, pool.fee, price),
        ),
        "algebra": (
            positions_of(venues.algebra),
            "createAndInitializePoolIfNecessary(address,address,address,uint160,bytes)",
            (*tokens, ZERO_ADDRESS, price, b""),
        ),
        "pancake": (
            positions_of(venues.pancake),
            "open(address,address,int24,uint160)",
            (*tokens, pool.fee, price),
        ),
        "slipstream": (
            positions_of(venues.slipstream),
            "open(address,address,int24,uint160)",
            (*tokens, pool.tick_spacing, price),
        ),
        "v4": (
            venues.v4.factory,
            f"initialize({POOL_KEY},uint160)",
            (pool_key(pool, sides.token), price),
        ),
    }
    to, signature, values = opening[venue]
    pipeline.call(to, signature, *values, sender=sides.opener or sides.owner)
    return pool


def fill_concentrated(pipeline: Pipeline, venues: Venues, pool: Pool, sides: Sides) -> None:
    """Add the owner's liquidity to an open pool. The owner has approved the spender."""
    tokens, amounts = _sort_sides(sides, pool)
    outermost = _OUTERMOST_TICK[pool.venue]
    is_wrapped = sides.quote == venues.wrapped_native.address
    value_wei = sides.quote_raw if is_wrapped or pool.quote == ZERO_ADDRESS else 0
    liquidity = isqrt(amounts[0] * amounts[1])
    if pool.venue in ("pancake", "slipstream"):
        if is_wrapped:
            pipeline.call(sides.quote, "deposit()", sender=sides.owner, value_wei=value_wei)
        pipeline.call(
            positions_of(venues.dex_of(pool.venue)),
            "mintTo(address,address,address,int24,int24,uint128)",
            sides.liquidity_to or sides.owner,
            *(*tokens, pool.fee or pool.tick_spacing, outermost, liquidity * 9_999 // 10_000),
            sender=sides.owner,
        )
        return
    if pool.venue == "v4" and sides.liquidity_to is not None:
        _mint_v4(pipeline, venues, pool, sides, liquidity=liquidity * 9_999 // 10_000)
        return
    if pool.venue == "v4":
        pipeline.call(
            venues.liquidity_v4,
            f"modifyLiquidity({POOL_KEY},(int24,int24,int256,bytes32),bytes)",
            *(pool_key(pool, sides.token), (-outermost, outermost, liquidity, bytes(32)), b""),
            sender=sides.owner,
            value_wei=value_wei + 1 if value_wei else 0,  # rounding; what is left comes back
        )
        return
    key: tuple[object, ...] = (ZERO_ADDRESS,) if pool.venue == "algebra" else (pool.fee,)
    key_type = "address" if pool.venue == "algebra" else "uint24"
    receiver = sides.liquidity_to or sides.owner
    pipeline.call(
        positions_of(venues.dex_of(pool.venue)),
        f"mint((address,address,{key_type},int24,int24,"
        "uint256,uint256,uint256,uint256,address,uint256))",
        (*tokens, *key, -outermost, outermost, *amounts, 0, 0, receiver, FOR_EVER),
        sender=sides.owner,
        value_wei=value_wei,
    )


def _mint_v4(
    pipeline: Pipeline, venues: Venues, pool: Pool, sides: Sides, *, liquidity: int
) -> None:
    """Mint a position of V4's own position manager, which is paid in advance and returns the
    rest."""
    manager, is_native = positions_of(venues.v4), pool.quote == ZERO_ADDRESS
    paid = [
        (sides.token, sides.token_raw),
        *([] if is_native else [(sides.quote, sides.quote_raw)]),
    ]
    for asset, raw in paid:
        pipeline.call(asset, "transfer(address,uint256)", manager, raw, sender=sides.owner)
    outermost, most = _OUTERMOST_TICK["v4"], 2**128 - 1
    minted = encode(
        [POOL_KEY, "int24", "int24", "uint256", "uint128", "uint128", "address", "bytes"],
        [
            *(pool_key(pool, sides.token), -outermost, outermost),
            *(liquidity, most, most, sides.liquidity_to, b""),
        ],
    )
    currencies = (pool.quote, sides.token)
    steps = [
        (_MINT, minted),
        *((_SETTLE, encode(["address", "uint256", "bool"], [one, 0, False])) for one in currencies),
        *((_SWEEP, encode(["address", "address"], [one, sides.owner])) for one in currencies),
    ]
    actions, params = bytes(act for act, _ in steps), [param for _, param in steps]
    pipeline.call(
        manager,
        "modifyLiquidities(bytes,uint256)",
        *(encode(["bytes", "bytes[]"], [actions, params]), FOR_EVER),
        sender=sides.owner,
        value_wei=sides.quote_raw if is_native else 0,
    )


def pool_key(pool: Pool, token: Address) -> tuple[str, str, int, int, str]:
    """Return the key of a V4 pool."""
    first, second = sorted((token, pool.quote))
    return (first, second, pool.fee, pool.tick_spacing, pool.hooks)


def _sort_sides(sides: Sides, pool: Pool) -> tuple[tuple[Address, Address], tuple[int, int]]:
    """Return tokens and amounts in the pool's order."""
    if sides.token < pool.quote:
        return (sides.token, pool.quote), (sides.token_raw, sides.quote_raw)
    return (pool.quote, sides.token), (sides.quote_raw, sides.token_raw)


def _plan(venues: Venues, venue: VenueKey, sides: Sides, hooks: Address) -> Pool:
    pool = Pool(
        venue=venue,
        dex=venues.dex_of(venue).name,
        kind=venues.dex_of(venue).kind,
        address=ZERO_ADDRESS,
        quote=sides.quote,
        fee={"v3": POOL_FEE, "pancake": _PANCAKE_FEE}.get(venue, 0),
        tick_spacing=_SLIPSTREAM_SPACING if venue == "slipstream" else 0,
    )
    if venue != "v4":
        return pool
    is_native = sides.quote == venues.wrapped_native.address
    pool = msgspec.structs.replace(
        pool,
        address=venues.v4.factory,
        quote=ZERO_ADDRESS if is_native else sides.quote,
        fee=_DYNAMIC_FEE if hooks == venues.dynamic_hook else POOL_FEE,
        tick_spacing=_V4_SPACING,
        hooks=hooks,
    )
    digest = keccak(encode([POOL_KEY], [pool_key(pool, sides.token)])).hex()
    return msgspec.structs.replace(pool, pool_id=Hash32("0x" + digest))
