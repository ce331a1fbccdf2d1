"""Composition root: indexers, analyser, API and deliveries in one process on one store."""

import asyncio
import gc
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, AsyncExitStack, aclosing, closing, nullcontext
from functools import partial

import structlog
from prometheus_client.registry import Collector

from analysis.background.job_work import JobPlace
from analysis.background.round_share import RoundShare
from analysis.background.start_background import start_background
from analysis.background.state_watch_loop import StateComparisons
from analysis.external.connect import connect_services
from analysis.market.last_trade_price import StoredTrades
from analysis.market.native_price import anchor_prices
from analysis.market.token_price import TokenPrice, find_price
from analysis.pipeline.analyser import Analyser
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import ChainScanner
from analysis.pipeline.store_adapter import ReportStore
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.static.result_cache import StaticResultCache
from analysis.token.contract_clock import ContractClock
from api.app import create_app
from api.deps import ApiDeps, Prefill
from api.formats.judging import make_judge
from api.readiness import store_state
from api.serving.serve import check_address, serve
from api.watches.message_body import MessageRenderer
from config.chains import Chain
from config.job_check import JobLimits
from config.load import choose_enabled, load_chains
from config.plans import load_plans
from config.settings_model import Settings
from config.store_address import PostgresAddress, StoreAddress
from core.errors import ConfigError, UpstreamError
from core.report import Report
from core.rpc.client import RpcClient
from core.stop_signals import stop_on_signals
from indexer.compaction_job import keep_compacting
from indexer.follower_status import FollowStatus
from metrics.analysis_metrics import AnalyserCollector
from metrics.delivery_metrics import DeliveryCollector
from metrics.follower_metrics import FollowerCollector
from metrics.job_metrics import JobCollector
from metrics.metrics_server import serving_metrics
from metrics.queue_metrics import QueueCollector
from metrics.service_metrics import ServiceMetrics
from metrics.store_metrics import StoreFilesCollector
from metrics.watch_metrics import WatchCollector
from service.chain_tasks import keep_following_chain, keep_up_chain
from service.followed_state import clock_of, follow_states, newest_of
from service.report_tasks import report_steps, work_through_reports
from sql.analyst.query_runner import check_opens
from sql.configured_jobs import job_limits, store_configured_jobs
from sql.follow_lock import following
from sql.ledger import Ledger
from sql.quote_tokens import write_quote_tokens
from sql.store import Store
from sql.store_files import StoreFiles
from watching.keep_delivering import keep_delivering

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
        ledger = stack.enter_context(closing(Ledger.of_store(settings.store)))
        metrics = ServiceMetrics(chains)
        clients = await _connect_all(stack, choose_enabled(chains, settings), settings, metrics)
        for chain, _ in clients:
            stack.enter_context(following(StoreFiles(prefix=settings.store.prefix), chain.id))
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

        comparisons = StateComparisons(clients, store, settings.indexer)
        metrics.read_from(
            FollowerCollector(chains, statuses),
            AnalyserCollector(analyser, examiner),
            WatchCollector(chains, statuses, comparisons.watches),
            QueueCollector(store, [chain for chain, _ in clients], now_s=time.time),
            JobCollector(store, metrics.jobs, now_s=time.time),
            *_file_metrics(settings.store),
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
                quotes=await stack.enter_async_context(
                    aclosing(ChainQuotes(contexts, concurrency=settings.analysis.concurrency))
                ),
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
                read_states=lambda: follow_states([chain for chain, _ in clients], statuses),
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

        def publish(status: FollowStatus) -> None:
            statuses[status.chain_id] = status
            comparisons.put(status.chain_id, status.tip)

        gc.freeze()  # loaded objects stay alive; scanning them all would pause answers for 70 ms
        async with asyncio.TaskGroup() as group:
            for chain, client in clients:
                group.create_task(
                    keep_following_chain(chain, client, store, settings.indexer, stop, publish)
                )
                group.create_task(keep_up_chain(chain, client, store, settings.indexer, stop))
            group.create_task(comparisons.run(stop))
            for step in report_steps(store, judge, settings.analysis):
                group.create_task(work_through_reports(step, stop))
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


def _file_metrics(address: StoreAddress) -> list[Collector]:
    """Measures files where the store has any: those of a database are its server's business."""
    if isinstance(address, PostgresAddress):
        return []
    return [StoreFilesCollector(StoreFiles(prefix=address.path), address.ledger)]


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
