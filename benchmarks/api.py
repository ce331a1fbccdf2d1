"""Cost of a call through the service, compared with the smallest ASGI application.

Three servers on one core, callers on another, all on the same HTTP server: an ASGI application that
only sends the bytes, Litestar with one route that sends them, and ours with keys, limits and
counts. Ratios are of alternating rounds, so that other work on the machine affects all of them.

--soak MINUTES: full load on ours for that long, with its memory.
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
from collections.abc import Sequence
from contextlib import ExitStack
from itertools import cycle
from pathlib import Path

import httpx

from tests.harness.measure.http_load import call
from tests.harness.measure.machine import describe
from tests.harness.measure.prepared_tables import (
    KEYS,
    MANY_POOLS,
    TOKENS,
    Server,
    numbered_address,
    prepare_tables,
    require_success,
    serving,
    token_request,
)

ROUNDS = 5
ROUND_S = 2
HALF_LOAD_S = 6.0
SOAK_ROUND_S = 10

WRK_SCRIPT = """
local keys, paths, at = {KEYS}, {PATHS}, 0
request = function()
  at = at + 1
  local headers = {["X-API-Key"] = keys[at % #keys + 1], ["Host"] = "localhost"}
  return wrk.format("GET", paths[at % #paths + 1], headers)
end
"""


class FullLoad:
    """Calls at the rate one server can sustain: by wrk where installed, else by our own load.

    Our own is slower than the server.
    """

    def __init__(self, keys: list[str], tokens: Sequence[int], folder: Path) -> None:
        """Cycle through keys and tokens; their numbers should share no factor."""
        self._wrk = shutil.which("wrk")
        self._script = folder / "calls.lua"
        self._requests = cycle(
            [token_request(tokens[at % len(tokens)], key) for at, key in enumerate(keys * 5)]
        )
        script = WRK_SCRIPT.replace("KEYS", ",".join(f'"{key}"' for key in keys))
        paths = ",".join(f'"/token/1/{numbered_address(token)}"' for token in tokens)
        self._script.write_text(script.replace("PATHS", paths), encoding="ascii")
        print(f"callers: {'wrk, 32 connections' if self._wrk else 'our own (wrk is not here)'}")

    def calls(self, server: Server, *, seconds: int = ROUND_S) -> tuple[int, float]:
        """Return completed calls and calls per second."""
        if self._wrk is None:
            load = require_success(call(server.port, self._requests, seconds=seconds))
            return len(load.took_s), load.calls_per_s
        url = f"http://127.0.0.1:{server.port}"
        output = subprocess.run(
            [self._wrk, "-t1", "-c32", f"-d{seconds}s", "-s", str(self._script), url],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        if "Non-2xx" in output or "Socket errors" in output:
            sys.exit(output)
        (count,) = re.findall(r"(\d+) requests in", output)
        (rate,) = re.findall(r"Requests/sec: +([\d.]+)", output)
        return int(count), float(rate)


def compare(servers: dict[str, Server], load: FullLoad) -> float:
    """Print rate and processor time of each server; return the rate of Assay's."""
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
    """Print times of first reads from the tables, without a node; return the last body."""
    took_ms, body = [], b""
    headers = {"X-API-Key": keys[0]}
    with httpx.Client(base_url=f"http://127.0.0.1:{server.port}", headers=headers) as client:
        client.get("/usage").raise_for_status()
        for token in range(TOKENS):
            started = time.perf_counter()
            answer = client.get(f"/token/1/{numbered_address(token)}")
            took_ms.append(1000 * (time.perf_counter() - started))
            body = answer.raise_for_status().content
    tail = statistics.quantiles(took_ms, n=20)[-1]
    print(
        f"cold read from the tables: p50 {statistics.median(took_ms):.1f} ms (asked: under 5)  "
        f"p95 {tail:.1f} ms"
    )
    return body


def show_large(server: Server, keys: list[str]) -> None:
    """Print first and later times of a token with very many pools, by coding."""
    before_mb = server.memory_mb()
    url, key = f"http://127.0.0.1:{server.port}/token/1/{numbered_address(TOKENS)}", keys[0]
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
    """Print times at half of the full rate; those of the bare server are the machine's share."""
    requests = cycle([token_request(TOKENS - 1, key) for key in keys])
    for kind, server in servers.items():
        half = require_success(
            call(server.port, requests, seconds=HALF_LOAD_S, calls_per_s=rate / 2)
        )
        times = "  ".join(f"p{at:g} {half.percentile_ms(at):.2f} ms" for at in (50, 99, 99.9))
        target = "  (asked: p99 under 5 ms)" if kind == "assay" else ""
        print(f"{kind:7} at {rate / 2:.0f} calls/s: {times}{target}")


def measure(folder: Path) -> None:
    """Print all figures except the soak."""
    keys = prepare_tables(folder)
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
    """Print memory under full load over all tokens, so that responses expire and are read again."""
    load = FullLoad(prepare_tables(folder), range(TOKENS - 1), folder)  # 299 is prime
    with serving("assay", folder) as server:
        samples, completed, until = [], 0, time.monotonic() + 60 * minutes
        while time.monotonic() < until:
            calls, rate = load.calls(server, seconds=SOAK_ROUND_S)
            completed += calls
            samples.append(server.memory_mb())
            print(f"{completed:9} calls  {rate:6.0f}/s  {samples[-1]:6.1f} MB", flush=True)
    warm = samples[len(samples) // 3 :]
    print(
        f"memory after the first third: {min(warm):.1f} to {max(warm):.1f} MB, "
        f"{max(warm) - min(warm):.1f} MB apart (asked: within 50)"
    )


def main() -> None:
    """Measure, or soak."""
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
