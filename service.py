"""Composition root of the service: indexers, analyser and API in one process on one store."""

import asyncio
import gc
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, AsyncExitStack, closing, nullcontext, suppress
from functools import partial

import structlog

from analysis.background.job_work import JobPlace
from analysis.background.round_share import RoundShare
from analysis.background.start_background import start_background
from analysis.background.state_watch import StateWatch
from analysis.background.state_watch_loop import NewestBlock, keep_comparing
from analysis.external.connect import connect_services
from analysis.market.last_trade_price import StoredTrades
from analysis.market.native_price import anchor_prices
from analysis.market.token_price import TokenPrice, find_price
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.pipeline.store_adapter import ReportStore
from analysis.static.result_cache import StaticResultCache
from analysis.token.contract_clock import ContractClock
from api.app import create_app
from api.deps import ApiDeps, ChainState, Prefill
from api.formats.judging import make_judge, policy_of
from api.readiness import chain_state, is_fresh, store_state
from api.serving.serve import check_address, serve
from api.watches.message_body import MessageRenderer
from config.chains import Chain
from config.job_check import JobLimits
from config.load import choose_enabled, load_chains
from config.plans import load_plans
from config.settings_model import AnalysisSettings, IndexerSettings, Settings
from core.errors import ConfigError, StoreError, UpstreamError
from core.judgement import Judge
from core.primitives import BlockRef
from core.report import Report
from core.rpc.client import RpcClient
from core.stop_signals import stop_on_signals
from indexer.compaction_job import keep_compacting
from indexer.follow import follow
from indexer.follower_status import FollowStatus, Publish
from indexer.maintenance import keep_up
from indexer.watched.token_watch import pace_of
from metrics.analysis_metrics import AnalyserCollector
from metrics.delivery_metrics import DeliveryCollector
from metrics.follower_metrics import FollowerCollector
from metrics.job_metrics import JobCollector
from metrics.metrics_server import serving_metrics
from metrics.queue_metrics import QueueCollector
from metrics.service_metrics import ServiceMetrics
from metrics.store_metrics import StoreFilesCollector
from metrics.watch_metrics import WatchCollector
from sql.analyst.query_runner import check_opens
from sql.configured_jobs import job_limits, store_configured_jobs
from sql.follow_lock import following
from sql.judgements import judge_stored_reports
from sql.ledger import Ledger
from sql.quote_tokens import write_quote_tokens
from sql.search_entries import enter_stored_reports
from sql.store import Store
from sql.store_files import StoreFiles
from watching.keep_delivering import keep_delivering

_BLOCKS_OLD = 2
"""A tip this many blocks behind the head, or reached this many block times ago, is not new any
more."""

_BROKEN_OFF_PAUSE_S = 10.0

_ENTERING_PAUSE_S = 0.05
"""Between two steps that hold the store's write lock."""

_LOG = structlog.get_logger("assay")


async def run_service(
    settings: Settings,
    *,
    host: str,
    port: int,
    announce: Callable[[int], None] = lambda _: None,
    prefill: Prefill | None = None,
) -> None:
    """Run indexers, analyser and API in one process, until SIGINT or SIGTERM.

    `announce` is called with the port once the server accepts calls; `prefill` is for a demo. A
    chain whose nodes serve another chain is left out, with a log message. Raises ConfigError when
    none is left.
    """
    check_address(host, port)
    stop = asyncio.Event()
    stop_on_signals(stop)
    chains = load_chains(settings.overlay)
    async with AsyncExitStack() as stack:
        limits = job_limits(settings.jobs, chains)
        store = await _open_store(stack, settings, chains, limits)
        ledger = stack.enter_context(closing(Ledger.open(settings.ledger)))
        metrics = ServiceMetrics(chains)
        clients = await _connect_all(stack, choose_enabled(chains, settings), settings, metrics)
        for chain, _ in clients:
            stack.enter_context(following(StoreFiles(prefix=settings.store), chain.id))
            metrics.analyses.begin(chain.slug)
            metrics.watches.begin(chain.slug)
        outside = await stack.enter_async_context(connect_services(settings))
        statuses: dict[int, FollowStatus] = {}
        judge = make_judge(chains, settings.analysis)
        shelf = ReportStore(store, settings.analysis, judge)
        examiner = StaticResultCache(shelf, in_processes=True)
        stack.callback(examiner.close)
        await examiner.start()
        contexts = {
            chain.slug: ChainContext(
                chain=chain,
                node=client,
                index=shelf,
                settings=settings.analysis,
                now_s=time.time,
                newest=partial(newest_of, chain, statuses),
                external=outside,
                static_results=examiner,
                observe_stage=metrics.stage_observer(chain.slug),
            )
            for chain, client in clients
        }
        scanners = {slug: ChainScanner(context) for slug, context in contexts.items()}
        analyser = Analyser(
            scanners, shelf, settings.analysis, time.time, observe=metrics.analyses.observe
        )
        stack.push_async_callback(analyser.aclose)
        start_background(
            stack,
            JobPlace(
                store=store,
                share=RoundShare(),
                chains=chains,
                served={slug: context.chain.id for slug, context in contexts.items()},
                jobs=settings.jobs,
                sql=settings.sql,
                now_s=time.time,
            ),
            contexts,
            analyser,
            settings=settings.analysis,
            judge=judge,
            observe_job=metrics.jobs.observe,
            observe_change=metrics.watches.observe,
        )

        def read_clock(slug: str) -> ContractClock | None:
            chain = next(chain for chain, _ in clients if chain.slug == slug)
            return clock_of(chain, statuses.get(chain.id))

        async def read_price(slug: str, report: Report) -> TokenPrice | None:
            chain = next(chain for chain, _ in clients if chain.slug == slug)
            return await find_price(
                chain,
                report,
                market_data=outside.market_data,
                now_s=time.time(),
                trades=trades,
            )

        comparisons = _comparisons(clients, store, settings.indexer)
        metrics.read_from(
            FollowerCollector(chains, statuses),
            AnalyserCollector(analyser, examiner),
            WatchCollector(chains, statuses, comparisons),
            QueueCollector(store, [chain for chain, _ in clients], now_s=time.time),
            JobCollector(store, metrics.jobs, now_s=time.time),
            StoreFilesCollector(StoreFiles(prefix=settings.store), settings.ledger),
            DeliveryCollector(store, now_s=time.time),
        )
        stack.enter_context(_served_apart(metrics, settings))
        trades = StoredTrades(
            store,
            lambda chain: anchor_prices(chain, contexts[chain.slug].memory.recall_native_usd()),
        )
        app = create_app(
            ApiDeps(
                analysis=analyser,
                ledger=ledger,
                chains=chains,
                served=frozenset(scanners),
                plans=load_plans(),
                settings=settings.api,
                store=store,
                watches=settings.watches,
                stop=stop,
                public=settings.public,
                liquid_above_usd=settings.analysis.min_liquidity_usd,
                has_owner_simulation=settings.analysis.owner_simulation,
                has_billing=settings.billing_secret is not None,
                redis_url=settings.redis_url,
                batch_wait_s=settings.analysis.wait_s,
                oidc=settings.oidc,
                sign_in=settings.sign_in,
                read_clock=read_clock,
                read_price=read_price,
                prefill=prefill,
                read_states=lambda: _follow_states([chain for chain, _ in clients], statuses),
                read_store_state=partial(store_state, store, ledger),
                metrics=None if settings.metrics.address else metrics,
                metrics_token=settings.metrics_token,
                jobs=limits,
            )
        )
        listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        listening.add_done_callback(
            lambda ready: _announce(host, ready.result(), [chain for chain, _ in clients], announce)
        )

        newest = {chain.id: NewestBlock() for chain, _ in clients}

        def publish(status: FollowStatus) -> None:
            statuses[status.chain_id] = status
            newest[status.chain_id].put(status.tip)

        gc.freeze()  # loaded objects stay alive; scanning them all would pause answers for 70 ms
        async with asyncio.TaskGroup() as group:
            for chain, client in clients:
                group.create_task(
                    _keep_following(chain, client, store, settings.indexer, stop, publish)
                )
                group.create_task(_keep_up(chain, client, store, settings.indexer, stop))
                group.create_task(keep_comparing(comparisons[chain.id], newest[chain.id], stop))
            for step in _report_steps(store, judge, settings.analysis):
                group.create_task(_work_through_reports(step, stop))
            group.create_task(
                keep_compacting(
                    [chain for chain, _ in clients],
                    store,
                    settings.indexer,
                    stop=stop,
                    observe=metrics.compaction.observe,
                )
            )
            group.create_task(
                keep_delivering(
                    store,
                    settings.watches,
                    render=MessageRenderer(chains).encode,
                    ended_keys=ledger.ended_of,
                    observe=metrics.deliveries.observe,
                    stop=stop,
                )
            )
            group.create_task(serve(app, host=host, port=port, stop=stop, listening=listening))


def _comparisons(
    clients: list[tuple[Chain, RpcClient]], store: Store, settings: IndexerSettings
) -> dict[int, StateWatch]:
    """Return what compares the state of watched tokens, by chain id."""
    return {
        chain.id: StateWatch(
            chain,
            client,
            store,
            pace=pace_of(chain, settings),
            most_words=settings.watched_words,
        )
        for chain, client in clients
    }


def _served_apart(
    metrics: ServiceMetrics, settings: Settings
) -> AbstractContextManager[int | None]:
    """Serve the metrics at an address of their own, where one is set."""
    address = settings.metrics.address
    return serving_metrics(metrics, address) if address else nullcontext()


def _announce(host: str, port: int, chains: list[Chain], announce: Callable[[int], None]) -> None:
    announce(port)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    followed = ", ".join(f"{chain.display_name} ({chain.id})" for chain in chains)
    _LOG.info("listening", url=url, following=followed)


async def _keep_following(
    chain: Chain,
    client: RpcClient,
    store: Store,
    settings: IndexerSettings,
    stop: asyncio.Event,
    publish: Publish,
) -> None:
    """Follow a chain until the stop. A bug that one chain triggers must not end the others."""
    while not stop.is_set():
        try:
            await follow(chain, client, store, settings, stop=stop, publish=publish)
        except Exception as error:  # noqa: BLE001 - logged whole; the chain is begun again
            _LOG.error("following broke off", chain=chain.slug, exc_info=error)
            publish(FollowStatus(chain_id=chain.id, last_error=f"following broke off: {error!r}"))
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _BROKEN_OFF_PAUSE_S)


async def _keep_up(
    chain: Chain, client: RpcClient, store: Store, settings: IndexerSettings, stop: asyncio.Event
) -> None:
    """Run the maintenance tasks of a chain until the stop. A bug in them must end nothing else."""
    while not stop.is_set():
        try:
            await keep_up(chain, client, store, settings, stop=stop)
        except Exception as error:  # noqa: BLE001 - logged whole; it is begun again
            _LOG.error("upkeep broke off", chain=chain.slug, exc_info=error)
            with suppress(TimeoutError):
                await asyncio.wait_for(stop.wait(), _BROKEN_OFF_PAUSE_S)


def _report_steps(
    store: Store, judge: Judge, settings: AnalysisSettings
) -> tuple[Callable[[], bool], ...]:
    """Return what is to be done for reports of an earlier release, or of other settings."""
    return (
        partial(enter_stored_reports, store),
        partial(judge_stored_reports, store, judge=judge, policy=policy_of(settings)),
    )


async def _work_through_reports(step: Callable[[], bool], stop: asyncio.Event) -> None:
    """Do for stored reports what was not done when they were written, until all are done or the
    stop. `step` returns whether there are more."""
    is_left = True
    while is_left and not stop.is_set():
        try:
            is_left = await asyncio.to_thread(step)
            pause_s = _ENTERING_PAUSE_S
        except StoreError as error:
            _LOG.error("stored reports cannot be worked through", why=str(error))
            pause_s = _BROKEN_OFF_PAUSE_S
        with suppress(TimeoutError):
            await asyncio.wait_for(stop.wait(), pause_s)


async def _open_store(
    stack: AsyncExitStack, settings: Settings, chains: tuple[Chain, ...], limits: JobLimits
) -> Store:
    store = stack.enter_context(closing(Store.open(settings.store)))
    await asyncio.to_thread(check_opens, settings.store)
    write_quote_tokens(store, chains)
    store_configured_jobs(store, settings, limits, now_s=time.time())
    return store


async def _connect_all(
    stack: AsyncExitStack, chains: tuple[Chain, ...], settings: Settings, metrics: ServiceMetrics
) -> list[tuple[Chain, RpcClient]]:
    """Connect the clients of all chains whose nodes serve them. Raises ConfigError when there is
    none."""
    clients = []
    for chain in chains:
        try:
            client = await RpcClient.connect(
                settings.rpc_urls[chain.id],
                chain.id,
                settings.rpc,
                observe=metrics.node_observer(chain.slug),
            )
        except UpstreamError as error:
            _LOG.error("chain left out", chain=chain.slug, why=str(error))
            continue
        stack.push_async_callback(client.aclose)
        clients.append((chain, client))
    if not clients:
        reason = "no chain can be served; set ASSAY_RPC_<chain id> to a node of that chain"
        raise ConfigError(source="environment", key="ASSAY_RPC_<chain id>", reason=reason)
    return clients


def newest_of(chain: Chain, statuses: Mapping[int, FollowStatus]) -> BlockRef | None:
    """Return the newest block to analyse at without a request for the head. None: request it.

    This is the indexed tip, not the node's head: a head is announced before every endpoint has its
    block.
    """
    status = statuses.get(chain.id)
    lag = None if status is None else status.lag_blocks
    if status is None or lag is None or lag > _BLOCKS_OLD:
        return None
    is_fresh = time.time() - status.updated_at_s <= _BLOCKS_OLD * chain.block_time_s + 1
    return status.tip if is_fresh else None


async def _follow_states(
    chains: list[Chain], statuses: Mapping[int, FollowStatus]
) -> tuple[ChainState, ...]:
    now_s = time.time()
    return tuple(chain_state(chain, statuses.get(chain.id), now_s=now_s) for chain in chains)


def clock_of(chain: Chain, status: FollowStatus | None) -> ContractClock | None:
    """Return the contract clock at the last seen head. None: no head yet, or one too old.

    None also where contracts see Ethereum's block number, which the head's own number does not
    give; there the clock read by the analysis is extrapolated.
    """
    if chain.clock != "own" or status is None or status.head is None:
        return None
    if not is_fresh(status, now_s=time.time()):
        return None
    head = status.head
    return ContractClock(
        time_s=head.time_s,
        block_number=head.number,
        block_time_s=head.time_s,
        block_interval_s=chain.clock_block_time_s,
    )
