"""Composition root: runs the roles of one process on one store."""

import asyncio
import gc
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, AsyncExitStack, nullcontext
from typing import Final

import structlog
from litestar.types import ASGIApp

from api.auth.networks import parse_networks
from api.deps import Prefill, StatusDeps
from api.serving.cached_answer_app import CachedAnswerApp
from api.serving.connection_bounds import ConnectionBounds, fit_files
from api.serving.serve import check_address, serve
from api.status_app import create_status_app
from assay.service.analyse_role import begin_analysing
from assay.service.analysis_parts import AnalysisParts, open_analysis
from assay.service.api_role import open_api
from assay.service.fleet.fleet_registry import keep_reading_tips, keep_registry, update_registry
from assay.service.follow_role import begin_following
from assay.service.metrics.metrics_server import serving_metrics
from assay.service.metrics.service_metrics import ServiceMetrics
from assay.service.process_state import process_state
from assay.service.roles import EVERY_ROLE, Role
from assay.service.shared_parts import SharedParts, open_parts
from config.settings import ApiSettings, Settings
from core.process.stop_signals import stop_on_signals

_THREADS: Final = 48
"""Threads for blocking store calls. asyncio's default (cores + 4) is exhausted by a few hung
statements, and unrelated requests then queue."""

_END_WITHIN_S: Final = 23.0
"""Seconds from the end of draining to the end of the process, whatever hangs. Container runtimes
kill after 30."""

_LOG = structlog.get_logger("assay")


async def run_service(
    settings: Settings,
    *,
    host: str,
    port: int,
    roles: frozenset[Role] = EVERY_ROLE,
    announce: Callable[[int], None] = lambda _: None,
    prefill: Prefill | None = None,
) -> None:
    """Run the roles in one process, until SIGINT or SIGTERM.

    `announce` is called with the port once the server accepts calls; `prefill` is for a demo. A
    chain whose nodes serve another chain is skipped, with a log message. Raises ConfigError if no
    chain remains.
    """
    check_address(host, port)
    fit_files(_bounds_of(settings.api))
    stop, closing = asyncio.Event(), asyncio.Event()
    stop_on_signals(stop, within_s=settings.drain_s + _END_WITHIN_S)
    threads = ThreadPoolExecutor(_THREADS, thread_name_prefix="asyncio")
    asyncio.get_running_loop().set_default_executor(threads)
    async with AsyncExitStack() as stack:
        parts = await open_parts(stack, settings, roles, stop)
        analysis = await open_analysis(stack, parts) if roles & {"analyse", "api"} else None
        status = process_state(parts)
        if parts.registry is not None:
            await asyncio.to_thread(update_registry, parts, parts.registry, analysis)
        app = _open_app(parts, analysis, status, prefill=prefill, closing=closing)
        stack.enter_context(_served_apart(parts.metrics, settings))
        listening: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        listening.add_done_callback(lambda ready: _announce(host, ready.result(), parts, announce))
        gc.freeze()  # loaded objects stay alive; scanning them all would pause answers for 70 ms
        async with asyncio.TaskGroup() as group:
            if "follow" in roles:
                begin_following(group, parts)
            if "analyse" in roles and analysis is not None:
                begin_analysing(group, parts, analysis)
            if analysis is not None:
                answers = app.answers if isinstance(app, CachedAnswerApp) else None
                analysis.others.start_messages(group, parts, answers, closing)
            if parts.registry is not None:
                group.create_task(keep_reading_tips(parts))
                group.create_task(keep_registry(parts, parts.registry, analysis))
            group.create_task(_close_after_grace(stop, closing, grace_s=settings.drain_s))
            group.create_task(
                serve(
                    app,
                    host=host,
                    port=port,
                    stop=closing,
                    listening=listening,
                    bounds=_bounds_of(settings.api),
                    trusted=parse_networks(settings.api.trusted_proxies),
                )
            )


def _bounds_of(settings: ApiSettings) -> ConnectionBounds:
    return ConnectionBounds(most=settings.connections, of_network=settings.connections_per_network)


def _open_app(
    parts: SharedParts,
    analysis: AnalysisParts | None,
    status: StatusDeps,
    *,
    prefill: Prefill | None,
    closing: asyncio.Event,
) -> ASGIApp:
    if "api" not in parts.roles or analysis is None:
        return create_status_app(status)
    return open_api(parts, analysis, status, prefill=prefill, closing=closing)


async def _close_after_grace(
    stop: asyncio.Event, closing: asyncio.Event, *, grace_s: float
) -> None:
    """Answer for a while after the stop, until balancers notice that the process is not ready."""
    await stop.wait()
    await asyncio.sleep(grace_s)
    closing.set()


def _served_apart(
    metrics: ServiceMetrics, settings: Settings
) -> AbstractContextManager[int | None]:
    """Serve the metrics at a separate address, if one is set."""
    address = settings.metrics.address
    return serving_metrics(metrics, address) if address else nullcontext()


def _announce(host: str, port: int, parts: SharedParts, announce: Callable[[int], None]) -> None:
    announce(port)
    url = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    chains = ", ".join(f"{chain.display_name} ({chain.id})" for chain in parts.served_chains)
    if parts.roles == EVERY_ROLE:
        _LOG.info("listening", url=url, following=chains)
    else:
        _LOG.info("listening", url=url, roles=", ".join(sorted(parts.roles)), chains=chains)
