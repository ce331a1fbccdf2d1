"""Protects docs/operate/jobs.md, followed on a real chain, and a job run through kill -9."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread
from typing import Any, ClassVar

import httpx
import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.npm_packages import PROJECT_ROOT
from core.evm.primitives import checksum
from tests.harness.chain.assay_process import run, running, until
from tests.harness.parts.free_ports import free_port
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

PAGE = (ROOT / "docs" / "operate" / "jobs.md").read_text(encoding="utf-8")
BLOCKS = [tuple(found) for found in re.findall(r"^```(\w+)\n(.*?)^```$", PAGE, re.S | re.M)]

SETTINGS = """
[analysis]
rounds_every_s = 0.2
background_requests_per_hour = 100000000
background_cpu_s_per_hour = 100000.0
"""


class _Outside(BaseHTTPRequestHandler):
    """Service without data that records its requests."""

    requests: ClassVar[list[str]] = []

    def do_GET(self) -> None:
        self.requests.append(self.path.lower())
        self.send_response(404)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class Place(msgspec.Struct):
    """A chain, and the environment of a service on it."""

    world: World
    folder: Path
    env: dict[str, str]
    key: str
    port: int = 0

    def call(self, method: str, path: str, body: object = None) -> dict[str, Any]:
        sent = httpx.request(
            method,
            f"http://127.0.0.1:{self.port}{path}",
            json=body,
            headers={"X-API-Key": self.key},
            timeout=30,
        )
        assert sent.is_success, sent.text
        answer: dict[str, Any] = sent.json()
        return answer

    def ended_runs(self, name: str, count: int = 1) -> list[dict[str, Any]]:
        """Return the ended runs of a job, once there are `count`."""

        def ended_or_none() -> list[dict[str, Any]] | None:
            runs: list[dict[str, Any]] = self.call("GET", f"/jobs/{name}")["runs"]
            ended = [one for one in runs if one["outcome"] is not None]
            return ended if len(ended) >= count else None

        return until(ended_or_none)

    @contextmanager
    def service(self) -> Iterator[subprocess.Popen[str]]:
        """Run a ready service on a free port."""
        self.port = free_port()
        with running("serve", "--port", str(self.port), env=self.env) as process:

            def ready() -> bool | None:
                assert process.poll() is None, process.stdout and process.stdout.read()
                with suppress(httpx.TransportError):
                    found = httpx.get(f"http://127.0.0.1:{self.port}/ready").status_code
                    return found == 200 or None
                return None

            until(ready)
            yield process

    def has_nothing_due(self) -> bool:
        """True if the background has no token to analyse."""
        metrics = httpx.get(f"http://127.0.0.1:{self.port}/metrics").text
        found = re.findall(r'^assay_due_tasks{.*kind="refresh".*} (\S+)$', metrics, re.M)
        assert found
        return not sum(map(float, found))

    def rows(self, sql: str) -> list[dict[str, Any]]:
        output = run("sql", sql, "--output", "json", env=self.env)
        assert output.returncode == 0, output.stderr
        names, *rows = map(msgspec.json.decode, output.stdout.splitlines())
        return [dict(zip(names, row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def outside() -> Iterator[str]:
    """Address of the services outside the chain."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Outside)
    thread = Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(scope="module")
def place(
    tmp_path_factory: pytest.TempPathFactory, anvil_node: AnvilNode, demo_world: World, outside: str
) -> Iterator[Place]:
    """On the chain that all tests share, with a block of now: an old one is no chain that moves."""
    snapshot = anvil_node.snapshot()
    anvil_node.set_time(max(anvil_node.head_time() + 1, int(time.time())))
    folder = tmp_path_factory.mktemp("jobs")
    (configured,) = (text for kind, text in BLOCKS if kind == "toml")
    # The page has a folder of where the service was started.
    configured = configured.replace('"exports"', f'"{folder}/exports"')
    write_overlay(demo_world, folder, outside_url=outside, more=SETTINGS + configured)
    env = {
        "ASSAY_RPC_1": anvil_node.url,
        "ASSAY_CONFIG": str(folder),
        "ASSAY_STORE": str(folder / "store.duckdb"),
    }
    made = run(*("keys", "create", "--operator", "--plan", "admin", "--label", "test"), env=env)
    yield Place(world=demo_world, folder=folder, env=env, key=made.stdout.strip())
    anvil_node.revert(snapshot)


def _asked_of(token: str) -> int:
    """Return the number of the source service's requests for a token."""
    return sum("sourcify" in path and token in path for path in _Outside.requests)


def follow(place: Place, text: str) -> str:
    """Run a block of the page as a person would."""
    tokens = [checksum(place.world.token(key).address) for key in ("honest", "sell_tax")]
    script = place.folder / "bin" / "assay"
    script.parent.mkdir(exist_ok=True)
    command = f'#!/bin/sh\ncd {PROJECT_ROOT} && exec {sys.executable} -m assay "$@"\n'
    script.write_text(command, encoding="utf-8")
    script.chmod(0o755)
    env = {
        **place.env,
        "PATH": f"{script.parent}:{os.environ['PATH']}",
        "KEY": place.key,
        "URL": f"http://127.0.0.1:{place.port}",
        "TOKEN": tokens[0],
        "OTHER_TOKEN": tokens[1],
    }
    done = subprocess.run(
        ["/bin/sh", "-ec", text], env=env, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_page_can_be_followed(place: Place) -> None:
    at_command_line, over_api = (text for kind, text in BLOCKS if kind == "sh")
    with place.service():
        # Pools have their worth from reports, which the background makes of what it finds.
        deep = "select distinct token from v_pool_results where liquidity_usd > 10000"
        until(lambda: len(place.rows(deep)) > 3 or None)
        place.call("POST", "/jobs/new-pools/run")
        (ended,) = place.ended_runs("new-pools")
        assert (ended["outcome"], ended["error"]) == ("succeeded", None)
        assert ended["tokens"] > 3
        assert ended["tokens"] == ended["done"] + ended["young"] + ended["refused"]

        token = place.world.token("honest").address
        callers_required_before = _asked_of(token)
        assert "treasury" in follow(place, at_command_line)
        (ended,) = place.ended_runs("treasury")
        assert (ended["outcome"], ended["done"], ended["cause"]) == ("succeeded", 2, "request")
        began = ended["started_at"].rstrip("Z")
        # Though the source service's answer is not an hour old.
        assert _asked_of(token) > callers_required_before
        fresh = f"select 1 as one from v_tokens where address = '{token}'"  # noqa: S608 - ours
        assert place.rows(f"{fresh} and scanned_at >= timestamp '{began}'")

        follow(place, over_api)
        (ended,) = place.ended_runs("nightly")
        assert (ended["outcome"], ended["error"]) == ("succeeded", None)
        assert ended["rows_exported"] > 0
        written = {path.name for path in (place.folder / "exports" / "night").iterdir()}
        assert {"v_verdicts.parquet", "v_flags.parquet"} <= written
        metrics = httpx.get(f"http://127.0.0.1:{place.port}/metrics").text
        assert 'assay_job_runs_total{job_name="nightly",outcome="succeeded"} 1.0' in metrics
        assert 'assay_job_period_seconds{job_name="nightly"} 86400.0' in metrics


def test_a_killed_run_goes_on_and_analyses_nothing_twice(place: Place) -> None:
    """After the page, so that only the job's tokens are due."""
    with place.service() as process:
        until(lambda: place.has_nothing_due() or None)
        tokens = [f"1/{token.address}" for token in place.world.tokens]
        place.call(
            *("POST", "/jobs"),
            {"name": "all", "action": "refresh", "every_s": 86400, "tokens": tokens},
        )
        place.call("POST", "/jobs/all/run")

        def is_in_between() -> bool | None:
            runs = place.call("GET", "/jobs/all")["runs"]
            return (bool(runs) and runs[0]["done"] >= 6) or None

        until(is_in_between)
        os.kill(process.pid, signal.SIGKILL)
        process.wait(30)
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
    with place.service():
        (ended,) = place.ended_runs("all")
    assert ended["outcome"] in ("succeeded", "partly_failed")
    assert ended["tokens"] == len(tokens)
    assert ended["done"] + ended["refused"] + ended["failed"] == len(tokens)
    assert ended["done"] >= 6
    began = ended["started_at"].rstrip("Z")
    counted = place.rows(
        "select token, count(*) as reports from v_report_history "  # noqa: S608 - ours
        f"where scanned_at >= timestamp '{began}' group by token"
    )
    assert len(counted) == ended["done"]
    assert {row["reports"] for row in counted} == {1}
