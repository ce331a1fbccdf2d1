"""Protects a watched token from changes during an outage: kill -9, and a start."""

import os
import signal
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import httpx
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.compile import Artifacts
from assay.demo.embedded_chain import write_overlay
from assay.demo.world import build_world
from core.evm.primitives import checksum
from sql.engine.store_files import StoreFiles
from tests.harness.chain.assay_process import free_port, run, running, until
from tests.harness.chain.transactions import Chain
from tests.harness.watches.watched_scene import place

pytestmark = pytest.mark.process

SETTINGS = """
[indexer]
poll_s = 0.1
changed_every_blocks = 1

[analysis]
rounds_every_s = 3600.0
"""


@contextmanager
def serving(env: dict[str, str], key: str) -> Iterator[httpx.Client]:
    """The service until it is killed with -9 at the end."""
    port = free_port()
    with (
        running("serve", "--port", str(port), env=env) as process,
        httpx.Client(
            base_url=f"http://127.0.0.1:{port}", headers={"X-API-Key": key}, timeout=60
        ) as client,
    ):

        def ready() -> bool | None:
            assert process.poll() is None, process.stdout and process.stdout.read()
            try:
                return client.get("/ready").status_code == 200 or None
            except httpx.TransportError:
                return None

        until(ready)
        yield client
        os.killpg(process.pid, signal.SIGKILL)


def rows(store: Path, query: str) -> list[tuple[object, ...]]:
    with closing(sqlite3.connect(StoreFiles(prefix=store).serving)) as opened:
        found = opened.execute(query).fetchall()
        opened.commit()
        return found


def test_a_kill_loses_no_change_and_doubles_none(artifacts: Artifacts, tmp_path: Path) -> None:
    store = tmp_path / "store"
    with AnvilNode() as node:
        world = build_world(node)
        chain = Chain(node, world, artifacts)
        write_overlay(world, tmp_path, more=SETTINGS)
        token = place(chain)
        rates = chain.deploy("Rates")
        assert chain.send(token.owner, token.address, "setRates(address)", rates).success
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_CONFIG": str(tmp_path),
            "ASSAY_STORE": str(store),
        }
        key = run("keys", "create", "--plan", "admin", "--label", "x", env=env).stdout.strip()
        with serving(env, key) as client:
            answer = client.get(f"/token/ethereum/{checksum(token.address)}")
            assert answer.json()["features"]["dex"][0]["sell_tax"] == 0
            until(lambda: rows(store, "select 1 from report where is_settled = 1") or None)
            rows(store, "insert into watch (id, is_paused) values (1, 0)")
            rows(
                store, "insert into watch_token (watch_id, token_id) select 1, token_id from report"
            )
            chain.mine()
            until(lambda: rows(store, "select 1 from watched_reserves") or None)
            chain.send(token.owner, token.address, "setTax(uint256)", 8)
            until(lambda: rows(store, "select 1 from observation") or None)
        chain.send(token.holders[0], rates, "push(address,uint256)", token.address, 9)
        head = node.head_number()
        with serving(env, key):
            report = "select block_number from report where is_settled = 1"
            until(lambda: max(rows(store, report), default=(0,)) >= (head,) or None)
            due = "select 1 from task where kind = 'changed'"
            until(lambda: not rows(store, due) or None)
        seen = rows(
            store, "select kind, count(*), count(distinct what) from observation group by 1"
        )
        kinds = {str(kind): (count, different) for kind, count, different in seen}
        assert kinds["owner_call"] == (1, 1)
        assert set(kinds) == {"owner_call", "state"}
        words = rows(store, "select detail from observation where kind = 'state' order by 1 desc")
        assert len({str(word[0]).split()[1] for word in words}) == len(words)  # each value once
        (tax,) = rows(store, "select sell_tax from report_pool")
        assert tax[0] == pytest.approx(9, abs=0.1)
