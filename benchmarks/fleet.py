"""Analyses per second of one and of two analysing processes, with a node 50 ms away.

Real processes of `assay serve --role analyse` on an embedded PostgreSQL and the demo's chain. More
callers than there are slots request new analyses of every token in turn.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import msgspec

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.world import build_world
from assay.service.fleet.requested_analysis import RequestedAnalysis
from assay.service.fleet.row_poller import RunPoller
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.errors import AssayError, TokenRefusedError
from core.evm.primitives import Address
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from tests.harness.measure.machine import ROOT, describe
from tests.harness.measure.process_cost import Process
from tests.harness.parts.empty_databases import connect_store
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.postgres_server import running_postgres
from tests.harness.parts.tcp_proxy import proxied

SLUG, CHAIN_ID = "ethereum", 1
TRIP_S = 0.05
CALLERS = 24
START_S = 60.0


class Rate(msgspec.Struct, frozen=True, kw_only=True):
    """Rate of analyses with a number of processes."""

    processes: int
    per_s: float
    """Analyses that ended a second."""
    cpu_share: float
    """Cores used by the analysing processes together."""
    rest_share: float
    """The same of node, database, proxy and callers: where both together are all the cores that
    there are, a second process has nothing left to use."""


@contextmanager
def analysing(count: int, env: Mapping[str, str]) -> Iterator[list[Process]]:
    """Run a number of analysing processes."""
    with ExitStack() as stack:
        found = []
        for _ in range(count):
            port = free_port()
            words = ["-m", "assay", "serve", "--role", "analyse", "--port", str(port)]
            process = subprocess.Popen(
                [sys.executable, *words],
                cwd=ROOT,
                env={**os.environ, **env},
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
            )
            stack.callback(process.wait)
            stack.callback(process.terminate)
            _await_answer(port)
            found.append(Process(process.pid))
        yield found


def _await_answer(port: int) -> None:
    deadline_s = time.monotonic() + START_S
    while time.monotonic() < deadline_s:
        with suppress(httpx.TransportError):
            httpx.get(f"http://127.0.0.1:{port}/health")
            return
        time.sleep(0.1)
    message = "a process did not start"
    raise TimeoutError(message)


class Callers:
    """Callers that request analyses in turn, each of a token that no other waits for."""

    def __init__(self, shared_analysis: RequestedAnalysis, tokens: Sequence[Address]) -> None:
        self._asked = shared_analysis
        self._waiting = list(tokens)
        self.ended = 0

    async def call(self) -> None:
        """Request one token after the other until cancelled."""
        while True:
            token = self._waiting.pop(0)
            try:
                await self._asked.report(SLUG, token, refresh=True)
            finally:
                self._waiting.append(token)
            self.ended += 1


async def measure(
    shared_analysis: RequestedAnalysis,
    tokens: Sequence[Address],
    processes: Sequence[Process],
    seconds: float,
) -> Rate:
    """Measure for some seconds, after a warm-up of a quarter of that."""
    callers = Callers(shared_analysis, tokens)
    tasks = [asyncio.create_task(callers.call()) for _ in range(min(CALLERS, len(tokens) - 1))]
    await asyncio.sleep(seconds / 4)
    everything = [Process(os.getpid())]
    before, began_s = callers.ended, time.monotonic()
    cpu_s, all_cpu_s = _cpu_s(processes), _cpu_s(everything)
    await asyncio.sleep(seconds)
    taken_s = time.monotonic() - began_s
    used_s, all_used_s = _cpu_s(processes) - cpu_s, _cpu_s(everything) - all_cpu_s
    found = Rate(
        processes=len(processes),
        per_s=(callers.ended - before) / taken_s,
        cpu_share=used_s / taken_s,
        rest_share=(all_used_s - used_s) / taken_s,
    )
    for task in tasks:
        task.cancel()
    for end in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(end, AssayError):
            print("  a caller ended:", end)
    return found


def _cpu_s(processes: Sequence[Process]) -> float:
    return sum(one.cpu_s() for process in processes for one in process.family())


async def admitted(shared_analysis: RequestedAnalysis, tokens: Sequence[Address]) -> list[Address]:
    """The tokens that pass the gate, all of them analysed once."""
    ends = await asyncio.gather(
        *(shared_analysis.report(SLUG, token) for token in tokens), return_exceptions=True
    )
    return [
        token
        for token, end in zip(tokens, ends, strict=True)
        if not isinstance(end, TokenRefusedError)
    ]


async def compare(
    url: str,
    folder: Path,
    env: Mapping[str, str],
    tokens: Sequence[Address],
    args: argparse.Namespace,
) -> list[Rate]:
    """Measure one and two processes in turn."""
    settings = AnalysisSettings(wait_s=60.0)
    with (
        closing(SingleStatements(url)) as statements,
        closing(connect_store(url, path=folder / "files")) as store,
    ):
        runs = AnalysisRuns(statements, holder="benchmark")
        ends = RunPoller(runs)
        shared_analysis = RequestedAnalysis(
            runs,
            ends,
            ReportStore(store, settings),
            chains={SLUG: CHAIN_ID},
            settings=settings,
            now_s=time.time,
        )
        with analysing(1, env):
            tokens = await admitted(shared_analysis, tokens)
        print(f"{len(tokens)} tokens, {args.concurrency} at a time in each process")
        rates = []
        for _ in range(args.rounds):
            for count in (1, 2):
                with analysing(count, env) as processes:
                    rates.append(await measure(shared_analysis, tokens, processes, args.seconds))
                last = rates[-1]
                print(
                    f"  {count} processes: {last.per_s:.2f} analyses/s, "
                    f"{last.cpu_share:.2f} cores; the rest {last.rest_share:.2f}",
                    flush=True,
                )
        await ends.aclose()
        return rates


def main() -> None:
    """See above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=20.0)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--concurrency", type=int, default=AnalysisSettings().concurrency)
    args = parser.parse_args()
    print(describe(f"the demo's tokens, a node {1_000 * TRIP_S:.0f} ms away"))
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-fleet-")))
        node = stack.enter_context(AnvilNode())
        world = build_world(node)
        more = f"[analysis]\nconcurrency = {args.concurrency}\nrounds_every_s = 3600.0\n"
        write_overlay(world, folder, more=more)
        far = stack.enter_context(proxied(urlsplit(node.url).port or 0))
        far.delay(TRIP_S / 2)
        postgres = stack.enter_context(running_postgres())
        env = {
            "ASSAY_RPC_1": f"http://127.0.0.1:{far.port}",
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": postgres.url(),
            "ASSAY_LAKE": str(folder / "lake"),
        }
        tokens = [token.address for token in world.tokens]
        rates = asyncio.run(compare(postgres.url(), folder, env, tokens, args))
    one, two = (
        statistics.median(rate.per_s for rate in rates if rate.processes == count)
        for count in (1, 2)
    )
    print(f"two processes do {two / one:.2f} times the analyses of one (medians)")


if __name__ == "__main__":
    main()
