"""Protects callers while an analysis is running, fails, or is repeated."""

import asyncio
from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.analyser import Analyser, KnownReport
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.reads.node import Node
from assay.service.background.due_tokens import DueTokenJob
from assay.service.background.refresh_budget import budgets_of
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.errors import StoreError, TokenRefusedError, UpstreamError
from core.evm.primitives import Address, BlockRef
from core.report.report import Report
from core.report.rows import RefusalRow
from core.rpc.messages import RpcAnswer, RpcRequest
from sql.engine.store import Store
from sql.reports.report_tables import read_refusal, read_report
from sql.tokens.tokens import track_tokens
from tests.harness.chain.transactions import Chain
from tests.harness.clock import HandClock

SLUG = "ethereum"
CHAIN_ID = 1


class Gated:
    """A real node that keeps one method waiting until it is let through, and can be cut off."""

    def __init__(self, node: Node, method: str) -> None:
        self._node = node
        self._method = method
        self.open = asyncio.Event()
        self.is_cut = False
        self.heads_asked = 0

    async def fetch_head(self) -> BlockRef:
        self.heads_asked += 1
        if self.is_cut:
            raise UpstreamError(service="node", reason="cut off")
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        methods = [request.method for request in requests]
        self.heads_asked += sum(request.params[:1] == ("latest",) for request in requests)
        if self.is_cut:
            raise UpstreamError(service="node", reason="cut off")
        if self._method in methods:
            await self.open.wait()
        return await self._node.batch(requests)


class Scene(msgspec.Struct):
    """An analyser over a real node and a real store, with the wire and the clock in our hands."""

    analyser: Analyser
    node: Gated
    store: Store
    clock: HandClock
    settings: AnalysisSettings

    def stored(self, token: Address) -> Report | None:
        return read_report(self.store, chain_id=CHAIN_ID, address=token)


@pytest.fixture
async def scene(context: ChainContext) -> AsyncIterator[Scene]:
    store = Store.open(Path(":memory:"))
    clock, node = HandClock(), Gated(context.node, "eth_simulateV1")
    settings = AnalysisSettings(wait_s=3.0, refresh_after_s=60.0, serve_stale_s=600.0)
    gated = ChainContext(
        chain=context.chain,
        node=node,
        index=ReportStore(store, AnalysisSettings()),
        settings=settings,
        now_s=clock,
    )
    analyser = Analyser(
        {SLUG: ChainScanner(gated)}, ReportStore(store, AnalysisSettings()), settings, clock
    )
    yield Scene(analyser=analyser, node=node, store=store, clock=clock, settings=settings)
    await analyser.aclose()
    store.close()


async def until_settled(scene: Scene, token: Address) -> Report:
    while True:
        report = scene.stored(token)
        if report is not None and report.token.is_settled:
            return report
        await asyncio.sleep(0.01)


def as_stored(report: Report) -> Report:
    """A report as it is read again: the shape of its code is kept for kin alone."""
    return msgspec.structs.replace(report, shape=None)


async def test_who_is_too_early_gets_pending_and_the_next_the_answer(
    chain: Chain, scene: Scene
) -> None:
    token = chain.world.token("sell_tax").address
    early = await asyncio.gather(*(scene.analyser.report(SLUG, token) for _ in range(3)))
    for report in early:
        assert report.pools is not None
        assert [(pool.buy, pool.sell_tax) for pool in report.pools] == [("pending", None)]
        assert report.token.transfer_success is None
        assert report.token.symbol == "STAX"
    assert scene.node.heads_asked == 1  # one run for all
    scene.node.open.set()
    settled = await until_settled(scene, token)
    assert await scene.analyser.report(SLUG, token) == settled
    assert scene.node.heads_asked == 1  # and for the next, which finds it


async def test_what_is_known_is_recalled_without_an_analysis(chain: Chain, scene: Scene) -> None:
    token = chain.world.token("honest").address
    nothing = KnownReport(report=None, is_recent=False, is_running=False)
    assert await scene.analyser.recall(SLUG, token) == nothing
    assert scene.node.heads_asked == 0
    early = await scene.analyser.report(SLUG, token)
    assert not early.token.is_settled
    running = msgspec.structs.replace(nothing, is_running=True)
    assert await scene.analyser.recall(SLUG, token) == running
    scene.node.open.set()
    settled = await until_settled(scene, token)
    recent = await scene.analyser.recall(SLUG, token)
    assert (recent.report, recent.is_recent) == (settled, True)
    scene.clock.now_s += scene.settings.refresh_after_s + 1
    old = KnownReport(report=settled, is_recent=False, is_running=False)
    assert await scene.analyser.recall(SLUG, token) == old
    assert scene.node.heads_asked == 1


async def test_an_old_report_is_made_anew_and_refresh_does_not_wait_for_age(
    chain: Chain, scene: Scene
) -> None:
    scene.node.open.set()
    token = chain.world.token("honest").address
    first = await scene.analyser.report(SLUG, token)
    scene.clock.now_s += scene.settings.refresh_after_s - 1
    assert await scene.analyser.report(SLUG, token) == as_stored(first)
    again = await scene.analyser.report(SLUG, token, refresh=True)
    assert again.token.scanned_at_s > first.token.scanned_at_s
    scene.clock.now_s += scene.settings.refresh_after_s + 1
    third = await scene.analyser.report(SLUG, token)
    assert third.token.scanned_at_s > again.token.scanned_at_s


async def test_a_dead_node_leaves_the_last_report_standing_for_a_while_only(
    chain: Chain, scene: Scene
) -> None:
    scene.node.open.set()
    known, unknown = (chain.world.token(key).address for key in ("honest", "mintable"))
    report = await scene.analyser.report(SLUG, known)
    scene.node.is_cut = True
    scene.clock.now_s += scene.settings.refresh_after_s + 1
    assert await scene.analyser.report(SLUG, known) == as_stored(report)
    with pytest.raises(UpstreamError):
        await scene.analyser.report(SLUG, unknown)
    scene.clock.now_s += scene.settings.serve_stale_s
    with pytest.raises(UpstreamError):
        await scene.analyser.report(SLUG, known)
    scene.node.is_cut = False
    assert (await scene.analyser.report(SLUG, known)).token.is_settled


async def test_rounds_judge_what_nobody_asked_for_and_remember_refusals(
    chain: Chain, scene: Scene
) -> None:
    scene.node.open.set()
    honest, refused = (chain.world.token(key).address for key in ("honest", "symbol_reverts"))
    with scene.store.transaction() as tx:
        track_tokens(tx, chain_id=CHAIN_ID, seen={honest: 1, refused: 1}, because="pool")
    rounds = DueTokenJob(
        analyser=scene.analyser,
        store=scene.store,
        chains={SLUG: CHAIN_ID},
        settings=scene.settings,
        budgets=budgets_of([SLUG], scene.settings, scene.clock),
        now_s=scene.clock,
    )
    await rounds.go(SLUG)
    report = scene.stored(honest)
    assert report is not None
    assert report.token.is_settled
    refusal = read_refusal(scene.store, chain_id=CHAIN_ID, address=refused)
    assert refusal is not None
    assert refusal.code == "not_a_token"
    heads_before = scene.node.heads_asked
    await rounds.go(SLUG)
    assert scene.node.heads_asked == heads_before  # nothing is due any more


async def test_a_report_that_did_not_settle_is_kept_only_when_nothing_better_comes(
    chain: Chain, scene: Scene
) -> None:
    token = chain.world.token("sell_tax").address
    early = await scene.analyser.report(SLUG, token)
    assert not early.token.is_settled
    assert scene.stored(token) is None  # the run goes on, and the caller has it from there
    scene.node.is_cut = True
    scene.node.open.set()
    with pytest.raises(UpstreamError):
        await scene.analyser.refresh(SLUG, token)
    assert scene.stored(token) == as_stored(early)
    assert await scene.analyser.report(SLUG, token) == as_stored(early)


class SlowShelf(ReportStore):
    """Tables that take their time."""

    def __init__(self, store: Store) -> None:
        super().__init__(store, AnalysisSettings())
        self.open = asyncio.Event()
        self.written = 0

    async def write(self, report: Report) -> None:
        await self.open.wait()
        await super().write(report)
        self.written += 1


async def test_nobody_waits_for_the_tables_and_none_is_judged_twice_for_them(
    chain: Chain, context: ChainContext, scene: Scene
) -> None:
    report_store = SlowShelf(scene.store)
    settings = msgspec.structs.replace(scene.settings, wait_s=3600.0)
    analyser = Analyser({SLUG: ChainScanner(context)}, report_store, settings, context.now_s)
    token = chain.world.token("honest").address
    async with asyncio.timeout(60):
        first = await analyser.report(SLUG, token)
    assert first.token.is_settled
    assert report_store.written == 0
    next_one = asyncio.create_task(analyser.report(SLUG, token))
    await asyncio.sleep(0)
    report_store.open.set()
    assert await next_one == as_stored(first)
    assert report_store.written == 1
    assert scene.stored(token) == as_stored(first)


class FullShelf(ReportStore):
    """Tables on a disk without room."""

    async def write(self, report: Report) -> None:
        raise StoreError(path="store", reason="No space left on device")

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        raise StoreError(path="store", reason="No space left on device")


async def test_a_full_disk_costs_no_answer(
    chain: Chain, context: ChainContext, scene: Scene
) -> None:
    report_store = FullShelf(scene.store, scene.settings)
    analyser = Analyser({SLUG: ChainScanner(context)}, report_store, scene.settings, scene.clock)
    report = await analyser.report(SLUG, chain.world.token("honest").address)
    assert report.token.is_settled
    assert scene.stored(report.token.address) is None
    with pytest.raises(TokenRefusedError):
        await analyser.report(SLUG, chain.world.token("symbol_reverts").address)


async def test_a_refusal_reaches_everybody_who_waits(chain: Chain, scene: Scene) -> None:
    token = chain.world.token("symbol_burns_gas").address
    refusals = await asyncio.gather(
        *(scene.analyser.report(SLUG, token) for _ in range(3)), return_exceptions=True
    )
    assert [getattr(error, "code", None) for error in refusals] == ["not_a_token"] * 3
    assert all(isinstance(error, TokenRefusedError) for error in refusals)
