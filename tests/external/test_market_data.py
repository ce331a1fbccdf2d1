"""Market data and verified sources, in the shapes that the services really send."""

from typing import Any

import aiohttp
import msgspec
import pytest
from aiohttp import web

from analysis.external.market_data import MarketData
from analysis.external.verified_sources import Sources
from config.facts.chain import Chain
from config.settings import MarketDataSettings, SourceSettings
from core.evm.primitives import Address, Hash32
from core.process.secret import Secret
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.external.outside_service import Service

ETHEREUM = next(chain for chain in BUILT_IN_CHAINS if chain.slug == "ethereum")

TOKEN = Address("0x" + "ab" * 20)

OTHER = "0x" + "cd" * 20

WETH = ETHEREUM.wrapped_native.address


def settings(url: str, **changes: Any) -> MarketDataSettings:
    base = MarketDataSettings(dexscreener_url=url, geckoterminal_url=url, defillama_url=url)
    return msgspec.structs.replace(base, **changes)


def pair(
    *,
    usd: object = "2.0",
    in_quote: object = "0.001",
    quote: str = WETH,
    reserve: object = 100.0,
    base: str = TOKEN,
    network: str = "ethereum",
    liquidity: bool = True,
) -> dict[str, object]:
    """A pair whose quote side is worth `held` times `usd` / `in_quote` dollars."""
    shown: dict[str, object] = {
        "chainId": network,
        "dexId": "uniswap",
        "labels": ["v2"],
        "pairAddress": "0x" + "11" * 20,
        "baseToken": {"address": base.upper().replace("0X", "0x"), "name": "T", "symbol": "T"},
        "quoteToken": {"address": quote, "name": "Q", "symbol": "Q"},
        "priceNative": in_quote,
        "pairCreatedAt": 1_700_000_000_000,
    }
    if usd is not None:
        shown["priceUsd"] = usd
    if liquidity:
        shown["liquidity"] = {"usd": 1e9, "base": 1e12, "quote": reserve}
    return shown


PRICES: dict[str, tuple[list[dict[str, object]], float | None]] = {
    "no pair": ([], None),
    "one pair": ([pair()], 2.0),
    "the deepest quote side": ([pair(reserve=1), pair(usd="3", reserve=900), pair(reserve=2)], 3.0),
    "a made-up quote token is deeper": ([pair(usd="9", quote=OTHER, reserve=1e9), pair()], 2.0),
    "a made-up quote token only": ([pair(usd="9", quote=OTHER)], 9.0),
    "numbers for texts": ([pair(usd=2, in_quote=1)], 2.0),
    "another chain": ([pair(network="bsc")], None),
    "the token is the quote": ([pair(base=OTHER, quote=TOKEN)], None),
    "no price": ([pair(usd=None)], None),
    "no liquidity": ([pair(liquidity=False)], None),
    "price of nothing": ([pair(usd="0")], None),
    "endless price": ([pair(usd="1e999")], None),
    "no number": ([pair(usd="NaN"), pair(usd="abc")], None),
    "below nothing": ([pair(usd="-1")], None),
}


@pytest.mark.parametrize("case", PRICES)
async def test_price_by_dexscreener(
    case: str, service: Service, session: aiohttp.ClientSession
) -> None:
    pairs, expected = PRICES[case]
    service.says(pairs)
    data = MarketData(session, settings(service.url))
    assert await data.token_price(ETHEREUM, TOKEN) == expected
    assert service.requests == [f"/token-pairs/v1/ethereum/{TOKEN}"]


@pytest.mark.parametrize(
    ("coin", "expected"),
    [
        ({"price": 1.5, "confidence": 0.99, "timestamp": 1, "symbol": "T", "decimals": 18}, 1.5),
        ({"price": 1.5, "confidence": 0.2}, None),
        ({"price": 0, "confidence": 0.99}, None),
        (None, None),
    ],
)
async def test_price_by_defillama(
    coin: object, expected: float | None, service: Service, session: aiohttp.ClientSession
) -> None:
    service.says({"coins": {} if coin is None else {f"ethereum:{TOKEN}": coin}})
    data = MarketData(session, settings(service.url, aggregator="defillama"))
    assert await data.token_price(ETHEREUM, TOKEN) == expected


def _unlisted() -> Chain:
    return msgspec.structs.replace(ETHEREUM, listing=type(ETHEREUM.listing)())


@pytest.mark.parametrize("aggregator", ["dexscreener", "defillama"])
async def test_who_is_switched_off_or_does_not_list_the_chain_is_not_asked(
    aggregator: Any, service: Service, session: aiohttp.ClientSession
) -> None:
    off = MarketData(session, settings("", aggregator=aggregator))
    assert await off.token_price(ETHEREUM, TOKEN) is None
    assert await off.pool_figures(ETHEREUM, [Hash32("0x" + "00" * 32)]) == {}
    on = MarketData(session, settings(service.url, aggregator=aggregator))
    assert await on.token_price(_unlisted(), TOKEN) is None
    assert await on.pool_figures(_unlisted(), [Hash32("0x" + "00" * 32)]) == {}
    assert service.requests == []


async def test_a_failure_is_a_miss(service: Service, session: aiohttp.ClientSession) -> None:
    service.says({}, status=500)
    data = MarketData(session, settings(service.url))
    assert await data.token_price(ETHEREUM, TOKEN) is None
    assert await data.pool_figures(ETHEREUM, [Hash32("0x" + "00" * 32)]) == {}


def _pool_id(at: int) -> Hash32:
    return Hash32(f"0x{at:064x}")


async def test_pools_by_dexscreener_in_parts_and_the_rest_by_geckoterminal(
    service: Service, session: aiohttp.ClientSession
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        ids = [int(one, 16) for one in request.path.rpartition("/")[2].split(",")]
        assert len(ids) <= 30
        if request.path.startswith("/latest/dex/pairs/ethereum/"):
            pairs = [
                pair() | {"pairAddress": _pool_id(at).upper().replace("0X", "0x")}
                for at in ids
                if at % 2
            ]
            return web.json_response({"schemaVersion": "1.0.0", "pairs": pairs or None})
        assert request.path.startswith("/networks/eth/pools/multi/")
        shown = [
            {
                "id": "eth_x",
                "type": "pool",
                "attributes": {"address": _pool_id(at), "reserve_in_usd": "12.5"},
            }
            for at in ids
            if at % 4 == 0
        ]
        return web.json_response({"data": shown})

    service.answer = answer
    data = MarketData(session, settings(service.url))
    found = await data.pool_figures(ETHEREUM, [_pool_id(at) for at in range(100)])
    assert {int(key, 16) for key in found} == {at for at in range(100) if at % 2 or at % 4 == 0}
    by_pair, in_usd = found[_pool_id(1)], found[_pool_id(4)]
    assert (by_pair.base, by_pair.quote) == (TOKEN, WETH)
    assert (by_pair.base_amount, by_pair.quote_amount) == (1e12, 100.0)
    assert in_usd.liquidity_usd == 12.5
    assert in_usd.quote_amount is None


# --- sources ------------------------------------------------------------------------------------

CONTRACT = Address("0x" + "ab" * 20)

_NAMES = {"match": "exact_match", "creationMatch": None, "runtimeMatch": "exact_match"}

_SOURCE = {"SourceCode": "contract T {}", "ABI": "[]", "ContractName": "T", "Proxy": "0"}

_UNVERIFIED = {"SourceCode": "", "ABI": "Contract source code not verified"}

SOURCIFY: dict[str, tuple[object, int]] = {
    "yes": (_NAMES, 200),
    "partly": (_NAMES | {"match": "match"}, 200),
    "no": (_NAMES | {"match": None, "runtimeMatch": None}, 404),
    "null": (_NAMES | {"match": None}, 200),
    "silent": ({}, 502),
}

ETHERSCAN: dict[str, tuple[object, int]] = {
    "yes": ({"status": "1", "message": "OK", "result": [_SOURCE]}, 200),
    "no": ({"status": "1", "message": "OK", "result": [_UNVERIFIED]}, 200),
    "limited": ({"status": "0", "message": "NOTOK", "result": "Max rate limit reached"}, 200),
    "silent": ({}, 502),
}


@pytest.mark.parametrize(
    ("by_sourcify", "by_etherscan", "expected"),
    [
        ("yes", None, True),
        ("partly", None, True),
        ("no", None, False),
        ("null", None, False),
        ("silent", None, None),
        ("yes", "no", True),
        ("no", "yes", True),
        ("silent", "yes", True),
        ("no", "no", False),
        ("no", "limited", None),
        ("no", "silent", None),
        ("silent", "no", None),
        ("silent", "silent", None),
    ],
)
async def test_is_verified(
    by_sourcify: str,
    by_etherscan: str | None,
    expected: bool | None,
    service: Service,
    session: aiohttp.ClientSession,
) -> None:
    async def answer(request: web.Request) -> web.StreamResponse:
        if request.path.startswith("/sourcify"):
            assert request.path == f"/sourcify/v2/contract/8453/{CONTRACT}"
            body, status = SOURCIFY[by_sourcify]
        else:
            assert dict(request.query) == {
                "chainid": "8453",
                "module": "contract",
                "action": "getsourcecode",
                "address": CONTRACT,
                "apikey": "KEY",
            }
            body, status = ETHERSCAN[by_etherscan or ""]
        return web.json_response(body, status=status)

    service.answer = answer
    settings = SourceSettings(
        sourcify_url=f"{service.url}/sourcify", etherscan_url=f"{service.url}/etherscan"
    )
    key = Secret("KEY") if by_etherscan else None
    assert await Sources(session, settings, key).is_verified(8453, CONTRACT) is expected


async def test_nobody_asked_is_not_known(service: Service, session: aiohttp.ClientSession) -> None:
    settings = msgspec.structs.replace(SourceSettings(), sourcify_url="", etherscan_url=service.url)
    assert await Sources(session, settings, None).is_verified(1, CONTRACT) is None
    assert service.requests == []


async def test_asked_anew_whatever_was_said_before(
    service: Service, session: aiohttp.ClientSession
) -> None:
    """The new answer is then cached, too."""
    settings = SourceSettings(
        sourcify_url=f"{service.url}/sourcify", etherscan_url=f"{service.url}/etherscan"
    )
    sources = Sources(session, settings, Secret("KEY"))

    async def no(request: web.Request) -> web.StreamResponse:
        is_sourcify = request.path.startswith("/sourcify")
        body, status = SOURCIFY["no"] if is_sourcify else ETHERSCAN["no"]
        return web.json_response(body, status=status)

    service.answer = no
    for _ in range(2):
        assert await sources.is_verified(1, CONTRACT) is False
    assert len(service.requests) == 2
    service.says(SOURCIFY["yes"][0])
    assert await sources.is_verified(1, CONTRACT, refresh=True) is True
    assert await sources.is_verified(1, CONTRACT) is True
    assert len(service.requests) == 3
