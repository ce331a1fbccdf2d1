"""Protects the end: SIGTERM ends every command within its grace period, whatever is going on."""

import http.server
import json
import signal
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.harness.api.attackers import SHAPES
from tests.harness.chain.assay_process import run, running, until
from tests.harness.parts.free_ports import free_port

pytestmark = pytest.mark.process

INDEX_S = 20.0
"""Without the stop a back-fill takes 41 s for its eight tries."""
SERVICE_S = 30.0

BLOCK = {
    "number": hex(1_000_000),
    "hash": f"0x{1:064x}",
    "parentHash": f"0x{2:064x}",
    "timestamp": "0x68000000",
    "logsBloom": f"0x{0:0512x}",
    "miner": f"0x{0:040x}",
}


class OddNode(http.server.ThreadingHTTPServer):
    """Node of Ethereum that fails every query for logs, or rejects everything for a day."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.calls = Counter[str]()
        self.is_limiting = False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}"

    def answer(self, call: dict[str, Any]) -> dict[str, Any]:
        self.calls[call["method"]] += 1
        head = {"jsonrpc": "2.0", "id": call["id"]}
        match call["method"]:
            case "eth_chainId":
                return {**head, "result": "0x1"}
            case "eth_getBlockByNumber":
                number = call["params"][0]
                block = BLOCK if number == "latest" else {**BLOCK, "number": number}
                return {**head, "result": block}
            case _:
                return {**head, "error": {"code": -32002, "message": "request timed out"}}


class _Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        node = self.server
        assert isinstance(node, OddNode)
        call = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        answers = (
            [node.answer(one) for one in call] if isinstance(call, list) else node.answer(call)
        )
        body = json.dumps(answers).encode()
        self.send_response(429 if node.is_limiting else 200)
        if node.is_limiting:
            self.send_header("Retry-After", "86400")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Print nothing."""


@pytest.fixture
def node() -> Iterator[OddNode]:
    with OddNode() as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield server
        server.shutdown()
        thread.join()


def test_a_back_fill_that_is_trying_again_ends_and_says_how_to_go_on(
    node: OddNode, tmp_path: Path
) -> None:
    env = {"ASSAY_RPC_1": node.url, "ASSAY_STORE": str(tmp_path / "store.duckdb")}
    with running("index", "ethereum", "--from", "0", "--to", "200", env=env) as process:
        until(lambda: True if node.calls["eth_getLogs"] > 3 else None)
        begun_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
    assert time.monotonic() - begun_s < INDEX_S
    assert process.returncode == 1
    assert "the same command continues" in output


def test_a_service_with_a_paused_node_streams_and_half_sent_bodies_ends(
    node: OddNode, tmp_path: Path
) -> None:
    env = {"ASSAY_RPC_1": node.url, "ASSAY_STORE": str(tmp_path / "store.duckdb")}
    key = run("keys", "create", "--plan", "admin", "--label", "test", env=env).stdout.strip()
    port = free_port()
    with running("serve", "--port", str(port), env=env) as process:

        def is_up() -> bool | None:
            try:
                return httpx.get(f"http://127.0.0.1:{port}/health").status_code == 200 or None
            except httpx.TransportError:
                assert process.poll() is None
                return None

        until(is_up)
        node.is_limiting = True
        calls = node.calls.total()
        until(lambda: True if node.calls.total() > calls else None)
        stream = f"GET /watches/events HTTP/1.1\r\nHost: a\r\nX-API-Key: {key}\r\n\r\n".encode()
        opened = [socket.create_connection(("127.0.0.1", port)) for _ in range(6)]
        for one, sent in zip(opened, (stream, SHAPES["form"]) * 3, strict=True):
            one.sendall(sent)
        time.sleep(0.5)
        begun_s = time.monotonic()
        process.send_signal(signal.SIGTERM)
        output, _ = process.communicate(timeout=60)
        for one in opened:
            one.close()
    assert time.monotonic() - begun_s < SERVICE_S
    assert (process.returncode, "by force" in output) == (0, False)
