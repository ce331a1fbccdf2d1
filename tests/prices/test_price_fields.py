"""The four price fields: filled on request alone, and null together on a miss."""

from typing import Any

import msgspec
import pytest

from analysis.market.token_price import TokenPrice, pool_spot
from api.formats.rendering import render_report
from api.formats.token_snapshot import take_snapshot
from core.report.report import Report
from tests.harness.api.sample_reports import TOKEN, make_pool, make_report
from tests.harness.api.world import World, make_chain

FIELDS = ("token_usd_price", "market_cap_usd", "price_source", "price_age_seconds")
CHAIN = make_chain(1, "ethereum")


def rendered(price: TokenPrice | None) -> tuple[object, ...]:
    report = make_report(decimals=2, supply_raw=1_000_00, burned_raw=400_00)
    body = msgspec.json.decode(
        render_report(
            take_snapshot(report, CHAIN, now_s=0, liquid_above_usd=100.0, price=price), "native"
        )
    )
    return tuple(body[field] for field in FIELDS)


@pytest.mark.parametrize(
    ("price", "expected"),
    [
        (None, (None, None, None, None)),
        (TokenPrice(usd=2.0, source="aggregator"), (2.0, 1200.0, "aggregator", None)),
        (
            TokenPrice(usd=0.5, source="network_token_info", age_s=77),
            (0.5, 300.0, "network_token_info", 77),
        ),
        (TokenPrice(usd=1e9, source="pool_spot"), (1e9, 6e11, "pool_spot", None)),
        (TokenPrice(usd=1.01e9, source="pool_spot"), (1.01e9, None, "pool_spot", None)),
    ],
)
def test_fields(price: TokenPrice | None, expected: tuple[object, ...]) -> None:
    assert rendered(price) == expected


@pytest.mark.parametrize(("supply", "burned"), [(0, 0), (5, 5), (10**30, 0)])
def test_no_market_cap_without_supply_or_belief(supply: int, burned: int) -> None:
    report = make_report(decimals=0, supply_raw=supply, burned_raw=burned)
    price = TokenPrice(usd=1.0, source="aggregator")
    body = msgspec.json.decode(
        render_report(
            take_snapshot(report, CHAIN, now_s=0, liquid_above_usd=100.0, price=price), "native"
        )
    )
    assert body["market_cap_usd"] is None
    assert body["token_usd_price"] == 1.0


async def test_the_api_asks_for_a_price_only_where_the_caller_does(world: World) -> None:
    price_requests = []

    async def read_price(chain: str, report: Report) -> TokenPrice | None:
        price_requests.append((chain, report.token.address))
        return TokenPrice(usd=3.0, source="stablecoin_pin")

    client = world.client(read_price=read_price)
    headers = {"X-API-Key": world.new_key()}
    shown = []
    for query in ("", "?include_token_price=true", "?include_token_price=false", "/summary"):
        for _ in range(2):
            answer = await client.get(f"/token/1/{TOKEN}{query}", headers=headers)
            shown.append(answer.json().get("token_usd_price"))
    assert shown == [None, None, 3.0, 3.0, None, None, None, None]
    assert price_requests == [("ethereum", TOKEN)]


@pytest.mark.parametrize(
    ("pools", "expected"),
    [
        ([], None),
        ([{"buy": None, "token_usd": 1.0}], None),
        ([{"buy": "refused", "token_usd": 1.0}, {"buy": "passed", "token_usd": 2.0}], 2.0),
        ([{"buy": "passed", "token_usd": None}, {"buy": "passed", "token_usd": 2.0}], 2.0),
        ([{"buy": "pending", "token_usd": 1.0}], None),
        ([{"buy": "passed", "token_usd": 5.0}, {"buy": "passed", "token_usd": 2.0}], 5.0),
    ],
)
def test_pool_spot_is_of_the_deepest_pool_that_bought(
    pools: list[dict[str, Any]], expected: float | None
) -> None:
    rows = tuple(make_pool(ordinal=at, **pool) for at, pool in enumerate(pools))
    assert pool_spot(make_report(pools=rows)) == expected
