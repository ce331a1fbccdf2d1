"""Tokens with 30,000 Uniswap V4 pools each, nearly all of them next to empty.

Cost of the first answer of a real service, of later ones, and of several in one call. The pools'
states are written into the storage of the real manager on a node of this machine; one pool in the
middle of them is real, deep and traded. Times are of the whole call over HTTP; processor time is
the service's with all its processes, and the node's.
"""

import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path

import httpx

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import ZooToken
from assay.demo.world import build_world
from config.facts.chain import Chain
from config.facts.load_chains import load_chains
from config.load_settings import load_settings
from config.plans import load_plans
from indexer.ingest import extend_all
from sql.accounts.ledger import Ledger
from sql.chain.pool_tables import insert_pools
from sql.engine.store import Store
from tests.harness.liquidity.empty_pools import crowd
from tests.harness.measure.machine import ROOT, describe
from tests.harness.measure.process_cost import Process

POOLS = 30_000
GIANTS = ("v4_honest", "v4_usdc", "v4_transfer_tax")
AGAIN = 20
"""Calls that a median is of."""

_PATIENCE_S = 60.0
_SETTINGS = """
[analysis]
rounds_every_s = 3600.0
"""
"""Settings without background rounds."""


class Service:
    """`assay serve` on the node, and a caller of it."""

    def __init__(self, process: Process, node: Process, client: httpx.Client) -> None:
        self.process = process
        self._node = node
        self._client = client

    def get(self, path: str, coding: str = "identity") -> tuple[float, int]:
        """Seconds one call takes, and the bytes that come."""
        started = time.perf_counter()
        headers = {"Accept-Encoding": coding}
        with self._client.stream("GET", path, headers=headers) as answer:
            length = sum(map(len, answer.raise_for_status().iter_raw()))
        return time.perf_counter() - started, length

    def show(self, what: str, path: str, coding: str = "identity", *, again: int = AGAIN) -> None:
        """The first call and those after it."""
        ours_s, node_s = self._ours_s(), self._node.cpu_s()
        first_s, length = self.get(path, coding)
        ours_s, node_s = self._ours_s() - ours_s, self._node.cpu_s() - node_s
        later_s = self._ours_s()
        again_s = [self.get(path, coding)[0] for _ in range(again)]
        later_s = (self._ours_s() - later_s) / again
        print(
            f"{what:28}{length / 1e6:6.2f} MB: first {1000 * first_s:5.0f} ms "
            f"(processor: ours {1000 * ours_s:4.0f}, node {1000 * node_s:4.0f}), then "
            f"{1000 * statistics.median(again_s):5.1f} ms (ours {1000 * later_s:.1f}), longest "
            f"{1000 * max(again_s):5.1f}; memory {self.process.memory_mb():.0f} MB"
        )

    def show_batch(self, addresses: Sequence[str], coding: str) -> None:
        """All of them in one call."""
        started = time.perf_counter()
        answer = self._client.post(
            "/tokens/ethereum", json={"addresses": addresses}, headers={"Accept-Encoding": coding}
        ).raise_for_status()
        took_s, body = time.perf_counter() - started, answer.json()
        counts = ", ".join(f"{len(body[name])} {name}" for name in ("results", "errors", "pending"))
        print(
            f"{len(addresses)} of them in one call, {coding}: {took_s:.2f} s, "
            f"{len(answer.content) / 1e6:.1f} MB unpacked; {counts}"
        )

    def check(self, token: ZooToken) -> None:
        """The whole list, deepest first."""
        dex = self._client.get(f"/token/ethereum/{token.address}").json()["features"]["dex"]
        if (
            len(dex) != POOLS
            or dex[0]["pool_id"] != token.pool.pool_id
            or not dex[0]["buy_success"]
        ):
            sys.exit(f"not the answer: {len(dex)} pools, the first {dex[0]}")
        depths = [pool["liquidity"] for pool in dex]
        if depths != sorted(depths, reverse=True):
            sys.exit("not sorted by depth")

    def _ours_s(self) -> float:
        return sum(process.cpu_s() for process in self.process.family())


@contextmanager
def serving(env: dict[str, str], key: str) -> Iterator[Service]:
    """Run the service as a separate process, stopped at the end."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    (node,) = (one for one in Process(os.getpid()).family() if one.name() == "anvil")
    process = subprocess.Popen(
        [sys.executable, "-m", "assay", "serve", "--port", str(port)],
        cwd=ROOT,
        env={**os.environ, **env},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    url = f"http://127.0.0.1:{port}"
    try:
        with httpx.Client(base_url=url, headers={"X-API-Key": key}, timeout=_PATIENCE_S) as client:
            _await_ready(client)
            yield Service(Process(process.pid), node, client)
    finally:
        process.terminate()
        process.wait(_PATIENCE_S)


def _await_ready(client: httpx.Client) -> None:
    end = time.monotonic() + _PATIENCE_S
    while time.monotonic() < end:
        try:
            if client.get("/ready").is_success:
                return
        except httpx.TransportError:
            pass
        time.sleep(0.1)
    sys.exit("the service did not start")


def measure(service: Service, ordinary: str, giants: list[ZooToken]) -> None:
    """Print the table."""
    service.get(f"/token/ethereum/{ordinary}")  # what the first call of all brings up is not theirs
    before_mb = service.process.memory_mb()
    print(f"memory before: {before_mb:.0f} MB")
    giant = giants[0]
    at = f"/token/ethereum/{giant.address}"
    service.show("as it is", at)
    service.show("gzip", at, "gzip")
    service.show("zstd", at, "zstd")
    service.show("compat, zstd", f"{at}?response_format=compat", "zstd")
    service.show("summary", f"{at}/summary")
    service.show("evidence", f"{at}/evidence")
    goplus = f"/goplus/api/v1/token_security/1?contract_addresses={giant.address}"
    service.show("GoPlus", goplus)
    service.show("judged each time, zstd", f"{at}?refresh=true", "zstd", again=5)
    service.check(giant)
    print(f"memory for it: at most {service.process.peak_mb() - before_mb:.0f} MB more")
    addresses = [token.address for token in giants]
    for coding in ("identity", "zstd"):
        service.show_batch(addresses, coding)
    print(f"memory for all: at most {service.process.peak_mb() - before_mb:.0f} MB more")


def fill(path: Path, node: AnvilNode, chain: Chain, giants: list[ZooToken]) -> None:
    """A store in which the chain's pools are indexed."""
    with closing(Store.open(path)) as store, store.transaction() as tx:
        for token in giants:
            insert_pools(tx, crowd(node, chain, token, count=POOLS))
        extend_all(
            tx,
            chain_id=chain.id,
            subjects=[f"pools:{dex.factory}" for dex in chain.dexes],
            first=0,
            last=10**6,
        )


def main() -> None:
    """See the top."""
    with AnvilNode() as node, tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        world = build_world(node)
        overlay = write_overlay(world, Path(folder), more=_SETTINGS)
        chain = next(chain for chain in load_chains(overlay) if chain.id == node.chain_id)
        env = {
            f"ASSAY_RPC_{chain.id}": node.url,
            "ASSAY_CONFIG": str(overlay),
            "ASSAY_STORE": str(Path(folder) / "bench.duckdb"),
        }
        settings = load_settings(env)
        giants = [world.token(key) for key in GIANTS]
        fill(settings.store.prefix, node, chain, giants)
        with closing(Ledger.of_store(settings.store)) as ledger:
            key = ledger.create_key(load_plans()["admin"], "bench", time.time()).plaintext
        print(describe(f"tokens with {POOLS} V4 pools"))
        with serving(env, key) as service:
            measure(service, world.token("honest").address, giants)


if __name__ == "__main__":
    main()
