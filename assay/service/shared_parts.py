"""Parts shared by all roles of one process: store, nodes, metrics, state of the chains."""

import asyncio
import time
from contextlib import AsyncExitStack, closing
from typing import TYPE_CHECKING

import msgspec
import structlog
from prometheus_client.registry import Collector

from api.formats.stored_verdict import make_find_verdict
from assay.service.background.state_watch import StateWatch
from assay.service.fleet.leadership import Leadership, LeasedLeadership, OnlyProcess
from assay.service.metrics.lease_metrics import LeaseCollector
from assay.service.metrics.service_metrics import ServiceMetrics
from assay.service.metrics.store_metrics import StoreFilesCollector
from assay.service.roles import Role
from config.facts.chain import Chain
from config.facts.load_chains import choose_enabled, load_chains
from config.job_check import JobLimits
from config.settings import Settings
from config.store_address import FileAddress, PostgresAddress, StoreAddress
from core.errors import ConfigError, UpstreamError
from core.report.verdict import FindVerdict
from core.rpc.client import RpcClient
from indexer.head.follower_status import FollowStatus
from sql.accounts.ledger import Ledger
from sql.analyst.query_runner import check_opens
from sql.chain.follow_lock import hold_follow_lock
from sql.chain.quote_tokens import write_quote_tokens
from sql.engine.fleet_database import open_registry
from sql.engine.store import Store
from sql.engine.store_files import StoreFiles
from sql.jobs.configured_jobs import job_limits, store_configured_jobs
from sql.lake.lake_files import SAMPLE, check_lake_files

if TYPE_CHECKING:
    from sql.engine.postgres.chain_registry import ChainRegistry

_LOG = structlog.get_logger("assay")


class SharedParts(msgspec.Struct, frozen=True, kw_only=True):
    """Inputs of all roles of one process."""

    roles: frozenset[Role]
    settings: Settings
    chains: tuple[Chain, ...]
    """Every supported chain."""
    clients: tuple[tuple[Chain, RpcClient], ...]
    """The chains that this process has a node for."""
    limits: JobLimits
    store: Store
    ledger: Ledger
    find_verdict: FindVerdict
    metrics: ServiceMetrics
    leadership: Leadership
    stop: asyncio.Event
    """Set when the process shall end: no further work is started."""
    statuses: dict[int, FollowStatus]
    """Status of each followed chain, here or in another process, by chain id."""
    comparisons: dict[int, StateWatch]
    """Comparisons of watched tokens on the chains followed here, by chain id."""
    served: set[str]
    """Slugs of the chains that requests may name: those with a node here, and with the role `api`
    those of the fleet. Updated while the service runs."""
    native_usd: dict[int, float]
    """Known USD prices of native coins in the fleet, by chain id."""
    registry: "ChainRegistry | None"
    """The chains of the fleet. None: the store is not shared."""

    @property
    def followed(self) -> list[Chain]:
        """Return the chains that this process has a node for."""
        return [chain for chain, _ in self.clients]

    @property
    def served_chains(self) -> list[Chain]:
        """Return the chains that requests may name."""
        return [chain for chain in self.chains if chain.slug in self.served]


async def open_parts(
    stack: AsyncExitStack, settings: Settings, roles: frozenset[Role], stop: asyncio.Event
) -> SharedParts:
    """Open the shared parts, until the stack is closed. Raises ConfigError, StoreError."""
    chains = load_chains(settings.overlay)
    limits = job_limits(settings.jobs, chains)
    store = stack.enter_context(closing(Store.open(settings.store)))
    if isinstance(settings.store, FileAddress):
        files = StoreFiles(prefix=settings.store.path)
        await asyncio.to_thread(check_lake_files, files, sample=SAMPLE)
    await asyncio.to_thread(check_opens, settings.store)
    write_quote_tokens(store, chains)
    store_configured_jobs(store, settings, limits, now_s=time.time())
    ledger = stack.enter_context(closing(Ledger.of_store(settings.store)))
    ledger.tie_to(store)
    registry = None
    if isinstance(settings.store, PostgresAddress):
        registry = stack.enter_context(open_registry(settings.store))
    metrics = ServiceMetrics(chains)
    clients = await _connect_all(stack, choose_enabled(chains, settings), settings, metrics)
    if not clients and (registry is None or roles != {"api"}):
        reason = "no chain can be served; set ASSAY_RPC_<chain id> to a node of that chain"
        raise ConfigError(source="environment", key="ASSAY_RPC_<chain id>", reason=reason)
    leadership = _leadership_of(stack, settings.store, store, [chain for chain, _ in clients])
    for chain, _ in clients:
        metrics.analyses.begin(chain.slug)
        metrics.watches.begin(chain.slug)
    metrics.read_from(LeaseCollector(leadership), *_file_metrics(settings.store))
    return SharedParts(
        roles=roles,
        settings=settings,
        chains=chains,
        clients=clients,
        limits=limits,
        store=store,
        ledger=ledger,
        find_verdict=make_find_verdict(chains, settings.analysis),
        metrics=metrics,
        leadership=leadership,
        stop=stop,
        statuses={},
        comparisons={},
        served={chain.slug for chain, _ in clients},
        native_usd={},
        registry=registry,
    )


def _leadership_of(
    stack: AsyncExitStack, address: StoreAddress, store: Store, chains: list[Chain]
) -> Leadership:
    if isinstance(address, PostgresAddress):
        return LeasedLeadership(address)
    for chain in chains:
        stack.enter_context(hold_follow_lock(StoreFiles(prefix=address.path), chain.id))
    return OnlyProcess(store)


def _file_metrics(address: StoreAddress) -> list[Collector]:
    """Measure the store's files. A database's files are left to its server."""
    if isinstance(address, PostgresAddress):
        return []
    return [StoreFilesCollector(StoreFiles(prefix=address.path), address.ledger)]


async def _connect_all(
    stack: AsyncExitStack, chains: tuple[Chain, ...], settings: Settings, metrics: ServiceMetrics
) -> tuple[tuple[Chain, RpcClient], ...]:
    """Connect the clients of all chains whose nodes serve them."""
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
    return tuple(clients)
