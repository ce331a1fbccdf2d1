"""Protects docs/notebooks: answers on the demo's store equal the chain's own logs."""

import runpy
from collections import Counter
from collections.abc import Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path

import httpx
import msgspec
import pytest

from assay.demo.anvil import ETHER, AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.reads import balance_of, read
from assay.demo.trader import Trader
from assay.demo.world import build_world
from assay.demo.zoo import ZOO
from core.evm.abi import call_data
from core.evm.event_signatures import parse_event
from core.evm.primitives import ZERO_ADDRESS, Address
from indexer.decode.swap_events import SWAP_TOPICS
from sql.engine.store_files import StoreFiles
from sql.lake.open_store import write_open_script
from tests.harness.chain.assay_process import run, running, until
from tests.harness.parts.free_ports import free_port
from tests.house.sources import ROOT

pytestmark = [pytest.mark.node, pytest.mark.compiler, pytest.mark.process]

NOTEBOOK = ROOT / "docs" / "notebooks" / "ten_questions.py"
TRANSFER = parse_event("Transfer(address indexed from,address indexed to,uint256 value)").topic0
HOUR_S = 3600
QUESTIONS = (
    *("launches", "survival", "taxes", "honeypots", "concentration"),
    *("verdicts", "findings", "unknown", "trades", "first_trade"),
)
CANNOT_SELL = ("sell_blocked", "blacklist")
STUDIED = {
    *CANNOT_SELL,
    *("honest", "buy_tax", "sell_tax", "both_tax", "transfer_tax", "mintable", "renounced"),
    *("bypass_universal", "bypass_constant", "drain_open", "drain_keeper", "silent_refusal"),
    *("frozen", "symbol_reverts", "v3_honest", "v4_honest", "v4_usdc", "algebra_honest"),
    "solid_honest",
}
"""Tokens of the zoo on its chain: the analysis of each takes a second."""

Rows = list[tuple[object, ...]]


class Study(msgspec.Struct, frozen=True, kw_only=True):
    node: AnvilNode
    world: World
    answers: dict[str, Rows]
    pictures: Path
    summaries: dict[Address, dict[str, object]]
    """API's answer on each token."""


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Study]:
    """Chain of two days with trades and launches, followed, analysed and queried."""
    folder = tmp_path_factory.mktemp("study")
    with AnvilNode() as node:
        world = build_world(node, zoo=[one for one in ZOO if one.key in STUDIED])
        trader = Trader(node, world, seed=5)
        built = node.head_number()
        for _ in range(3):
            for _ in range(25):
                trader.trade()
                node.mine()
            node.increase_time(9 * HOUR_S)
            trader.launch()
            node.mine()
        move_launched(node, world)
        node.mine(20)  # so that all of it is final
        write_overlay(world, folder)
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": str(folder / "demo.duckdb"),
        }
        # All of it is stored before the first query: a service fetches old blocks in the
        # background.
        filled = run(
            "index", "ethereum", "--from", "0", "--to", str(node.head_number() - 18), env=env
        )
        assert filled.returncode == 0, filled.stderr
        summaries = serve_and_ask([*tokens_of(world), *new_tokens(node, above=built)], env)
        write_open_script(StoreFiles(prefix=folder / "demo.duckdb"))  # as each compaction does
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("ASSAY_STORE", env["ASSAY_STORE"])
            patch.setenv("PICTURES", str(folder / "pictures"))
            patch.setenv("MPLBACKEND", "agg")
            found = runpy.run_path(str(NOTEBOOK), run_name="notebook")
        found["store"].close()
        yield Study(
            node=node,
            world=world,
            answers={question: rows.rows() for question, rows in found["answers"].items()},
            pictures=folder / "pictures",
            summaries=summaries,
        )


def move_launched(node: AnvilNode, world: World) -> None:
    """A day after its launch one token of a platform moves; the others do not."""
    token = world.issued("curve")
    node.set_balance(token.pad, 100 * ETHER)
    data = call_data("transfer(address,uint256)", world.traders[0], 1)
    receipt = node.execute({"from": token.pad, "to": token.address, "data": data})
    assert receipt["status"] == "0x1"


def tokens_of(world: World) -> list[Address]:
    return [*(each.address for each in world.tokens), *(each.address for each in world.launched)]


def new_tokens(node: AnvilNode, *, above: int) -> list[Address]:
    """Those that the trader launched, by the first transfers of their supplies."""
    made = {
        Address(log["address"].lower())
        for log in logs_of(node, [TRANSFER])
        if int(log["blockNumber"], 16) > above and int(log["topics"][1], 16) == 0
    }
    names = {token: str(read(node, token, "symbol()", returns="(string)")[0]) for token in made}
    return sorted(token for token, name in names.items() if name.startswith("NEW"))


def serve_and_ask(
    tokens: Sequence[Address], env: dict[str, str]
) -> dict[Address, dict[str, object]]:
    port = free_port()
    made = run("keys", "create", "--plan", "admin", "--label", "test", env=env)
    with (
        running("serve", "--port", str(port), env=env) as process,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}",
            headers={"X-API-Key": made.stdout.strip()},
            timeout=60,
        ) as client,
    ):

        def is_ready() -> bool | None:
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                return client.get("/ready").status_code == 200 or None
            except httpx.TransportError:
                return None

        until(is_ready)
        for token in tokens:
            summary_of(client, token)
        # An answer may come before its report is stored, but the next one never does.
        return {token: summary_of(client, token) for token in tokens}


def summary_of(client: httpx.Client, token: Address) -> dict[str, object]:
    def settled() -> dict[str, object] | None:
        body: dict[str, object] = client.get(f"/token/ethereum/{token}/summary").json()
        return None if body.get("is_pending") else body

    return until(settled)


def logs_of(node: AnvilNode, topics: Sequence[str]) -> list[dict[str, str]]:
    wanted = {"fromBlock": "0x0", "toBlock": "latest", "topics": [list(topics)]}
    found = node.rpc("eth_getLogs", wanted)
    assert isinstance(found, list)
    return found


def times_of(node: AnvilNode, logs: Sequence[dict[str, str]]) -> dict[str, int]:
    """Times of the blocks, by number as the node writes it."""
    times = {}
    for number in {log["blockNumber"] for log in logs}:
        block = node.rpc("eth_getBlockByNumber", number, False)
        assert isinstance(block, dict)
        times[number] = int(block["timestamp"], 16)
    return times


@pytest.fixture(scope="module")
def moved(study: Study) -> dict[Address, list[int]]:
    """Return the times of the transfers of each token, from the node."""
    logs = [log for log in logs_of(study.node, [TRANSFER]) if len(log["topics"]) == 3]
    times = times_of(study.node, logs)
    found: dict[Address, list[int]] = {}
    for log in logs:
        found.setdefault(Address(log["address"].lower()), []).append(times[log["blockNumber"]])
    return found


def test_each_question_has_its_picture(study: Study) -> None:
    assert tuple(study.answers) and set(study.answers) == set(QUESTIONS)
    for question in QUESTIONS:
        assert study.answers[question], question
        picture = (study.pictures / f"{question}.png").read_bytes()
        assert picture.startswith(b"\x89PNG")
        assert len(picture) > 5_000


def test_launches_are_those_of_the_platforms(study: Study) -> None:
    expected = Counter(token.launchpad for token in study.world.launched)
    assert {row[0]: row[1] for row in study.answers["launches"]} == expected


def test_survival_is_told_by_the_times_of_transfers(
    study: Study, moved: dict[Address, list[int]]
) -> None:
    expected: dict[str, list[int]] = {}
    head = study.node.head_time()
    for token in study.world.launched:
        row = expected.setdefault(token.launchpad, [0, 0, 0])
        judged = min(moved[token.address]) + HOUR_S
        alive = max(moved[token.address]) >= judged
        row[0 if alive else 1 if judged <= head else 2] += 1
    assert [sum(column) > 0 for column in zip(*expected.values(), strict=True)] == [
        True,
        True,
        False,
    ]
    assert [list(row) for row in study.answers["survival"]] == [
        [name, *row] for name, row in sorted(expected.items())
    ]


def test_taxes_are_those_in_the_sources(study: Study) -> None:
    taxes_of = {"buy_tax": (7.0, 0.0), "sell_tax": (0.0, 12.0), "both_tax": (5.0, 9.0)}
    found = {row[1]: row for row in study.answers["taxes"]}
    for key, taxes in taxes_of.items():
        token = study.world.token(key)
        assert found[token.symbol][0] == token.pool.dex
        assert found[token.symbol][2:] == pytest.approx(taxes, abs=0.1)
    assert len({row[0] for row in study.answers["taxes"]}) > 3


def test_honeypots_are_what_can_be_bought_and_not_sold(
    study: Study, moved: dict[Address, list[int]]
) -> None:
    kinds: Counter[tuple[object, str]] = Counter()
    for address, summary in study.summaries.items():
        day = datetime.fromtimestamp(min(moved[address]), UTC).date()
        can_buy, can_sell = summary["can_buy"], summary["can_sell"]
        kind = "other" if not can_buy or can_sell is None else "ok" if can_sell else "honeypot"
        kinds[day, kind] += 1
    rows = {row[0]: row[1] for row in study.answers["honeypots"]}
    for found in {day for day, _ in kinds}:
        assert rows[found] == kinds[found, "honeypot"]
    assert len(rows) > 1
    for key in CANNOT_SELL:
        assert study.summaries[study.world.token(key).address]["can_sell"] is False


def test_the_largest_holder_has_what_the_chain_says(study: Study) -> None:
    found = {row[0]: row[2] for row in study.answers["concentration"]}
    token = study.world.token("honest")
    (supply,) = read(study.node, token.address, "totalSupply()", returns="(uint256)")
    owners = (*token.holders, token.owner, token.pool.address, *study.world.traders)
    balance = max(balance_of(study.node, token.address, owner) for owner in owners)
    assert found[token.address] == pytest.approx(100 * balance / int(str(supply)), rel=0.05)


def test_verdicts_are_those_of_the_api(study: Study) -> None:
    by_sql = {row[0]: int(str(row[1])) for row in study.answers["verdicts"]}
    by_api = Counter(summary["verdict"] for summary in study.summaries.values())
    del by_api[None]  # refused as no token
    assert by_api["danger"] > 5
    for verdict, count in by_api.items():
        assert by_sql[verdict] >= count, (verdict, by_sql, by_api)


def test_trades_are_the_swaps_of_the_chain(study: Study) -> None:
    logs = logs_of(study.node, SWAP_TOPICS)
    times = times_of(study.node, logs)
    by_hour = Counter(
        datetime.fromtimestamp(times[log["blockNumber"]] // HOUR_S * HOUR_S, UTC) for log in logs
    )
    trades_by_hour: Counter[datetime] = Counter()
    for hour, _, count in study.answers["trades"]:
        assert isinstance(hour, datetime)
        trades_by_hour[hour.replace(tzinfo=UTC)] += int(str(count))
    assert trades_by_hour == by_hour
    assert len(trades_by_hour) > 2


def test_first_trades_come_after_the_token(study: Study, moved: dict[Address, list[int]]) -> None:
    pairs = {token.pool.address: token.address for token in study.world.tokens}
    logs = [log for log in logs_of(study.node, SWAP_TOPICS) if log["address"].lower() in pairs]
    times = times_of(study.node, logs)
    first: dict[Address, int] = {}
    for log in logs:
        token = pairs[Address(log["address"].lower())]
        if token != ZERO_ADDRESS:
            time_s = times[log["blockNumber"]]
            first[token] = min(first.get(token, time_s), time_s)
    first_trades = {row[0]: row[1] for row in study.answers["first_trade"]}
    times_used = Counter(token.pool.address for token in study.world.tokens)
    shared = [
        token.address
        for token in study.world.tokens
        if token.address in first and times_used[token.pool.address] == 1
    ]
    assert len(shared) > 10
    # A token's transfers may begin with its pool, a few blocks of a second after its mint.
    waited = {token: first[token] - min(moved[token]) for token in shared}
    assert {token: first_trades[token] for token in shared} == pytest.approx(waited, abs=5)
