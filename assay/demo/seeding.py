"""Opens pools and puts liquidity into them, through each venue's own contracts."""

import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.concentrated import fill_concentrated, open_concentrated
from assay.demo.layout import FOR_EVER, Pool, Sides, VenueKey, Venues, positions_of, router_of
from assay.demo.transaction_pipeline import Pipeline
from core.evm.abi import call_data, decode_values
from core.evm.primitives import ZERO_ADDRESS, Address
from core.rpc.messages import RpcRequest

UNLIMITED = 2**256 - 1
PAIRS: tuple[VenueKey, ...] = ("v2", "solid", "solid_stable")
"""Venues whose pools are pairs, priced by their first liquidity."""


def seed(
    pipeline: Pipeline,
    venues: Venues,
    venue: VenueKey,
    sides: Sides,
    *,
    hooks: Address = ZERO_ADDRESS,
) -> Pool:
    """Create a pool of this venue with the owner's liquidity. `hooks` apply only to V4."""
    if venue in PAIRS:
        pool = _plan_pair(venues, venue, sides.quote)
    else:
        pool = open_concentrated(pipeline, venues, venue, sides, hooks=hooks)
    _fill_pool(pipeline, venues, pool, sides)
    return pool


def _fill_pool(pipeline: Pipeline, venues: Venues, pool: Pool, sides: Sides) -> None:
    """Add the owner's liquidity. Needs `approve_stables` once before."""
    spender = _filler(venues, pool.venue)
    _approve(pipeline, sides.token, sides, spender)
    if pool.venue in ("pancake", "slipstream") and sides.quote == venues.wrapped_native.address:
        _approve(pipeline, sides.quote, sides, spender)
    if pool.venue in PAIRS:
        _fill_pair(pipeline, venues, pool, sides)
    else:
        fill_concentrated(pipeline, venues, pool, sides)


def approve_stables(pipeline: Pipeline, venues: Venues, owner: Address) -> None:
    """Approve the owner's stables for every venue. Once: USDT rejects a second approval."""
    keys: tuple[VenueKey, ...] = ("v2", "v3", "pancake", "algebra", "v4", "solid", "slipstream")
    for stable in venues.stables:
        for venue in keys:
            pipeline.call(
                stable.address,
                "approve(address,uint256)",
                *(_filler(venues, venue), UNLIMITED),
                sender=owner,
            )


def fetch_addresses(
    node: AnvilNode, venues: Venues, pools: list[tuple[Address, Pool]]
) -> list[Pool]:
    """Return pools, given with their tokens, with the addresses from their factories."""
    deployed = [(token, pool) for token, pool in pools if pool.kind != "AmmV4"]
    answers = node.rpc_batch(
        [RpcRequest("eth_call", (_where(venues, token, pool),)) for token, pool in deployed]
    )
    found = {
        token: Address(str(decode_values("(address)", str(answer))[0]))
        for (token, _), answer in zip(deployed, answers, strict=True)
    }
    return [
        msgspec.structs.replace(pool, address=found.get(token, pool.address))
        for token, pool in pools
    ]


def lookup(pool: Pool, token: Address) -> tuple[str, tuple[object, ...]]:
    """Return the factory's getter of a pool, and its arguments. V4 has none."""
    keys: dict[str, tuple[str, tuple[object, ...]]] = {
        "v2": ("getPair(address,address)", ()),
        "v3": ("getPool(address,address,uint24)", (pool.fee,)),
        "pancake": ("getPool(address,address,uint24)", (pool.fee,)),
        "algebra": ("poolByPair(address,address)", ()),
        "solid": ("getPair(address,address,bool)", (False,)),
        "solid_stable": ("getPair(address,address,bool)", (True,)),
        "slipstream": ("getPool(address,address,int24)", (pool.tick_spacing,)),
    }
    signature, key = keys[pool.venue]
    return signature, (token, pool.quote, *key)


def _plan_pair(venues: Venues, venue: VenueKey, quote: Address) -> Pool:
    dex = venues.dex_of(venue)
    return Pool(
        venue=venue,
        dex=dex.name,
        kind=dex.kind,
        address=ZERO_ADDRESS,
        quote=quote,
        stable=venue == "solid_stable",
    )


def _fill_pair(pipeline: Pipeline, venues: Venues, pool: Pool, sides: Sides) -> None:
    router, receiver = router_of(venues.dex_of(pool.venue)), sides.liquidity_to or sides.owner
    is_v2 = pool.venue == "v2"
    flag, flag_type = ((), "") if is_v2 else ((pool.stable,), "bool,")
    if sides.quote == venues.wrapped_native.address:
        pipeline.call(
            router,
            f"addLiquidityETH(address,{flag_type}uint256,uint256,uint256,address,uint256)",
            *(sides.token, *flag, sides.token_raw, 0, 0, receiver, FOR_EVER),
            sender=sides.owner,
            value_wei=sides.quote_raw,
        )
        return
    pipeline.call(
        router,
        f"addLiquidity(address,address,{flag_type}uint256,uint256,uint256,uint256,address,uint256)",
        *(sides.token, sides.quote, *flag, sides.token_raw, sides.quote_raw),
        *(0, 0, receiver, FOR_EVER),
        sender=sides.owner,
    )


def _filler(venues: Venues, venue: VenueKey) -> Address:
    """Return the contract that takes the liquidity."""
    if venue == "v4":
        return venues.liquidity_v4
    dex = venues.dex_of(venue)
    return router_of(dex) if venue in PAIRS else positions_of(dex)


def _where(venues: Venues, token: Address, pool: Pool) -> dict[str, str]:
    signature, values = lookup(pool, token)
    return {"to": venues.dex_of(pool.venue).factory, "data": call_data(signature, *values)}


def _approve(pipeline: Pipeline, asset: Address, sides: Sides, spender: Address) -> None:
    pipeline.call(asset, "approve(address,uint256)", spender, UNLIMITED, sender=sides.owner)
