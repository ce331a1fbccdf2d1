"""Local stand-ins for DexScreener, GeckoTerminal, DefiLlama and Sourcify, for the demo's world.

The demo sends no request to a public host. Listed are the honest token and those on V4, with the
current reserves of their pools. All other tokens and the stables are unknown here, so that every
source of a price has a token to show.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import contextmanager

import msgspec
from aiohttp import web
from eth_utils.crypto import keccak

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.layout import NATIVE_USD, Pool, World, ZooToken
from assay.demo.reads import balance_of, read
from core.evm.primitives import ADDRESS_MASK, ZERO_ADDRESS, Address, checksum

SOURCIFY, DEXSCREENER, GECKOTERMINAL, DEFILLAMA = "sourcify", "dexscreener", "gecko", "llama"
"""First path segment of each service."""

_NETWORK, _GECKO_NETWORK = "ethereum", "eth"
_PATIENCE_S = 10.0

_POOLS, _LIQUIDITY = 6, 3
"""Slot of the pools in a V4 manager, and offset of a pool's liquidity. Source: StateLibrary."""


class Listed(msgspec.Struct, frozen=True, kw_only=True):
    """A token as the services list it."""

    token: ZooToken
    whole_tokens: float
    quote_usd: float

    @property
    def usd(self) -> float:
        """Price of one whole token."""
        return self.quote_usd / self.whole_tokens


def listed_tokens(world: World) -> tuple[ZooToken, ...]:
    """Return the listed tokens."""
    return tuple(
        token for token in world.tokens if token.key == "honest" or token.pool.venue == "v4"
    )


def fetch_listed(node: AnvilNode, world: World, token: ZooToken) -> Listed:
    """Fetch the reserves of the token's pool at the head. Raises UpstreamError."""
    pool = token.pool
    token_raw, quote_raw = (
        _fetch_v4(node, token) if pool.venue == "v4" else _fetch_pair(node, token)
    )
    stables = {stable.address: stable for stable in world.venues.stables}
    one_usd = 10 ** stables[pool.quote].decimals if pool.quote in stables else ETHER // NATIVE_USD
    return Listed(
        token=token, whole_tokens=token_raw / 10**token.decimals, quote_usd=quote_raw / one_usd
    )


def _fetch_pair(node: AnvilNode, token: ZooToken) -> tuple[float, float]:
    """Smallest units of the token and of its quote."""
    pool = token.pool
    return (
        balance_of(node, token.address, pool.address),
        balance_of(node, pool.quote, pool.address),
    )


def _fetch_v4(node: AnvilNode, token: ZooToken) -> tuple[float, float]:
    """As `_fetch_pair`, of the one position that each of these pools has, over all prices."""
    pool = token.pool
    state = int.from_bytes(keccak(bytes.fromhex((pool.pool_id or "")[2:]) + _POOLS.to_bytes(32)))
    price, liquidity = (
        int(str(read(node, pool.address, "extsload(bytes32)", slot.to_bytes(32))[0]))
        for slot in (state, state + _LIQUIDITY)
    )
    root = (price & ADDRESS_MASK) / 2**96
    first, second = liquidity / root, liquidity * root
    return (first, second) if token.address < pool.quote else (second, first)


@contextmanager
def run_outside(node: AnvilNode, world: World) -> Iterator[str]:
    """Serve on a free local port in a separate thread; yield the base address."""
    listening: Future[tuple[str, Callable[[], None]]] = Future()

    async def serve() -> None:
        stop, loop = asyncio.Event(), asyncio.get_running_loop()
        runner = web.AppRunner(_app(node, world))
        try:
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            listening.set_result((url, lambda: _stop(loop, stop)))
            await stop.wait()
        finally:
            await runner.cleanup()

    thread = threading.Thread(target=lambda: asyncio.run(serve()), name="outside", daemon=True)
    thread.start()
    url, end = listening.result(_PATIENCE_S)
    try:
        yield url
    finally:
        end()
        thread.join(_PATIENCE_S)


def _stop(loop: asyncio.AbstractEventLoop, stop: asyncio.Event) -> None:
    loop.call_soon_threadsafe(stop.set)


def _app(node: AnvilNode, world: World) -> web.Application:
    listed = listed_tokens(world)
    by_token = {token.address: token for token in listed}
    by_pool = {_pool_key(token.pool): token for token in listed}

    async def now(token: ZooToken) -> Listed:
        return await asyncio.to_thread(fetch_listed, node, world, token)

    async def pairs_of_token(request: web.Request) -> web.Response:
        token = by_token.get(Address(request.match_info["token"].lower()))
        return web.json_response([_pair(world, await now(token))] if token else [])

    async def pairs(request: web.Request) -> web.Response:
        found = [await now(by_pool[key]) for key in _keys(request) if key in by_pool]
        return web.json_response(
            {"schemaVersion": "1.0.0", "pairs": [_pair(world, one) for one in found] or None}
        )

    async def gecko_pools(request: web.Request) -> web.Response:
        found = [await now(by_pool[key]) for key in _keys(request) if key in by_pool]
        return web.json_response({"data": [_gecko_pool(one) for one in found]})

    async def coins(request: web.Request) -> web.Response:
        found = {}
        for name in request.match_info["keys"].split(","):
            token = by_token.get(Address(name.partition(":")[2].lower()))
            if token is not None:
                found[name] = {
                    "decimals": token.decimals,
                    "symbol": token.symbol,
                    "price": (await now(token)).usd,
                    "timestamp": 1_760_000_000,
                    "confidence": 0.99,
                }
        return web.json_response({"coins": found})

    async def source(request: web.Request) -> web.Response:
        address = Address(request.match_info["contract"].lower())
        body = {"chainId": request.match_info["chain"], "address": checksum(address)}
        if address not in by_token:
            unknown = {"match": None, "creationMatch": None, "runtimeMatch": None}
            return web.json_response(body | unknown, status=404)
        match = {"match": "exact_match", "creationMatch": "match", "runtimeMatch": "exact_match"}
        return web.json_response(body | match)

    app = web.Application()
    app.router.add_get(f"/{DEXSCREENER}/token-pairs/v1/{_NETWORK}/{{token}}", pairs_of_token)
    app.router.add_get(f"/{DEXSCREENER}/latest/dex/pairs/{_NETWORK}/{{keys}}", pairs)
    app.router.add_get(
        f"/{GECKOTERMINAL}/networks/{_GECKO_NETWORK}/pools/multi/{{keys}}", gecko_pools
    )
    app.router.add_get(f"/{DEFILLAMA}/prices/current/{{keys}}", coins)
    app.router.add_get(f"/{SOURCIFY}/v2/contract/{{chain}}/{{contract}}", source)
    return app


def _keys(request: web.Request) -> list[str]:
    return request.match_info["keys"].lower().split(",")


def _pool_key(pool: Pool) -> str:
    return pool.pool_id or pool.address


def _pair(world: World, one: Listed) -> dict[str, object]:
    token, pool = one.token, one.token.pool
    quote_usd = (
        1 if pool.quote in {stable.address for stable in world.venues.stables} else NATIVE_USD
    )
    return {
        "chainId": _NETWORK,
        "dexId": pool.dex.lower(),
        "labels": ["v4" if pool.kind == "AmmV4" else "v2"],
        "pairAddress": _pool_key(pool),
        "baseToken": {"address": checksum(token.address), "symbol": token.symbol},
        "quoteToken": {
            "address": pool.quote if pool.quote == ZERO_ADDRESS else checksum(pool.quote),
            "symbol": "USD" if quote_usd == 1 else "ETH",
        },
        "priceNative": f"{one.usd / quote_usd:.18f}",
        "priceUsd": f"{one.usd:.12f}",
        "liquidity": {
            "usd": 2 * one.quote_usd,
            "base": one.whole_tokens,
            "quote": one.quote_usd / quote_usd,
        },
        "pairCreatedAt": 1_760_000_000_000,
    }


def _gecko_pool(one: Listed) -> dict[str, object]:
    key = _pool_key(one.token.pool)
    return {
        "id": f"{_GECKO_NETWORK}_{key}",
        "type": "pool",
        "attributes": {
            "address": key,
            "reserve_in_usd": str(2 * one.quote_usd),
            "base_token_price_usd": str(one.usd),
        },
    }
