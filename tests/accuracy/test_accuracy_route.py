"""Protects /accuracy and its page: stored figures, grouped as requested, and none from too few."""

from typing import Any

import httpx
import msgspec
import pytest

from core.evm.primitives import Address, Hash32, HexBytes
from core.report.accuracy import PredictionFlag
from core.report.disagreements import Disagreement
from sql.engine.store import Store
from sql.reports.accuracy_counts import DAY_S, AccuracyCount, insert_counts
from sql.reports.disagreement_tables import write_disagreements
from sql.tokens.tokens import track_tokens
from tests.harness.api.sign_in import PAGES
from tests.harness.api.world import World

TOKEN = Address("0x" + "ab" * 20)


@pytest.fixture
def filled(world: World, world_store: Store) -> Store:
    """Forty observations of sales, one of transfers, and ten of a year ago; one disagreement."""
    now_s = int(world.clock.now_s)
    today_s = now_s - now_s % DAY_S
    with world_store.transaction() as tx:
        (token,) = track_tokens(tx, chain_id=1, seen={TOKEN: 5}, because="request")
        insert_counts(
            tx,
            [
                count(today_s, 7, "sell_tax", agreed=36, disagreed=4, uncounted=2),
                count(today_s, 8, "transfer_success", agreed=1, dex=""),
                count(today_s - 365 * DAY_S, 1, "sell_tax", disagreed=10),
            ],
        )
        write_disagreements(tx, [disagreement(token.token_id, now_s)], now_s=now_s)
    return world_store


def count(
    day_s: int,
    block_number: int,
    flag: PredictionFlag,
    *,
    dex: str = "Uniswap V2",
    agreed: int = 0,
    disagreed: int = 0,
    uncounted: int = 0,
) -> AccuracyCount:
    return AccuracyCount(
        chain_id=1,
        day_s=day_s,
        block_number=block_number,
        dex=dex,
        flag=flag,
        age="hour",
        agreed=agreed,
        disagreed=disagreed,
        explained=0,
        uncounted=uncounted,
    )


def disagreement(token_id: int, now_s: int) -> Disagreement:
    return Disagreement(
        chain_id=1,
        block_number=7,
        block_time_s=now_s,
        token_id=token_id,
        tx_hash=Hash32("0x" + "5c" * 32),
        log_index=3,
        trader=Address("0x" + "01" * 20),
        pool=HexBytes("0x" + "02" * 20),
        dex="Uniswap V2",
        flag="sell_tax",
        age="hour",
        report_block=6,
        predicted="0.0",
        observed="30.0",
        is_certain=True,
    )


async def ask(client: httpx.AsyncClient, world: World, query: str = "") -> dict[str, Any]:
    answer = await client.get(f"/accuracy{query}", headers={"X-API-Key": world.new_key()})
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=dict[str, Any])


async def test_counts_are_grouped_and_few_give_no_share(world: World, filled: Store) -> None:
    client = world.client(store=filled)
    answer = await ask(client, world)
    sales, moves = answer["groups"]
    assert (sales["chain"], sales["flag"], sales["venue"]) == ("ethereum", "sell_tax", None)
    assert (sales["observations"], sales["disagreements"], sales["uncounted"]) == (40, 4, 2)
    assert sales["disagreement_share"] == pytest.approx(0.1)
    # Bounds of 4 in 40, by the formula's own tables.
    assert sales["share_low"] == pytest.approx(0.0396, abs=1e-3)
    assert sales["share_high"] == pytest.approx(0.2305, abs=1e-3)
    assert (moves["observations"], moves["disagreement_share"], moves["share_low"]) == (
        1,
        None,
        None,
    )
    (case,) = answer["disagreements"]
    assert case["contract_address"].lower() == TOKEN
    assert (case["predicted"], case["observed"], case["is_counted"]) == ("0.0", "30.0", True)
    assert case["explanation"] is None
    by_venue = await ask(client, world, "?by=venue&days=1")
    assert [group["venue"] for group in by_venue["groups"]] == ["Uniswap V2", ""]
    assert await ask(client, world, "?chain=eth") == answer


@pytest.mark.parametrize("query", ["?days=2", "?by=token", "?by=", "?by=flag,flag", "?chain=none"])
async def test_a_wrong_parameter_is_named(world: World, filled: Store, query: str) -> None:
    client = world.client(store=filled)
    answer = await client.get(f"/accuracy{query}", headers={"X-API-Key": world.new_key()})
    assert answer.status_code == 422
    assert query[1:].split("=", maxsplit=1)[0] in answer.text


async def test_the_page_is_for_everybody_and_the_answer_for_keys(
    world: World, filled: Store
) -> None:
    client = world.client(store=filled)
    assert (await client.get("/accuracy")).status_code == 401
    page = await client.get("/ledger", headers=PAGES)
    assert page.status_code == 200
    assert "10.00 %" in page.text
    assert "0x" + "5c" * 32 in page.text


async def test_without_a_store_it_is_out_of_reach(world: World) -> None:
    answer = await world.client().get("/accuracy", headers={"X-API-Key": world.new_key()})
    assert answer.status_code == 503
