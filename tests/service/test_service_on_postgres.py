"""Protects a service with its store in PostgreSQL: commands work on it."""

import os
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.outside_services import run_outside
from assay.demo.world import build_world
from core.evm.primitives import checksum
from tests.harness.chain.assay_process import run, running, until
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.postgres_server import PostgresServer

pytestmark = pytest.mark.process

SETTINGS = """
[analysis]
wait_s = 8.0
rounds_every_s = 3600.0
"""


class Deployment(msgspec.Struct):
    """A node with the world, a service on it, and the environment of commands."""

    world: World
    env: dict[str, str]
    client: httpx.Client


@pytest.fixture(scope="module")
def served(
    tmp_path_factory: pytest.TempPathFactory, empty_databases: EmptyDatabases
) -> Iterator[Deployment]:
    folder, port = tmp_path_factory.mktemp("deployment"), free_port()
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        outside_url = stack.enter_context(run_outside(node, world))
        write_overlay(world, folder, outside_url=outside_url, more=SETTINGS)
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": empty_databases.create_bare(),
            "ASSAY_LAKE": str(folder / "lake"),
            "TMPDIR": str(folder),
        }
        made = run("keys", "create", "--plan", "admin", "--label", "test", env=env)
        process = stack.enter_context(running("serve", "--port", str(port), env=env))
        headers = {"X-API-Key": made.stdout.strip()}
        client = stack.enter_context(
            httpx.Client(base_url=f"http://127.0.0.1:{port}", headers=headers, timeout=30)
        )

        def ready() -> bool | None:
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                return client.get("/ready").status_code == 200 or None
            except httpx.TransportError:
                return None

        until(ready)
        yield Deployment(world=world, env=env, client=client)


def test_a_token_is_analysed_and_its_call_is_counted(served: Deployment) -> None:
    address = checksum(served.world.token("honest").address)
    answer = served.client.get(f"/token/ethereum/{address}")
    assert answer.status_code == 200, answer.text
    assert answer.json()["features"]["dex"]
    used = until(lambda: served.client.get("/usage").json()["lifetime"]["used"] or None)
    assert used == 1


def test_commands_work_while_the_service_runs(served: Deployment) -> None:
    (row,) = run("keys", "list", env=served.env).stdout.splitlines()
    assert msgspec.json.decode(row)["label"] == "test"
    assert "fresh" in run("status", env=served.env).stdout
    address = served.world.token("honest").address
    made = run("watch", "add", "mine", "1", address, env=served.env)
    assert made.returncode == 0, made.stderr
    assert run("watch", "list", env=served.env).stdout.count("mine") == 1
    made = run(
        "jobs", "add", "daily", "--token", f"1/{address}", "--every", "86400", env=served.env
    )
    assert made.returncode == 0, made.stderr
    assert "daily" in run("jobs", "list", env=served.env).stdout


def test_a_backup_beside_the_service_is_restored_by_commands(
    served: Deployment,
    tmp_path: Path,
    empty_databases: EmptyDatabases,
    postgres_server: PostgresServer,
) -> None:
    path = f"{postgres_server.programs}{os.pathsep}{os.environ['PATH']}"
    made = run("backup", str(tmp_path / "backup"), env={**served.env, "PATH": path})
    assert made.returncode == 0, made.stderr
    again = {
        **served.env,
        "PATH": path,
        "ASSAY_STORE": empty_databases.create_bare(),
        "ASSAY_LAKE": str(tmp_path / "lake"),
    }
    put_back = run("restore", str(tmp_path / "backup"), env=again)
    assert put_back.returncode == 0, put_back.stderr
    for words in (("keys", "list"), ("watch", "list"), ("jobs", "list")):
        first = run(*words, env=served.env).stdout  # empty, unless another test added some
        assert run(*words, env=again).stdout == first
    verdicts = "select token, verdict from v_verdicts order by token limit 3"
    first = run("sql", verdicts, env=served.env).stdout
    assert first
    assert run("sql", verdicts, env=again).stdout == first
