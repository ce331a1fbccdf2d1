"""Protects /accuracy and its page, and the comparison of real trades with predictions."""

import asyncio
from typing import Any, Literal

import httpx
import msgspec
import pytest

from core.evm.primitives import Address, Hash32, HexBytes
from core.report.accuracy import PredictionFlag
from core.report.disagreements import Disagreement
from core.report.report import TradeOutcome
from indexer.accuracy.prediction_checks import check_swap, check_transfer
from indexer.watched.real_trades import RealTrade, SwapReading, TradeSide
from indexer.watched.token_swaps import TokenSwap
from sql.engine.store import Store
from sql.reports.accuracy_counts import (
    DAY_S,
    AccuracyCount,
    PredictedPool,
    PredictedTransfer,
    insert_counts,
)
from sql.reports.disagreement_tables import write_disagreements
from sql.tokens.tokens import track_tokens
from tests.harness.api.open_port import listening
from tests.harness.api.sign_in import PAGES, read
from tests.harness.api.world import World
from tests.harness.browser.chromium import Chromium, Visit

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
    assert (case["predicted"], case["observed"]) == ("0.0", "30.0")
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
    shown = " ".join(read(page).text.split())
    assert "90.24 % of 41 predictions came true in real trades and transfers" in shown
    for words in ("Tax on sales", "Transfer works", "Uniswap V2", "up to an "):
        assert words in shown, words
    assert "36 of 40" in shown
    assert "10.00 %" in page.text
    assert "0x" + "5c" * 32 in page.text


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1280, "dark")])
async def test_the_page_fits_every_window(
    world: World, filled: Store, chromium: Chromium, width: int, scheme: Literal["light", "dark"]
) -> None:
    app = world.make_app(store=filled)
    world.keep(app)
    async with listening(app) as port:
        url = f"http://127.0.0.1:{port}/ledger"
        visit = Visit(url=url, width=width, scheme=scheme, has_axe=True)
        seen = await asyncio.to_thread(chromium.visit, visit)
    assert (seen.console, seen.violations, seen.broken) == ((), (), ())
    assert seen.overflow == 0


async def test_without_a_store_it_is_out_of_reach(world: World) -> None:
    answer = await world.client().get("/accuracy", headers={"X-API-Key": world.new_key()})
    assert answer.status_code == 503


# --- trade checks -------------------------------------------------------------------------------

TRADED_TOKEN, POOL, TRADER, OWNER, CREATOR, OTHER = (bytes([number]) * 20 for number in range(1, 7))


def text(address: bytes) -> Address:
    return Address("0x" + address.hex())


def predicted(outcome: TradeOutcome | None, tax_pct: float | None) -> PredictedPool:
    return PredictedPool(
        token_id=1,
        token=text(TRADED_TOKEN),
        pool=text(POOL),
        pool_id=None,
        kind="AmmV2",
        quote=text(OTHER),
        token0=None,
        hooks=None,
        dex="a dex",
        buy=outcome,
        buy_tax=tax_pct,
        sell=outcome,
        sell_tax=tax_pct,
        report_block=1,
        report_time_s=1,
        owner=text(OWNER),
        creator=text(CREATOR),
    )


def reading(
    tax_pct: float | None,
    *,
    side: TradeSide = "sell",
    trader: bytes = TRADER,
    others: frozenset[bytes] = frozenset(),
) -> SwapReading:
    swap = TokenSwap(
        log_index=1, first_log=1, pool=POOL, holder=POOL, recipient=trader, token_in=1.0
    )
    trade = None
    if tax_pct is not None:
        trade = RealTrade(
            log_index=1, pool=POOL, side=side, trader=trader, tax_pct=tax_pct, others=others
        )
    return SwapReading(swap=swap, side=side, is_own=False, trade=trade)


CASES: dict[str, tuple[SwapReading, PredictedPool, list[str]]] = {
    "as predicted": (reading(5.2), predicted("passed", 5.0), ["agreed", "agreed"]),
    "more, to the token": (
        reading(25.0, others=frozenset({TRADED_TOKEN})),
        predicted("passed", 5.0),
        ["agreed", "disagreed"],
    ),
    "more, burnt": (
        reading(25.0, others=frozenset({bytes(20)})),
        predicted("passed", 5.0),
        ["agreed", "disagreed"],
    ),
    "more, to somebody": (
        reading(25.0, others=frozenset({OTHER})),
        predicted("passed", 5.0),
        ["agreed", "open"],
    ),
    "less": (reading(0.0), predicted("passed", 5.0), ["agreed", "open"]),
    "more than was paid out": (
        reading(-9.0, side="buy"),
        predicted("passed", 0.0),
        ["uncounted", "uncounted"],
    ),
    "the owner": (
        reading(0.0, trader=OWNER),
        predicted("passed", 5.0),
        ["uncounted", "uncounted"],
    ),
    "the creator": (reading(0.0, trader=CREATOR), predicted("refused", None), ["uncounted"]),
    "refused": (reading(0.0), predicted("refused", None), ["open"]),
    "not told": (reading(None), predicted("passed", 5.0), ["uncounted", "uncounted"]),
    "without a tax": (reading(5.0), predicted("passed", None), ["agreed"]),
    "pending": (reading(5.0), predicted("pending", None), []),
    "not predicted": (reading(5.0), predicted(None, None), []),
}


@pytest.mark.parametrize("name", CASES)
def test_a_trade_says_only_what_is_certain(name: str) -> None:
    trade, prediction, results = CASES[name]
    assert [one.result for one in check_swap(trade, prediction, is_alone=True)] == results


@pytest.mark.parametrize("name", CASES)
def test_a_trade_among_others_says_nothing(name: str) -> None:
    trade, prediction, _ = CASES[name]
    results = {one.result for one in check_swap(trade, prediction, is_alone=False)}
    assert results <= {"uncounted"}


@pytest.mark.parametrize(
    ("sender", "recipient", "can_transfer", "result"),
    [
        (TRADER, OTHER, True, "agreed"),
        (TRADER, OTHER, False, "open"),
        (OWNER, OTHER, False, "uncounted"),
        (TRADER, CREATOR, True, "uncounted"),
        (bytes(20), OTHER, True, "uncounted"),
        (TRADER, TRADED_TOKEN, True, "uncounted"),
    ],
)
def test_a_transfer_of_ordinary_holders_says_something(
    sender: bytes, recipient: bytes, can_transfer: bool, result: str
) -> None:
    prediction = PredictedTransfer(
        token_id=1,
        token=text(TRADED_TOKEN),
        transfer_success=can_transfer,
        report_block=1,
        report_time_s=1,
        owner=text(OWNER),
        creator=text(CREATOR),
    )
    assert check_transfer(sender, recipient, prediction).result == result
