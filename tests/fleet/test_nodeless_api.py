"""Protects API processes without a node: they answer as one process with everything does."""

import asyncio
import re
import sqlite3
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import psycopg
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from config.plans import load_plans
from config.store_address import FileAddress, PostgresAddress
from core.evm.primitives import checksum
from sql.accounts.ledger import Ledger
from sql.engine.fleet_database import open_registry
from sql.engine.store_files import StoreFiles
from tests.harness.chain.assay_process import run, running, until
from tests.harness.parts.empty_databases import address_of
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.valkey_server import running_valkey

pytestmark = [pytest.mark.process, pytest.mark.fleet]

SETTINGS = """
[analysis]
rounds_every_s = 3600.0
wait_s = 30.0
"""
"""No background analyses, and enough time for a busy machine."""

_BODY = "select body from report_body join token using (token_id) where address = ?"
_REPLACE = """
    update report_body set body = %s from token
    where token.token_id = report_body.token_id and token.address = %s
"""

TIMES = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ")
"""Times, in which two analyses of one block differ."""

GAS = re.compile(r'"(gas_used|gas_coin|gas_usd|net_usd)":"?[0-9.e-]+"?')
"""Gas depends on the addresses of made-up accounts."""


class Place(msgspec.Struct):
    """A deployment: processes that answer, and a key for them."""

    urls: tuple[str, ...]
    env: dict[str, str]
    headers: dict[str, str]

    def ask(
        self, path: str, *, process: int = 0, body: dict[str, Any] | None = None
    ) -> httpx.Response:
        """The answer of one process, to a POST where there is a body."""
        url = self.urls[process] + path
        if body is not None:
            return httpx.post(url, headers=self.headers, json=body, timeout=60)
        return httpx.get(url, headers=self.headers, timeout=60)


class Places(msgspec.Struct):
    """The demo's world, served by a fleet and by one process."""

    world: World
    fleet: Place
    single: Place

    def both(
        self, path: str, *, process: int = 0, body: dict[str, Any] | None = None
    ) -> tuple[str, str]:
        """Return both answers, without times and gas."""
        answers = (
            self.fleet.ask(path, process=process, body=body),
            self.single.ask(path, body=body),
        )
        for answer in answers:
            assert answer.is_success, answer.text
        there, here = (GAS.sub("gas", TIMES.sub("a time", one.text)) for one in answers)
        return there, here

    def hand_over(self, token: str) -> None:
        """Have the fleet's report of a token be that of the one process."""
        address = bytes.fromhex(self.world.token(token).address[2:])
        files = StoreFiles(prefix=Path(self.single.env["ASSAY_STORE"]))
        with closing(sqlite3.connect(f"file:{files.serving}?mode=ro", uri=True)) as store:
            ((body,),) = store.execute(_BODY, (address,)).fetchall()
        with psycopg.connect(self.fleet.env["ASSAY_STORE"]) as fleet:
            fleet.execute(_REPLACE, (body, address))


def new_key(address: FileAddress | PostgresAddress) -> dict[str, str]:
    with closing(Ledger.of_store(address)) as ledger:
        return {"X-API-Key": ledger.create_key(load_plans()["admin"], "test", 0).plaintext}


@pytest.fixture(scope="module")
def places(
    postgres_server: PostgresServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Places]:
    folder = tmp_path_factory.mktemp("nodeless")
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        write_overlay(world, folder, more=SETTINGS)
        valkey = stack.enter_context(running_valkey())
        url = postgres_server.url()
        alike = {"ASSAY_CONFIG": str(folder), "TMPDIR": str(folder)}
        node_of = {"ASSAY_RPC_1": node.url}
        env = {
            **alike,
            "ASSAY_STORE": url,
            "ASSAY_LAKE": str(folder / "lake"),
            "ASSAY_REDIS": valkey.url,
        }
        alone = {**alike, **node_of, "ASSAY_STORE": str(folder / "single.duckdb")}

        def start(env: dict[str, str], *roles: str) -> str:
            port = free_port()
            words = [word for role in roles for word in ("--role", role)]
            stack.enter_context(running("serve", *words, "--port", str(port), env=env))
            return f"http://127.0.0.1:{port}"

        worker = start({**env, **node_of}, "follow", "analyse")
        until(lambda: is_ready(worker) or None)
        fleet = Place(
            urls=tuple(start(env, "api") for _ in range(2)),
            env=env,
            headers=new_key(address_of(url, path=folder / "files")),
        )
        single = Place(
            urls=(start(alone),),
            env=alone,
            headers=new_key(FileAddress(Path(alone["ASSAY_STORE"]))),
        )
        for each in (*fleet.urls, *single.urls):
            until(lambda each=each: is_ready(each) or None)  # type: ignore[misc]  # lambdas have no types
        yield Places(world=world, fleet=fleet, single=single)


def is_ready(url: str) -> bool:
    try:
        return httpx.get(f"{url}/ready").status_code == 200
    except httpx.TransportError:
        return False


def path_of(places: Places, token: str, rest: str = "") -> str:
    return f"/token/ethereum/{checksum(places.world.token(token).address)}{rest}"


@pytest.mark.parametrize("token", ["honest", "sell_tax"])
@pytest.mark.parametrize(
    "rest", ["?include_token_price=true", "?response_format=compat", "/summary"]
)
def test_a_report_is_that_of_one_process_to_the_byte(places: Places, token: str, rest: str) -> None:
    there, here = places.both(path_of(places, token, rest))
    assert there == here
    assert places.both(path_of(places, token, rest), process=1)[0] == here


def test_the_same_report_is_answered_the_same_to_the_byte_times_and_all(places: Places) -> None:
    """Its evidence, too, which has made-up accounts and so differs from analysis to analysis."""
    forms = ("", "?response_format=compat", "/summary", "/evidence")
    wanted = [places.single.ask(path_of(places, "buy_tax", form)).content for form in forms]
    places.fleet.ask(path_of(places, "buy_tax"))
    places.hand_over("buy_tax")
    for form, here in zip(forms, wanted, strict=True):
        for process in range(2):
            until(
                lambda form=form, process=process, here=here: (  # type: ignore[misc]  # no types
                    places.fleet.ask(path_of(places, "buy_tax", form), process=process).content
                    == here
                    or None
                )
            )


@pytest.mark.parametrize("rest", ["/exit?usd=250", "/liquidity", "/hooks"])
def test_what_takes_a_node_is_handed_over_and_answered_the_same(places: Places, rest: str) -> None:
    there, here = places.both(path_of(places, "honest", rest), process=1)
    assert there == here


def test_a_trade_is_checked_the_same(places: Places) -> None:
    token = places.world.token("sell_tax")
    definition = {
        "side": "sell",
        "amount_raw": str(10**18),
        "sender": token.holders[0],
        "router": "Uniswap V2",
    }
    there, here = places.both(path_of(places, "sell_tax", "/trade-check"), body=definition)
    assert there == here
    wrong = places.fleet.ask(
        path_of(places, "sell_tax", "/trade-check"), body={**definition, "router": "Nowhere"}
    )
    assert (wrong.status_code, wrong.json()["detail"][0]["loc"]) == (422, ["body", "router"])


def test_an_evidence_pack_is_made_where_the_node_is(places: Places) -> None:
    answer = places.fleet.ask(path_of(places, "honest", "/evidence-pack"))
    assert answer.is_success, answer.text
    assert answer.content


def test_what_is_stored_is_served_without_a_node(places: Places) -> None:
    address = checksum(places.world.token("honest").address)
    places.fleet.ask(path_of(places, "honest"))
    for path in (path_of(places, "honest", "/kin"), "/accuracy", "/usage"):
        assert places.fleet.ask(path, process=1).is_success, path
    page = places.fleet.ask(f"/t/ethereum/{address}")
    assert address in page.text
    found = places.fleet.ask(f"/search?q={places.world.token('honest').symbol}")
    assert address in found.text
    watch = places.fleet.ask(
        "/watches",
        body={"name": "mine", "tokens": [{"chain": "ethereum", "addresses": [address]}]},
    )
    assert watch.status_code in {200, 201}, watch.text


def test_the_chains_of_the_fleet_are_told_and_who_vanished_is_not_ready(places: Places) -> None:
    address = address_of(places.fleet.env["ASSAY_STORE"])
    with open_registry(address) as registry:
        registry.renew("follow", {56: None})  # its follower ended before it had a block

    def fleet_chains() -> dict[str, Any] | None:
        states = {state["chain"]: state for state in places.fleet.ask("/ready").json()["chains"]}
        return states if "chain_56" in states and states["ethereum"]["tip"] is not None else None

    states = until(fleet_chains)
    assert (states["chain_56"]["is_ready"], states["chain_56"]["reason"]) == (False, "starting")
    assert places.fleet.ask("/ready").status_code == 200  # as it follows none
    done = run("status", env=places.fleet.env)
    assert done.returncode == 1, done.stderr
    (row,) = (line for line in done.stdout.splitlines() if "chain_56" in line)
    assert "stale" in row
    assert "ethereum" in done.stdout


@pytest.mark.parametrize("roles", [("analyse",), ("follow", "api")])
def test_who_follows_or_analyses_needs_a_node(places: Places, roles: tuple[str, ...]) -> None:
    words = [word for role in roles for word in ("--role", role)]
    done = run("serve", *words, "--port", str(free_port()), env=places.fleet.env)
    assert (done.returncode, "no chain can be served" in done.stderr) == (1, True), done.stderr


async def test_two_processes_that_ask_at_once_are_both_answered(places: Places) -> None:
    path = path_of(places, "honest", "/exit")
    answers = await asyncio.gather(
        *(asyncio.to_thread(places.fleet.ask, path, process=at % 2) for at in range(6))
    )
    assert [answer.status_code for answer in answers] == [200] * 6
