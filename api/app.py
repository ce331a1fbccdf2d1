"""Assembly of the API application: routes, error handlers, OpenAPI document and dependencies."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from importlib import metadata
from typing import Any

import msgspec
import structlog
from litestar import Litestar, Response, Router
from litestar.datastructures import State
from litestar.exceptions import NotFoundException
from litestar.openapi import OpenAPIConfig
from litestar.openapi.spec import Components, SecurityScheme
from litestar.plugins.prometheus import PrometheusConfig
from litestar.status_codes import HTTP_404_NOT_FOUND
from litestar.types import ControllerRouterHandler

from api.auth.keys import KEY_HEADER, Keyring, add_expiry_headers
from api.auth.limits import KeyLimits
from api.auth.networks import parse_networks
from api.auth.public_limits import PublicLimits
from api.auth.rate_windows import LocalWindows, SharedWindows
from api.auth.usage_counters import UsageCounters
from api.deps import ApiDeps
from api.error_answers import EXCEPTION_HANDLERS
from api.openapi.described_shapes import DescribedShapes
from api.openapi.document import PATH, ROUTES, ServedDocument
from api.openapi.examples import Examples
from api.pages.card_extra import why_no_cards
from api.pages.page_rendering import explain
from api.routes import (
    dashboard,
    disputes,
    documentation,
    front,
    jobs,
    jobs_page,
    root,
    signin,
    token_page,
    watch_page,
    watch_routes,
)
from api.routes.accuracy import get_accuracy, show_accuracy
from api.routes.agent_keys import issue_trial_key, trial_terms
from api.routes.batch import post_tokens
from api.routes.event_streams import get_lines, get_snapshot, stream_all, stream_feed, stream_one
from api.routes.goplus import get_token_security, post_token
from api.routes.health import get_health, get_metrics, get_ready
from api.routes.llms import get_llms_text
from api.routes.mcp import LazyMcpServer, post_mcp
from api.routes.resource_routes import resource_pages, resource_routes
from api.routes.token import get_summary, get_token
from api.routes.token_card import new_card_cache, send_card
from api.routes.token_evidence import get_evidence
from api.routes.usage import get_usage
from api.search.listed_tokens import TokenLists
from api.serving.accuracy_service import AccuracyService
from api.serving.answers import Answers
from api.serving.batch_service import BatchService
from api.serving.cached_answer_app import CachedAnswerApp
from api.serving.cors import CorsPolicy
from api.serving.dispute_service import DisputeService
from api.serving.kept_pages import KeptPages
from api.serving.methods import allow_head
from api.sign_in.issuer import Issuer
from api.watches.chain_feed import ChainFeed
from api.watches.delivery.keep_delivering import rules_of
from api.watches.event_feed import EventFeed
from api.watches.message_body import MessageRenderer
from api.watches.watch_book import WatchBook
from config.facts.chain_names import index_by_name
from sql.accounts.accounts import Accounts

VERSION = metadata.version("assay")

_log = structlog.get_logger(__name__)


class _Services(msgspec.Struct, frozen=True, kw_only=True):
    """Objects that the routes of one application share."""

    answers: Answers
    keyring: Keyring
    limits: KeyLimits
    public_limits: PublicLimits
    batch_service: BatchService
    watch_book: WatchBook | None
    """None: there is no store, so there are no watches."""
    event_feed: EventFeed | None
    chain_feed: ChainFeed | None
    dispute_service: DisputeService | None
    mcp_server: LazyMcpServer

    async def aclose(self) -> None:
        """Stop everything that runs in the background."""
        await self.batch_service.aclose()
        await self.mcp_server.aclose()
        if self.event_feed is not None:
            await self.event_feed.aclose()
        if self.chain_feed is not None:
            await self.chain_feed.aclose()
        if self.dispute_service is not None:
            await self.dispute_service.aclose()


def create_app(deps: ApiDeps) -> CachedAnswerApp:
    """Build the application from its dependencies. Raises ConfigError for an incomplete trial
    plan."""
    if (missing := why_no_cards()) is not None:
        _log.warning("cards_not_drawn", reason=str(missing))
    services = _build_services(deps)
    cors_origins = deps.settings.cors_origins

    async def aclose() -> None:
        await app.aclose()

    app = CachedAnswerApp(
        _build_router(deps, services, aclose),
        keyring=services.keyring,
        limits=services.limits,
        answers=services.answers,
        chains={name: chain.slug for name, chain in index_by_name(deps.chains).items()},
        now_s=deps.now_s,
        sites=CorsPolicy(cors_origins) if cors_origins else None,
        closes=(services.aclose,),
    )
    return app


def _build_services(deps: ApiDeps) -> _Services:
    answers = Answers(deps)
    usage_counters = UsageCounters(deps.ledger, now_s=deps.now_s)
    keyring = Keyring(deps.ledger, deps.plans, usage_counters)
    local = LocalWindows(deps.monotonic_s)
    windows = local if deps.redis_url is None else SharedWindows(deps.redis_url, local)
    limits = KeyLimits(deps.ledger, usage_counters, windows, now_s=deps.now_s)
    watch_book, event_feed, chain_feed, dispute_service = None, None, None, None
    if deps.store is not None:
        dispute_service = DisputeService(deps, answers, deps.store)
        chain_feed = ChainFeed(deps.store, stop=deps.stop)
        watch_book = WatchBook(deps, deps.store, rules_of(deps.watches))
        event_feed = EventFeed(deps.store, MessageRenderer(deps.chains), stop=deps.stop)
    return _Services(
        answers=answers,
        keyring=keyring,
        limits=limits,
        public_limits=PublicLimits(windows, deps.public, answers.is_analysing),
        batch_service=BatchService(answers, limits, wait_s=deps.batch_wait_s),
        watch_book=watch_book,
        event_feed=event_feed,
        chain_feed=chain_feed,
        dispute_service=dispute_service,
        mcp_server=LazyMcpServer(
            lambda module: module.make_server(
                deps, answers, limits, keyring, watch_book, event_feed, version=VERSION
            )
        ),
    )


def _build_router(
    deps: ApiDeps, services: _Services, aclose: Callable[[], Awaitable[None]]
) -> Litestar:
    @asynccontextmanager
    async def run(_: Litestar) -> AsyncIterator[None]:
        service = services.dispute_service
        running = None if service is None else asyncio.create_task(service.keep_running())
        yield
        if running is not None:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)
        await aclose()

    return Litestar(
        route_handlers=[*_routes(), _pages()],
        state=_build_state(deps, services),
        lifespan=[run],
        exception_handlers=EXCEPTION_HANDLERS,
        before_send=[add_expiry_headers(services.keyring, deps.now_s), allow_head],
        middleware=[_metrics().middleware],
        openapi_config=_openapi(deps),
        plugins=[DescribedShapes()],
        logging_config=None,
        debug=False,
    )


def _build_state(deps: ApiDeps, services: _Services) -> State:
    store = deps.store
    return State(
        {
            "deps": deps,
            "answers": services.answers,
            "keyring": services.keyring,
            "limits": services.limits,
            "cards": new_card_cache(),
            "public_limits": services.public_limits,
            "kept_pages": KeptPages(deps.monotonic_s),
            "batch_service": services.batch_service,
            "mcp_server": services.mcp_server,
            "accounts": Accounts(deps.ledger),
            "lists": None if store is None else TokenLists(deps, services.answers, store),
            "accuracy": None if store is None else AccuracyService(deps, store),
            "watch_book": services.watch_book,
            "event_feed": services.event_feed,
            "chain_feed": services.chain_feed,
            "dispute_service": services.dispute_service,
            "issuer": _issuer(deps),
            "trial": trial_terms(deps.plans),
            "trusted_proxies": parse_networks(deps.settings.trusted_proxies),
        }
    )


def _routes() -> list[ControllerRouterHandler]:
    return [
        get_token,
        get_summary,
        get_evidence,
        *resource_routes(),
        disputes.file_dispute,
        disputes.get_dispute_pack,
        post_tokens,
        get_token_security,
        post_token,
        post_mcp,
        get_usage,
        get_accuracy,
        watch_routes.create_watch,
        watch_routes.list_watches,
        watch_routes.show_watch,
        watch_routes.delete_watch,
        watch_routes.pause,
        watch_routes.resume,
        watch_routes.send_test,
        watch_routes.show_tokens,
        watch_routes.add_tokens,
        watch_routes.remove_tokens,
        watch_routes.show_deliveries,
        stream_all,
        stream_one,
        stream_feed,
        get_lines,
        get_snapshot,
        get_llms_text,
        issue_trial_key,
        jobs.get_jobs,
        jobs.post_job,
        jobs.get_job,
        jobs.pause,
        jobs.resume,
        jobs.run,
        jobs.remove,
        get_health,
        get_ready,
        get_metrics,
        root.send_asset,
        front.tell_robots,
    ]


def _pages() -> Router:
    """Build the router of the HTML pages, whose errors are pages too."""
    return Router(
        path="/",
        route_handlers=[
            front.begin,
            front.search,
            root.browse,
            show_accuracy,
            documentation.send_page,
            signin.begin,
            signin.come_back,
            signin.sign_out,
            dashboard.show,
            dashboard.create,
            dashboard.revoke,
            jobs_page.show,
            jobs_page.change,
            watch_page.change_watch,
            token_page.look_up,
            token_page.show_token,
            *resource_pages(),
            disputes.file_on_page,
            disputes.send_dispute_pack,
            send_card,
            token_page.show_token_for_key,
            token_page.refresh_token,
        ],
        exception_handlers=dict.fromkeys(EXCEPTION_HANDLERS, explain),
    )


def _issuer(deps: ApiDeps) -> Issuer | None:
    if deps.oidc is None:
        return None
    return Issuer(deps.oidc, timeout_s=deps.sign_in.timeout_s, now_s=deps.now_s)


def _metrics() -> PrometheusConfig:
    """Configure metrics by path template, only of existing routes: a scan of addresses must not
    fill memory."""
    return PrometheusConfig(
        app_name="assay", prefix="assay_api", group_path=True, exclude_unhandled_paths=True
    )


def _refuse_in_json(response: Response[Any]) -> Response[Any]:
    """Replace the framework's HTML page for unknown documents by our JSON error."""
    if response.status_code == HTTP_404_NOT_FOUND:
        raise NotFoundException
    return response


def _openapi(deps: ApiDeps) -> OpenAPIConfig:
    served = ServedDocument(Examples(deps.chains[0], prefill=deps.prefill), version=VERSION)
    return OpenAPIConfig(
        title="Assay",
        use_handler_docstrings=True,
        version=VERSION,
        openapi_router=Router(
            PATH,
            route_handlers=[],
            include_in_schema=False,
            before_request=served.answer,
            after_request=_refuse_in_json,
        ),
        render_plugins=[ROUTES],
        components=Components(
            security_schemes={
                "ApiKey": SecurityScheme(
                    type="apiKey", name=KEY_HEADER, security_scheme_in="header"
                ),
                "Token": SecurityScheme(type="http", scheme="bearer"),
            }
        ),
    )
