"""Puts liquidity into pools, through each venue's own contracts."""

from math import isqrt

import msgspec
from eth_abi.abi import encode
from eth_utils.crypto import keccak

from config.jsonrpc import RpcRequest
from config.primitives import ZERO_ADDRESS, Address, Hash32
from demo.abi import call_data, decode_values
from demo.anvil import AnvilNode
from demo.layout import FOR_EVER, Pool, Venues, positions_of, router_of
from demo.pipeline import Pipeline

UNLIMITED = 2**256 - 1
POOL_FEE = 3_000
"""Of V3 and V4 pools, in hundredths of a basis point."""
_TICK_SPACING = 60
_OUTERMOST_TICK = 887_220
"""The last tick, a multiple of the spacing, that V3 and V4 allow."""
POOL_KEY = "(address,address,uint24,int24,address)"


class Sides(msgspec.Struct, frozen=True, kw_only=True):
    """What goes into a new pool, and who brings it."""

    token: Address
    token_raw: int
    quote: Address
    """The wrapped native coin is brought as native coin."""
    quote_raw: int
    owner: Address


def approve_stables(pipeline: Pipeline, venues: Venues, owner: Address) -> None:
    """Let every venue take the owner's stables. Once: USDT refuses a second approval."""
    spenders = (router_of(venues.v2), positions_of(venues.v3), router_of(venues.solid))
    for stable in venues.stables:
        for spender in spenders:
            pipeline.call(
                stable.address, "approve(address,uint256)", spender, UNLIMITED, sender=owner
            )


def seed_v2(pipeline: Pipeline, venues: Venues, sides: Sides) -> Pool:
    """A Uniswap V2 pair."""
    router = router_of(venues.v2)
    _approve(pipeline, sides, router)
    if sides.quote == venues.wrapped_native.address:
        pipeline.call(
            router,
            "addLiquidityETH(address,uint256,uint256,uint256,address,uint256)",
            *(sides.token, sides.token_raw, 0, 0, sides.owner, FOR_EVER),
            sender=sides.owner,
            value_wei=sides.quote_raw,
        )
    else:
        pipeline.call(
            router,
            "addLiquidity(address,address,uint256,uint256,uint256,uint256,address,uint256)",
            *(sides.token, sides.quote, sides.token_raw, sides.quote_raw),
            *(0, 0, sides.owner, FOR_EVER),
            sender=sides.owner,
        )
    return Pool(dex=venues.v2.name, kind="AmmV2", address=ZERO_ADDRESS, quote=sides.quote)


def seed_v3(pipeline: Pipeline, venues: Venues, sides: Sides) -> Pool:
    """A Uniswap V3 pool with one position over the whole range."""
    manager = positions_of(venues.v3)
    _approve(pipeline, sides, manager)
    tokens, amounts = _sorted(sides)
    pipeline.call(
        manager,
        "createAndInitializePoolIfNecessary(address,address,uint24,uint160)",
        *(*tokens, POOL_FEE, _sqrt_price_x96(amounts)),
        sender=sides.owner,
    )
    pipeline.call(
        manager,
        "mint((address,address,uint24,int24,int24,"
        "uint256,uint256,uint256,uint256,address,uint256))",
        (
            *(*tokens, POOL_FEE, -_OUTERMOST_TICK, _OUTERMOST_TICK),
            *(*amounts, 0, 0, sides.owner, FOR_EVER),
        ),
        sender=sides.owner,
        value_wei=sides.quote_raw if sides.quote == venues.wrapped_native.address else 0,
    )
    return Pool(
        dex=venues.v3.name, kind="AmmV3", address=ZERO_ADDRESS, quote=sides.quote, fee=POOL_FEE
    )


def seed_v4(pipeline: Pipeline, venues: Venues, sides: Sides, *, hooks: Address) -> Pool:
    """A Uniswap V4 pool against the native coin, whatever `sides.quote` says."""
    _approve(pipeline, sides, venues.liquidity_v4)
    pool = Pool(
        dex=venues.v4.name,
        kind="AmmV4",
        address=venues.v4.factory,
        quote=ZERO_ADDRESS,
        fee=POOL_FEE,
        tick_spacing=_TICK_SPACING,
        hooks=hooks,
    )
    key = pool_key(pool, sides.token)
    amounts = (sides.quote_raw, sides.token_raw)
    pipeline.call(
        venues.v4.factory,
        f"initialize({POOL_KEY},uint160)",
        *(key, _sqrt_price_x96(amounts)),
        sender=sides.owner,
    )
    pipeline.call(
        venues.liquidity_v4,
        f"modifyLiquidity({POOL_KEY},(int24,int24,int256,bytes32),bytes)",
        key,
        (-_OUTERMOST_TICK, _OUTERMOST_TICK, isqrt(amounts[0] * amounts[1]), bytes(32)),
        b"",
        sender=sides.owner,
        value_wei=sides.quote_raw + 1,  # rounding; what is left comes back
    )
    digest = keccak(encode([POOL_KEY], [key])).hex()
    return msgspec.structs.replace(pool, pool_id=Hash32("0x" + digest))


def seed_solid(pipeline: Pipeline, venues: Venues, sides: Sides, *, stable: bool = False) -> Pool:
    """A Solidly pair."""
    router = router_of(venues.solid)
    _approve(pipeline, sides, router)
    if sides.quote == venues.wrapped_native.address:
        pipeline.call(
            router,
            "addLiquidityETH(address,bool,uint256,uint256,uint256,address,uint256)",
            *(sides.token, stable, sides.token_raw, 0, 0, sides.owner, FOR_EVER),
            sender=sides.owner,
            value_wei=sides.quote_raw,
        )
    else:
        pipeline.call(
            router,
            "addLiquidity(address,address,bool,uint256,uint256,uint256,uint256,address,uint256)",
            *(sides.token, sides.quote, stable, sides.token_raw, sides.quote_raw),
            *(0, 0, sides.owner, FOR_EVER),
            sender=sides.owner,
        )
    return Pool(
        dex=venues.solid.name,
        kind="Solid",
        address=ZERO_ADDRESS,
        quote=sides.quote,
        stable=stable,
    )


def fetch_addresses(
    node: AnvilNode, venues: Venues, pools: list[tuple[Address, Pool]]
) -> list[Pool]:
    """The pools, each given with its token, with the addresses their factories say."""
    asked = [(token, pool) for token, pool in pools if pool.kind != "AmmV4"]
    answers = node.rpc_batch(
        [RpcRequest("eth_call", (_where(venues, token, pool),)) for token, pool in asked]
    )
    found = {
        token: Address(str(decode_values("(address)", str(answer))[0]))
        for (token, _), answer in zip(asked, answers, strict=True)
    }
    return [
        msgspec.structs.replace(pool, address=found.get(token, pool.address))
        for token, pool in pools
    ]


def pool_key(pool: Pool, token: Address) -> tuple[str, str, int, int, str]:
    """The key of a V4 pool against the native coin, which sorts before every token."""
    return (pool.quote, token, pool.fee, pool.tick_spacing, pool.hooks)


def _where(venues: Venues, token: Address, pool: Pool) -> dict[str, str]:
    if pool.kind == "AmmV3":
        data = call_data("getPool(address,address,uint24)", token, pool.quote, pool.fee)
        return {"to": venues.v3.factory, "data": data}
    if pool.kind == "Solid":
        data = call_data("getPair(address,address,bool)", token, pool.quote, pool.stable)
        return {"to": venues.solid.factory, "data": data}
    return {
        "to": venues.v2.factory,
        "data": call_data("getPair(address,address)", token, pool.quote),
    }


def _approve(pipeline: Pipeline, sides: Sides, spender: Address) -> None:
    pipeline.call(
        sides.token, "approve(address,uint256)", spender, sides.token_raw, sender=sides.owner
    )


def _sorted(sides: Sides) -> tuple[tuple[Address, Address], tuple[int, int]]:
    if sides.token < sides.quote:
        return (sides.token, sides.quote), (sides.token_raw, sides.quote_raw)
    return (sides.quote, sides.token), (sides.quote_raw, sides.token_raw)


def _sqrt_price_x96(amounts: tuple[int, int]) -> int:
    return isqrt((amounts[1] << 192) // amounts[0])
