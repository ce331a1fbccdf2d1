"""Protects the whole: the program as a person runs it, on a real node that also fails."""

import csv
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.npm_packages import PROJECT_ROOT
from assay.demo.outside_services import run_outside
from assay.demo.world import build_world
from core.evm.primitives import checksum
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from tests.harness.chain.assay_process import run, run_on_terminal, running, session_members, until
from tests.harness.deploy.deploy_files import base_name, metrics_asked_for
from tests.harness.parts.free_ports import free_port
from tests.harness.store.traded_history import write_history

pytestmark = pytest.mark.process

SETTINGS = """
[rpc]
timeout_s = 1.0
attempts = 2

[analysis]
wait_s = 3.0
rounds_every_s = 3600.0
"""
"""Short limits, so that failures show soon, and no background analyses."""


class Deployment(msgspec.Struct):
    """A node with the world, and the environment of a service on it."""

    node: AnvilNode
    world: World
    env: dict[str, str]


class Served(msgspec.Struct):
    """A running service."""

    deployment: Deployment
    client: httpx.Client

    def ask(self, key: str, query: str = "") -> httpx.Response:
        address = checksum(self.deployment.world.token(key).address)
        return self.client.get(f"/token/ethereum/{address}{query}")


@pytest.fixture(scope="module")
def deployment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Deployment]:
    folder = tmp_path_factory.mktemp("deployment")
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        outside_url = stack.enter_context(run_outside(node, world))
        write_overlay(world, folder, outside_url=outside_url, more=SETTINGS)
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": str(folder / "store.duckdb"),
        }
        yield Deployment(node=node, world=world, env=env)


@pytest.fixture(scope="module")
def served(deployment: Deployment) -> Iterator[Served]:
    port = free_port()
    made = run("keys", "create", "--plan", "admin", "--label", "test", env=deployment.env)
    headers = {"X-API-Key": made.stdout.strip()}
    with (
        running("serve", "--port", str(port), env=deployment.env) as process,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30) as client,
    ):

        def ready() -> bool | None:
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                return client.get("/ready").status_code == 200 or None
            except httpx.TransportError:
                return None

        until(ready)
        yield Served(deployment=deployment, client=client)


def test_the_demo_prints_a_line_that_works_and_leaves_nothing_behind() -> None:
    port = str(free_port())
    with running("--log-format", "json", "demo", "--port", port, env={}) as process:
        assert process.stdout is not None
        lines = []
        for line in process.stdout:
            lines.append(line)
            if line.startswith("{"):
                break
        logged = msgspec.json.decode(lines.pop())
        assert (logged["event"], logged["level"]) == ("listening", "info")
        assert logged["url"] == f"http://127.0.0.1:{port}"
        assert logged["following"] == "Ethereum (1)"
        assert lines[-1].startswith("Ctrl-C")
        curl_line = re.search(r"curl -H '(X-API-Key): (\S+)' (\S+)", "".join(lines))
        assert curl_line is not None, "".join(lines)
        name, key, url = curl_line.groups()
        answer = httpx.get(url, headers={name: key}, timeout=30)
        assert answer.status_code == 200
        assert answer.json()["features"]["dex"]
        _try_another_terminal(lines)
        process.send_signal(signal.SIGINT)
        process.wait(30)
        until(lambda: True if not session_members(process.pid) else None)


def _try_another_terminal(lines: list[str]) -> None:
    """The demo's exports make other commands work, and its page is there."""
    printed = [line.strip() for line in lines if line.startswith(("export ASSAY_", "assay "))]
    program = f'assay() {{ {shlex.quote(sys.executable)} -m assay "$@"; }}'
    script = [program, *printed, 'assay sql "select count(*) > 0 from v_pools"']
    said = subprocess.run(
        ["/bin/sh", "-e", "-c", "\n".join(script)],
        cwd=PROJECT_ROOT,
        env={name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert said.returncode == 0, said.stdout + said.stderr
    assert "fresh" in said.stdout
    assert "[true]" in said.stdout
    assert '"symbol":"TRAP"' in said.stdout
    (page,) = (line.split()[1] for line in lines if line.startswith("page: "))
    assert httpx.get(page, timeout=30).status_code == 200


def test_unseen_tokens_are_judged_on_request(served: Served) -> None:
    features = served.ask("sell_tax").json()["features"]
    assert features["symbol"] == "STAX"
    (pool,) = features["dex"]
    assert pool["sell_success"] is True
    assert pool["sell_tax"] > pool["buy_tax"] == 0


@pytest.mark.parametrize(
    ("key", "source"),
    [("honest", "aggregator"), ("v4_honest", "aggregator"), ("v2_usdc", "pool_spot")],
)
def test_prices_say_who_gave_them(served: Served, key: str, source: str) -> None:
    answer = served.ask(key, "?include_token_price=true").json()
    assert answer["price_source"] == source
    assert answer["token_usd_price"] > 0
    assert answer["market_cap_usd"] > 0
    assert answer["price_age_seconds"] is None


def test_a_stable_that_nobody_prices_is_pinned(served: Served) -> None:
    """USDT has no pool with a separate price here: one in a stable curve alone."""
    stable = served.deployment.world.venues.stables[1].address
    answer = served.client.get(f"/token/ethereum/{stable}?include_token_price=true").json()
    assert (answer["price_source"], answer["token_usd_price"]) == ("stablecoin_pin", 1.0)


def test_verified_sources_are_told_and_missing_ones_too(served: Served) -> None:
    assert served.ask("honest").json()["features"]["is_open_source"] is True
    assert served.ask("v2_usdc").json()["features"]["is_open_source"] is False


def test_a_node_that_stops_answering_is_our_failure_and_passes(served: Served) -> None:
    known = served.ask("honest")
    assert known.status_code == 200
    served.deployment.node.freeze()
    try:
        started = time.monotonic()
        unseen = served.ask("mintable")
        assert unseen.status_code == 500, unseen.text
        assert unseen.json()["error_code"] == "analysis_failed"
        assert unseen.json()["features"] is None
        assert time.monotonic() - started < 15
        assert served.ask("honest").content == known.content
        assert served.client.get("/health").status_code == 200
    finally:
        served.deployment.node.thaw()
    until(lambda: True if served.ask("mintable").status_code == 200 else None)


def test_hostile_tokens_end_in_a_refusal_or_an_answer(served: Served) -> None:
    for key in ("symbol_burns_gas", "symbol_reverts"):
        refused = served.ask(key)
        assert (refused.status_code, refused.json()["error_code"]) == (422, "not_a_token")
    assert len(served.ask("symbol_megabyte").json()["features"]["symbol"]) <= 256


def test_metrics_say_what_the_service_does(served: Served) -> None:
    served.ask("honest")
    # The run ends a moment after its report is handed out.
    settled = re.compile(r'assay_analysis_seconds_count\{[^}]*outcome="settled"[^}]*\} [1-9]')
    until(lambda: settled.search(served.client.get("/metrics").text))
    ready = served.client.get("/ready").json()
    families = {
        family.name: family
        for family in text_string_to_metric_families(served.client.get("/metrics").text)
    }
    exist = {sample.name for family in families.values() for sample in family.samples}
    documented_metrics = metrics_asked_for()
    assert not {
        name for name in documented_metrics if not {name, base_name(name)} & families.keys()
    }

    def value(name: str, **labels: str) -> float:
        (found,) = (
            sample.value
            for family in families.values()
            for sample in family.samples
            if sample.name == name and sample.labels.items() >= labels.items()
        )
        return float(found)

    chain = {"chain": "ethereum"}
    assert value("assay_follower_tip_block", **chain) >= ready["chains"][0]["tip"]
    assert value("assay_follower_blocks_total", **chain) > 0
    assert value("assay_follower_rows_total", **chain, table="pools") > 0
    assert value("assay_analysis_seconds_count", **chain, outcome="settled") >= 1
    assert value("assay_analysis_stage_seconds_count", **chain, stage="sales") >= 1
    assert value("assay_node_requests_total", method="eth_simulateV1", result="ok") >= 1
    assert value("assay_node_bytes_total", **chain, direction="received") > 1_000
    assert value("assay_due_tasks", **chain, kind="refresh", overdue="older") == 0
    assert value("assay_static_lookups_total", result="analysed") >= 1
    assert value("assay_store_bytes", file="serving") > 0
    assert "assay_store_disk_free_bytes" in exist


def test_others_may_read_the_store_while_it_is_served(served: Served) -> None:
    env = served.deployment.env
    served.ask("buy_tax")
    found = run("sql", "select symbol from v_tokens where symbol = 'BTAX'", env=env)
    assert found.stdout.splitlines() == ['["symbol"]', '["BTAX"]']
    refused = run("sql", "delete from token", env=env)
    assert (refused.returncode, "SELECT" in refused.stderr) == (1, True)
    shown = run("status", env=env)
    assert shown.returncode == 0, shown.stderr
    assert "fresh" in shown.stdout


def test_one_process_owns_the_store(served: Served) -> None:
    second = run("serve", "--port", str(free_port()), env=served.deployment.env)
    assert second.returncode == 1
    assert "store.duckdb" in second.stderr


@pytest.mark.parametrize(
    ("options", "env", "has_card", "has_colours"),
    [
        ((), {}, True, True),
        ((), {"NO_COLOR": "1"}, True, False),
        (("--output", "card"), {}, True, True),
        (("--output", "json"), {"NO_COLOR": "1"}, False, False),
        (("--format", "summary"), {"NO_COLOR": "1"}, False, False),
        (("--format", "summary", "--output", "csv"), {"NO_COLOR": "1"}, False, False),
    ],
)
def test_a_terminal_gets_a_card(
    deployment: Deployment,
    options: tuple[str, ...],
    env: dict[str, str],
    has_card: bool,
    has_colours: bool,
) -> None:
    address = checksum(deployment.world.token("sell_blocked").address)
    code, sent = run_on_terminal("scan", "ETH", address, *options, env={**deployment.env, **env})
    assert code == 0, sent
    assert ("\x1b" in sent) is has_colours
    assert ("Risks" in sent) is has_card
    assert "TRAP" in sent or "summary" in options
    assert address in sent
    if has_card:
        order = [
            "only the owner can sell",
            "Risks",
            "Simulated sales",
            "Unknown",
            "Pools",
        ]
        places = [sent.index(part) for part in order]
        assert places == sorted(places)


def test_a_pipe_gets_what_it_asks_for(deployment: Deployment) -> None:
    address = checksum(deployment.world.token("honest").address)
    card = run("scan", "eth", address, "--output", "card", env=deployment.env)
    assert "No problems found" in card.stdout
    assert "\x1b" not in card.stdout + card.stderr
    table = run("scan", "eth", address, "--output", "csv", env=deployment.env)
    (row,) = csv.DictReader(table.stdout.splitlines())
    assert (row["chain"], row["contract_address"], row["symbol"]) == ("ethereum", address, "HONEST")
    assert msgspec.json.decode(row["dex"])[0]["buy_success"] is True


def test_a_scan_reads_history_from_the_store(deployment: Deployment, tmp_path: Path) -> None:
    """A store in the place must open; without one no history is known."""
    address, path = deployment.world.token("honest").address, tmp_path / "store"
    with closing(Store.open(path)) as store:
        write_history(store, chain_id=1, token=address, until_s=int(time.time()))
    env = {**deployment.env, "ASSAY_STORE": str(path)}
    before = sorted(tmp_path.iterdir())
    ended = run("scan", "ethereum", address, env=env)
    assert ended.returncode == 0, ended.stderr
    assert sorted(tmp_path.iterdir()) == before
    StoreFiles(prefix=path).serving.write_bytes(b"no database" * 100)
    assert run("scan", "ethereum", address, env=env).returncode == 1


@pytest.mark.parametrize(
    ("arguments", "env", "code", "words"),
    [
        (("scan", "ethereum", "{honest}"), {}, 0, ""),
        (("scan", "1", "{honest}", "--format", "summary"), {}, 0, ""),
        (("scan", "ethereum", "{honest}", "--format", "evidence"), {}, 0, ""),
        (("scan", "ethereum", "{symbol_reverts}"), {}, 3, "not_a_token"),
        (("scan", "ethereum", "0x" + "1" * 40), {}, 3, "not_a_contract"),
        (("scan", "ethereum", "0x" + "0" * 40), {}, 3, "burn_address"),
        (("scan", "ethereum", "0x12"), {}, 3, "invalid_address"),
        (("scan", "nowhere", "{honest}"), {}, 2, "nowhere"),
        (("scan", "56", "{honest}"), {}, 1, "ASSAY_RPC_56"),
        (("scan", "56", "{honest}"), {"ASSAY_RPC_56": "{node}"}, 1, "chain id 1, expected 56"),
        (("scan", "1", "{honest}"), {"ASSAY_RPC_1": "http://127.0.0.1:1"}, 1, "127.0.0.1:1"),
        (("scan", "1", "{honest}"), {"ASSAY_RPC_1": "nonsense"}, 1, "ASSAY_RPC_1"),
        (("scan", "1", "{honest}"), {"ASSAY_CONFIG": "/nowhere"}, 1, "ASSAY_CONFIG"),
        (("serve",), {"ASSAY_RPC_1": ""}, 1, "ASSAY_RPC_"),
    ],
)
def test_commands_end_with_the_documented_code_and_a_clear_word(
    deployment: Deployment,
    tmp_path: Path,
    arguments: tuple[str, ...],
    env: dict[str, str],
    code: int,
    words: str,
) -> None:
    names = {token.key: token.address for token in deployment.world.tokens}
    names["node"] = deployment.node.url  # type: ignore[assignment]  # a name like the others here
    command_env = {name: value.format(**names) for name, value in env.items()}
    ended = run(
        *(argument.format(**names) for argument in arguments),
        env={**deployment.env, "ASSAY_STORE": str(tmp_path / "s.duckdb"), **command_env},
    )
    assert ended.returncode == code, ended.stderr
    assert words in ended.stderr
    assert "Traceback" not in ended.stderr
    if arguments[0] == "scan" and code in (0, 3):
        assert msgspec.json.decode(ended.stdout)["chain"] == "ethereum"
