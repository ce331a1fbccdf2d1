"""What the way of a call through the service costs, beside the least that an application can do.

Three servers on one core, callers on another, all on the same HTTP server: an ASGI application that
only sends the bytes, Litestar with one route that sends them, and ours with keys, limits and
counts. Ratios are of rounds that took turns, so what else the machine does falls on all of them.

--soak MINUTES: full load on ours for so long, and what its memory did.
"""

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from itertools import cycle
from pathlib import Path

import httpx

from assay.service.record_report import record_report
from assay.service.refresh_policy import next_refresh
from benchmarks._load import Load, call
from benchmarks._machine import ROOT, describe
from benchmarks._process import Process
from benchmarks._server import LEDGER, STORE
from config.plans import load_plans
from config.settings_model import AnalysisSettings
from core.evm.primitives import Address
from core.report.report import PoolResultRow, Report
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from tests.harness.api.sample_reports import DEAD, make_holder, make_pool, make_report

ROUNDS = 5
ROUND_S = 2
HALF_LOAD_S = 6.0
SOAK_ROUND_S = 10
KEYS = 600
"""On the plan `enterprise`, 50 calls a second each: together more than any server here answers."""
TOKENS = 300
POOLS = 11
"""With them an answer has about 6 KB."""
MANY_POOLS = 30_000

WRK_SCRIPT = """
local keys, paths, at = {KEYS}, {PATHS}, 0
request = function()
  at = at + 1
  local headers = {["X-API-Key"] = keys[at % #keys + 1], ["Host"] = "localhost"}
  return wrk.format("GET", paths[at % #paths + 1], headers)
end
"""


class Server(Process):
    """A child process that serves."""

    def __init__(self, pid: int, port: int) -> None:
        super().__init__(pid)
        self.port = port


@contextmanager
def serving(kind: str, path: Path) -> Iterator[Server]:
    """One server of `benchmarks._server`, stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "benchmarks._server", kind, str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as service managers start it
    )
    try:
        yield Server(process.pid, int(process.stdout.readline() if process.stdout else ""))
    finally:
        process.terminate()
        process.wait(30)


def address(number: int) -> Address:
    """Any address."""
    return Address(f"0x{number + 2**150:040x}")


def report_of(token: int, pools: int) -> Report:
    """A settled report of now, with so many pools and ten holders."""
    rows: list[PoolResultRow] = [
        make_pool(ordinal=at, pool=address(1000 * token + at), liquidity_usd=90_000.0 / (at + 1))
        for at in range(pools)
    ]
    holders = [make_holder(address(at), 10**22, at=at) for at in range(10)]
    return make_report(
        pools=tuple(rows),
        holders=(*holders, make_holder(DEAD, 10**21, role="burn")),
        address=address(token),
        scanned_at_s=int(time.time()),
    )


def _write(store: Store, report: Report) -> None:
    record_report(store, report, next_refresh(report, AnalysisSettings()))


def prepare(folder: Path) -> list[str]:
    """A store with reports and a ledger with keys; the keys."""
    with closing(Store.open(folder / STORE)) as store:
        for token in range(TOKENS):
            _write(store, report_of(token, POOLS))
        _write(store, report_of(TOKENS, MANY_POOLS))
    plan = load_plans()["enterprise"]
    with closing(Ledger.open(folder / LEDGER)) as ledger:
        return [ledger.create_key(plan, "bench", time.time()).plaintext for _ in range(KEYS)]


def request(token: int, key: str) -> bytes:
    """One call as it goes over the wire."""
    lines = (f"GET /token/1/{address(token)} HTTP/1.1", "Host: localhost", f"X-API-Key: {key}")
    return "\r\n".join((*lines, "", "")).encode()


def check(load: Load) -> Load:
    """Every call was answered with what it asked for."""
    if set(load.statuses) != {200}:
        sys.exit(f"not every call was answered: {load.statuses}")
    return load


class FullLoad:
    """As many calls as one server answers: by wrk where it is installed, else by our own callers,
    who are slower than the server."""

    def __init__(self, keys: list[str], tokens: Sequence[int], folder: Path) -> None:
        """In turn with each key and about each token; their numbers should share no factor."""
        self._wrk = shutil.which("wrk")
        self._script = folder / "calls.lua"
        self._requests = cycle(
            [request(tokens[at % len(tokens)], key) for at, key in enumerate(keys * 5)]
        )
        script = WRK_SCRIPT.replace("KEYS", ",".join(f'"{key}"' for key in keys))
        paths = ",".join(f'"/token/1/{address(token)}"' for token in tokens)
        self._script.write_text(script.replace("PATHS", paths), encoding="ascii")
        print(f"callers: {'wrk, 32 connections' if self._wrk else 'our own (wrk is not here)'}")

    def calls(self, server: Server, *, seconds: int = ROUND_S) -> tuple[int, float]:
        """Calls answered, and calls a second."""
        if self._wrk is None:
            load = check(call(server.port, self._requests, seconds=seconds))
            return len(load.took_s), load.calls_per_s
        url = f"http://127.0.0.1:{server.port}"
        said = subprocess.run(
            [self._wrk, "-t1", "-c32", f"-d{seconds}s", "-s", str(self._script), url],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if "Non-2xx" in said or "Socket errors" in said:
            sys.exit(said)
        (count,) = re.findall(r"(\d+) requests in", said)
        (rate,) = re.findall(r"Requests/sec: +([\d.]+)", said)
        return int(count), float(rate)


def compare(servers: dict[str, Server], load: FullLoad) -> float:
    """Calls a second and processor time a call of each server, in turns. Ours: calls a second."""
    rates: dict[str, list[float]] = {kind: [] for kind in servers}
    costs: dict[str, list[float]] = {kind: [] for kind in servers}
    for _ in range(ROUNDS):
        for kind, server in servers.items():
            before_s = server.cpu_s()
            calls, rate = load.calls(server)
            rates[kind].append(rate)
            costs[kind].append(1e6 * (server.cpu_s() - before_s) / calls)
    for kind in servers:
        ratios = [ours / its for ours, its in zip(rates["assay"], rates[kind], strict=True)]
        saved = [its / ours for ours, its in zip(costs["assay"], costs[kind], strict=True)]
        print(
            f"{kind:7}{statistics.median(rates[kind]):7.0f} calls/s"
            f"{statistics.median(costs[kind]):6.1f} us of processor a call; "
            f"ours: {statistics.median(ratios):.2f} of it "
            f"({min(ratios):.2f} to {max(ratios):.2f}), "
            f"{statistics.median(saved):.2f} by processor time"
            f"{' (asked: 0.70)' if kind == 'bare' else ''}"
        )
    return statistics.median(rates["assay"])


def show_cold(server: Server, keys: list[str]) -> bytes:
    """One token after another, each for the first time, by one caller: tables, no node. The last
    body."""
    took_ms, body = [], b""
    headers = {"X-API-Key": keys[0]}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers) as client:
        client.get("/usage").raise_for_status()
        for token in range(TOKENS):
            started = time.perf_counter()
            answer = client.get(f"/token/1/{address(token)}")
            took_ms.append(1000 * (time.perf_counter() - started))
            body = answer.raise_for_status().content
    tail = statistics.quantiles(took_ms, n=20)[-1]
    print(
        f"cold read from the tables: p50 {statistics.median(took_ms):.1f} ms (asked: under 5)  "
        f"p95 {tail:.1f} ms"
    )
    return body


def show_large(server: Server, keys: list[str]) -> None:
    """One token with very many pools: first and later, as it is and compressed."""
    before_mb = server.memory_mb()
    url, key = f"http://127.0.0.1:{server.port}/token/1/{address(TOKENS)}", keys[0]
    with httpx.Client(timeout=60) as client:
        for coding in ("identity", "gzip", "zstd"):
            headers = {"X-API-Key": key, "Accept-Encoding": coding}
            took_ms, length = [], 0
            for _ in range(6):
                started = time.perf_counter()
                with client.stream("GET", url, headers=headers) as answer:
                    length = sum(map(len, answer.raise_for_status().iter_raw()))
                took_ms.append(1000 * (time.perf_counter() - started))
            print(
                f"{MANY_POOLS} pools, {coding:8} {length / 1e6:4.1f} MB: "
                f"first {took_ms[0]:5.0f} ms, then {statistics.median(took_ms[1:]):5.1f} ms"
            )
    print(f"memory for it: {server.memory_mb() - before_mb:.0f} MB more")


def show_half_load(servers: dict[str, Server], keys: list[str], rate: float) -> None:
    """Times at half of what ours answers; those of the bare one are what the machine adds."""
    requests = cycle([request(TOKENS - 1, key) for key in keys])
    for kind, server in servers.items():
        half = check(call(server.port, requests, seconds=HALF_LOAD_S, calls_per_s=rate / 2))
        times = "  ".join(f"p{at:g} {half.percentile_ms(at):.2f} ms" for at in (50, 99, 99.9))
        asked = "  (asked: p99 under 5 ms)" if kind == "assay" else ""
        print(f"{kind:7} at {rate / 2:.0f} calls/s: {times}{asked}")


def measure(folder: Path) -> None:
    """All numbers but the soak."""
    keys = prepare(folder)
    with ExitStack() as stack:
        ours = stack.enter_context(serving("assay", folder))
        body = show_cold(ours, keys)
        (folder / "body").write_bytes(body)
        bare = stack.enter_context(serving("bare", folder / "body"))
        router = stack.enter_context(serving("router", folder / "body"))
        print(f"cached answer of {len(body)} bytes, {KEYS} keys in turn, auth, limits, counts on")
        load = FullLoad(keys, [TOKENS - 1], folder)
        rate = compare({"bare": bare, "router": router, "assay": ours}, load)
        show_half_load({"bare": bare, "assay": ours}, keys, rate)
        show_large(ours, keys)


def soak(folder: Path, minutes: float) -> None:
    """Full load over all tokens, so that answers expire and are read again."""
    load = FullLoad(prepare(folder), range(TOKENS - 1), folder)  # 299 is prime
    with serving("assay", folder) as server:
        samples, answered, until = [], 0, time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            calls, rate = load.calls(server, seconds=SOAK_ROUND_S)
            answered += calls
            samples.append(server.memory_mb())
            print(f"{answered:9} calls  {rate:6.0f}/s  {samples[-1]:6.1f} MB", flush=True)
    warm = samples[len(samples) // 3 :]
    print(
        f"memory after the first third: {min(warm):.1f} to {max(warm):.1f} MB, "
        f"{max(warm) - min(warm):.1f} MB apart (asked: within 50)"
    )


def main() -> None:
    """See the top."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--soak", type=float, metavar="MINUTES")
    minutes = parser.parse_args().soak
    os.sched_setaffinity(0, {1 % (os.cpu_count() or 1)})
    with tempfile.TemporaryDirectory(prefix="assay-bench-") as folder:
        print(
            describe("a report with 11 pools, one with 30,000; server and callers on a core each")
        )
        if minutes is None:
            measure(Path(folder))
        else:
            soak(Path(folder), minutes)


if __name__ == "__main__":
    main()
