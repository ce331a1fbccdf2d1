"""A followed chain with a token that can change, the comparison of its state, and its analyses."""

import asyncio
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec

from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from assay.demo.anvil import ETHER
from assay.demo.compile import compile_sources
from assay.demo.layout import Sides, ZooToken
from assay.demo.seeding import fetch_addresses, seed
from assay.demo.transaction_pipeline import Pipeline
from assay.service.background.changed_tokens import ChangedTokenJob, NoticedChange
from assay.service.background.refresh_budget import budgets_of
from assay.service.background.state_watch import StateWatch
from assay.service.store_adapter import ReportStore
from config.facts.chain import Chain as ChainFacts
from config.settings import AnalysisSettings, IndexerSettings, RpcSettings
from core.evm.primitives import Address, BlockRef
from core.report.report import Report
from core.rpc.client import RpcClient
from indexer.head.follow import follow
from indexer.head.follower_status import FollowStatus
from sql.engine.store import Store
from sql.reports.report_tables import read_report
from sql.tokens.observations import StoredObservation, list_causes, pace_of
from sql.tokens.tokens import read_token
from tests.harness.chain.transactions import Chain
from tests.harness.store.store_contents import read_rows

SOURCE = Path(__file__).parent / "contracts" / "Changing.sol"
SETTINGS = IndexerSettings(poll_s=0.02, changed_every_blocks=1)
SLUG = "ethereum"


class WatchRow(msgspec.Struct, frozen=True, kw_only=True):
    id: int
    is_paused: int


class WatchTokenRow(msgspec.Struct, frozen=True, kw_only=True):
    watch_id: int
    token_id: int


def place(chain: Chain, *, opens_at: int = 0) -> ZooToken:
    """One more changing token in a pool, and the contracts that change it are deployable."""
    world = chain.world
    chain.artifacts = chain.artifacts | compile_sources({SOURCE.name: SOURCE.read_text()})
    pipeline = Pipeline(chain.node, chain.artifacts)
    token = pipeline.deploy("Changing", opens_at, sender=world.owner)
    sides = Sides(
        token=token,
        token_raw=900_000 * ETHER,
        quote=world.venues.wrapped_native.address,
        quote_raw=5 * ETHER,
        owner=world.owner,
    )
    pool = seed(pipeline, world.venues, "v2", sides)
    pipeline.flush()
    (pool,) = fetch_addresses(chain.node, world.venues, [(token, pool)])
    holders = tuple(chain.fresh_account() for _ in range(3))
    for holder in holders:
        chain.transfer(token, world.owner, holder, 1_000 * ETHER)
    assert chain.send(world.owner, token, "setPair(address)", pool.address).success
    return ZooToken(
        key="changing",
        trait="about everything can change",
        address=token,
        symbol="CHG",
        decimals=18,
        pool=pool,
        owner=world.owner,
        holders=holders,
    )


class Scene(msgspec.Struct):
    """Parts of a watch test."""

    chain: Chain
    store: Store
    watch: StateWatch
    job: ChangedTokenJob
    analyser: Analyser
    chain_id: int
    statuses: dict[int, FollowStatus]
    noticed: list[NoticedChange]

    async def level(self) -> None:
        """Wait until the follower has stored the node's head."""
        head = self.chain.node.rpc("eth_getBlockByNumber", "latest", False)
        assert isinstance(head, dict)
        async with asyncio.timeout(20):
            while True:
                status = self.statuses.get(self.chain_id)
                if status and status.tip and status.tip.hash == head["hash"]:
                    return
                await asyncio.sleep(0.01)

    async def look(self) -> None:
        """Compare the state at the head."""
        await self.level()
        await self.watch.look(self.tip())

    async def analyse_due(self) -> None:
        """Analyse until nothing that was seen is left."""
        async with asyncio.timeout(60):
            while self.due():
                await self.job.go(SLUG)
                await self.job.wait()

    async def settle(self) -> None:
        await self.look()
        await self.analyse_due()
        await self.watch.look(self.tip())  # takes up the new report

    def tip(self) -> BlockRef:
        tip = self.statuses[self.chain_id].tip
        assert tip is not None
        return tip

    def due(self) -> list[int]:
        rows = read_rows(self.store, "select token_id from task where kind = 'changed'")
        return [int(str(row[0])) for row in rows]

    def id_of(self, token: Address) -> int:
        row = read_token(self.store, chain_id=self.chain_id, address=token)
        assert row is not None
        return row.token_id

    def report(self, token: Address) -> Report:
        report = read_report(self.store, chain_id=self.chain_id, address=token)
        assert report is not None
        return report

    def seen(self, token: Address, *, above: int = -1) -> list[StoredObservation]:
        return list_causes(self.store, self.id_of(token), above=above, up_to=2**62)

    async def begin_watching(self, tokens: Sequence[Address]) -> None:
        """Analyse tokens and watch them from then on."""
        await self.level()
        for token in tokens:
            await self.analyser.refresh(SLUG, token)
        rows = [WatchTokenRow(watch_id=1, token_id=self.id_of(token)) for token in tokens]
        with self.store.transaction() as tx:
            tx.insert("watch", [WatchRow(id=1, is_paused=0)])
            tx.insert("watch_token", rows)
        self.chain.mine()  # the follower takes up the set with a block
        await self.settle()


def _analyser_of(
    facts: ChainFacts, client: RpcClient, store: Store, statuses: Mapping[int, FollowStatus]
) -> Analyser:
    """Build an analyser that reads up to the followed tip."""
    settings = AnalysisSettings()
    report_store = ReportStore(store, settings)

    def newest() -> BlockRef | None:
        return statuses[facts.id].tip if facts.id in statuses else None

    context = ChainContext(
        chain=facts,
        node=client,
        index=report_store,
        settings=settings,
        now_s=time.time,
        newest=newest,
    )
    return Analyser({SLUG: ChainScanner(context)}, report_store, settings, time.time)


@asynccontextmanager
async def watching(
    chain: Chain,
    facts: ChainFacts,
    url: str,
    path: Path,
    *,
    settings: IndexerSettings = SETTINGS,
) -> AsyncIterator[Scene]:
    """Follow the chain into a store, as a service does."""
    store = Store.open(path)
    client = await RpcClient.connect((url,), facts.id, RpcSettings())
    statuses: dict[int, FollowStatus] = {}
    noticed: list[NoticedChange] = []
    analysis = AnalysisSettings()
    analyser = _analyser_of(facts, client, store, statuses)
    job = ChangedTokenJob(
        analyser=analyser,
        store=store,
        chains={SLUG: facts.id},
        budgets=budgets_of([SLUG], analysis, time.time),
        at_once=4,
        now_s=time.time,
        observe=noticed.append,
    )
    watch = StateWatch(
        facts,
        client,
        store,
        pace=pace_of(facts, settings),
        most_words=settings.watched_words,
    )
    stop = asyncio.Event()

    def publish(status: FollowStatus) -> None:
        statuses[status.chain_id] = status

    task = asyncio.create_task(follow(facts, client, store, settings, stop=stop, publish=publish))
    try:
        yield Scene(
            chain=chain,
            store=store,
            watch=watch,
            job=job,
            analyser=analyser,
            chain_id=facts.id,
            statuses=statuses,
            noticed=noticed,
        )
    finally:
        stop.set()
        await task
        await analyser.aclose()
        await client.aclose()
        store.close()
