"""Deployment of `tests.harness.api.world` as a fleet: API processes without a node.

They answer in turn. Their requests are analysed in this process, by the script of the test.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing
from itertools import count, cycle
from typing import Any, Protocol

import httpx
import msgspec

from analysis.pipeline.analyser import Analyser
from api.serving.cached_answer_app import CachedAnswerApp
from assay.service.fleet.fleet_messages import FleetMessages
from assay.service.fleet.fleet_parts import GuardedReportStore
from assay.service.fleet.inquiry_work import InquiryWork
from assay.service.fleet.leased_runs import LeasedRuns
from assay.service.fleet.requested_analysis import RequestedWork
from assay.service.fleet.row_poller import RunPoller
from assay.service.fleet.shared_analyser import SharedAnalyser
from assay.service.record_report import NextRefresh, record_report
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.evm.primitives import Address
from core.process.secret import Secret
from core.report.report import Report
from sql.accounts.ledger import Ledger
from sql.engine.postgres.single_statements import SingleStatements
from sql.engine.store import Store
from sql.fleet.analysis_runs import AnalysisRuns
from sql.fleet.inquiries import Inquiries
from tests.harness.api.world import CLIENT, ScriptedAnalysis, World
from tests.harness.bare_reports import bare_report
from tests.harness.fleet.api_fleet import ApiFleet

_CHAINS = {"ethereum": 1}

_MARKER = Address("0x" + "ee" * 20)
"""Token whose name shows the changes that a process has read."""

_OF_THE_SERVER = ("date", "server")
"""Headers that an application alone does not send."""

_PATIENCE_S = 20.0
_MARKS = count(1)


class Reporting(Protocol):
    """Scripted reports of tokens."""

    async def report(
        self, chain: str, address: Address, /, *, refresh: bool = False, redecompile: bool = False
    ) -> Report:
        """Return it, or raise why there is none."""
        ...


class RewrittenAnalysis(ScriptedAnalysis):
    """Script that announces its changes, as the stored report differs from the script's."""

    def __init__(self) -> None:
        self.is_changed = False
        super().__init__()

    @property
    def outcome(self) -> Report | Exception:
        """Return the outcome of any token's analysis."""
        return self._outcome

    @outcome.setter
    def outcome(self, outcome: Report | Exception) -> None:
        self._outcome = outcome
        self.is_changed = True


class ScriptedChain:
    """Analyses of chain 1, as the test has it."""

    chain_id = 1

    def __init__(self, says: Reporting) -> None:
        self.says = says

    async def scan(self, token: Address, *, redecompile: bool) -> AsyncIterator[Report]:
        """Yield the scripted reports."""
        yield await self.says.report("ethereum", token, redecompile=redecompile)


class FleetWorld(World):
    """One deployment of the API in several processes."""

    def __init__(self, fleet: ApiFleet, ledger: Ledger, store: Store) -> None:
        super().__init__(ledger)
        self.fleet = fleet
        self.clock = fleet.clock
        self.store = store
        self.analysis = self._rewritten = RewrittenAnalysis()
        self.chain = ScriptedChain(self.analysis)
        self._turns = cycle(fleet.urls)
        self._clients: list[httpx.AsyncClient] = []

    def client(self, *, peer: str = CLIENT, **changes: Any) -> httpx.AsyncClient:
        """Return a client that alternates between the processes.

        A test may change the sources of answers in the application, and the store.
        """
        self.change(**changes)
        client = httpx.AsyncClient(
            transport=_InTurn(self, peer), base_url="http://assay.test", timeout=_PATIENCE_S
        )
        self._clients.append(client)
        return client

    def change(self, **changes: Any) -> None:
        """Change the source of the processes' answers."""
        self.chain.says = changes.pop("analysis", self.analysis)
        if changes.pop("store", self.store) is not self.store or changes:
            message = f"a running process cannot be changed: {sorted(changes)}"
            raise NotImplementedError(message)

    def make_app(self, **changes: Any) -> CachedAnswerApp:
        """Raise: the application is in other processes."""
        raise NotImplementedError(sorted(changes))

    def next_url(self) -> str:
        """Return the address of the next process in turn."""
        return next(self._turns)

    async def begin(self) -> None:
        """Have store and processes forget earlier tests."""
        await asyncio.to_thread(self.fleet.clear)
        await self._until_seen()
        await asyncio.to_thread(self.fleet.clear)  # the mark
        self._rewritten.is_changed = False

    async def settle(self) -> None:
        """Have the processes forget the script from before its change."""
        if self._rewritten.is_changed:
            self._rewritten.is_changed = False
            await asyncio.to_thread(self.fleet.forget_reports)
            await self._until_seen()

    async def aclose(self) -> None:
        """Close the clients."""
        for client in self._clients:
            await client.aclose()

    async def _until_seen(self) -> None:
        """Wait until every process has read all changes up to now: they come in order."""
        mark = f"Mark {next(_MARKS)}"
        marked = bare_report(_MARKER, scanned_at_s=int(self.clock.now_s))
        marked = msgspec.structs.replace(
            marked, token=msgspec.structs.replace(marked.token, name=mark)
        )
        await asyncio.to_thread(
            record_report, self.store, marked, NextRefresh(worth=0, due_s=2**40)
        )
        headers = {"X-API-Key": self.new_key()}
        async with httpx.AsyncClient(headers=headers) as client, asyncio.timeout(_PATIENCE_S):
            for url in self.fleet.urls:
                while await _mark_at(client, url) != mark:  # noqa: ASYNC110 - of another process
                    await asyncio.sleep(0.01)


async def _mark_at(client: httpx.AsyncClient, url: str) -> object:
    answer = await client.get(f"{url}/token/1/{_MARKER}")
    return (answer.json().get("features") or {}).get("name")


class _InTurn(httpx.AsyncBaseTransport):
    """Sends each request to the next process, from a client at the address `peer`."""

    def __init__(self, world: FleetWorld, peer: str) -> None:
        self._world = world
        self._peer = peer
        self._wire = httpx.AsyncHTTPTransport()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        await self._world.settle()
        place = httpx.URL(self._world.next_url())
        request.headers.setdefault("X-Forwarded-For", self._peer)
        request.url = request.url.copy_with(host=place.host, port=place.port)
        response = await self._wire.handle_async_request(request)
        for name in _OF_THE_SERVER:
            response.headers.pop(name, None)
        return response

    async def aclose(self) -> None:
        await self._wire.aclose()


@asynccontextmanager
async def opened_fleet_world(fleet: ApiFleet, store: Store, now_s: float) -> AsyncIterator[World]:
    """Analyse the requests of the processes, until the end of the block."""
    async with AsyncExitStack() as stack:
        ledger = stack.enter_context(closing(Ledger.of_store(fleet.address)))
        statements = stack.enter_context(closing(SingleStatements(fleet.address.url.value)))
        fleet.clock.now_s = now_s
        world = FleetWorld(fleet, ledger, store)
        stack.push_async_callback(world.aclose)
        runs = AnalysisRuns(statements, holder=f"test {id(world)}")
        leased_runs, ends = LeasedRuns(runs), RunPoller(runs)
        stack.push_async_callback(ends.aclose)
        settings = AnalysisSettings()
        analyser = Analyser(
            {"ethereum": world.chain},
            GuardedReportStore(ReportStore(store, settings), runs, leased_runs),
            settings,
            world.clock,
            show=leased_runs.show,
        )
        stack.push_async_callback(analyser.aclose)
        messages = FleetMessages(Secret(fleet.valkey.url))
        shared = SharedAnalyser(
            analyser,
            runs,
            leased_runs,
            ends,
            chains=_CHAINS,
            announce=lambda chain_id, token: messages.send("ended", chain_id, token),
        )
        work = RequestedWork(
            shared, runs, leased_runs, chains=_CHAINS, at_once=settings.concurrency
        )
        inquiries = InquiryWork(
            world.quotes,
            Inquiries(statements, holder=runs.holder),
            chains=_CHAINS,
            at_once=settings.concurrency,
            announce=lambda chain_id, token: messages.send("answered", chain_id, token),
        )
        messages.subscribe("asked", lambda _chain_id, _token: work.wake())
        messages.subscribe("inquired", lambda _chain_id, _token: inquiries.wake())
        stop = asyncio.Event()
        tasks = [
            asyncio.create_task(task)
            for task in (
                leased_runs.keep(stop),
                work.run(stop),
                inquiries.run(stop),
                messages.run(stop),
            )
        ]
        try:
            await world.begin()
            yield world
        finally:
            world.analysis.gate.set()
            stop.set()
            await _end(tasks)
            await leased_runs.aclose()


async def _end(tasks: Sequence[asyncio.Task[None]]) -> None:
    """Wait for cancelled tasks; those that do not end are left."""
    _, left = await asyncio.wait(tasks, timeout=_PATIENCE_S)
    for task in left:
        task.cancel()
    if left:
        await asyncio.wait(left, timeout=_PATIENCE_S)
