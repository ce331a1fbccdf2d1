"""Puts the routes, the refusals and the schema together into one application."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from litestar import Litestar
from litestar.datastructures import State
from litestar.openapi import OpenAPIConfig
from litestar.openapi.plugins import JsonRenderPlugin
from litestar.openapi.spec import Components, SecurityScheme
from litestar.plugins.prometheus import PrometheusConfig

from api.answers import Answers
from api.books import Books
from api.errors import EXCEPTION_HANDLERS
from api.front import Front
from api.keys import KEY_HEADER, Keyring, add_expiry_headers
from api.limits import Limits
from api.networks import parse_networks
from api.routes.agent_keys import issue_trial_key, trial_terms
from api.routes.status import get_health, get_metrics, get_ready
from api.routes.token import get_summary, get_token
from api.schema import ClosedShapes
from api.service import ApiDeps
from api.windows import LocalWindows, SharedWindows

VERSION = "0.1.0"


def create_app(deps: ApiDeps) -> Front:
    """The whole API over what it is given. Raises ConfigError for an incomplete trial plan."""
    answers = Answers(deps)
    books = Books(deps.ledger, now_s=deps.now_s)
    keyring = Keyring(deps.ledger, deps.plans, books)
    local = LocalWindows(deps.monotonic_s)
    windows = local if deps.redis_url is None else SharedWindows(deps.redis_url, local)
    limits = Limits(deps.ledger, books, windows, now_s=deps.now_s)

    @asynccontextmanager
    async def run(_: Litestar) -> AsyncIterator[None]:
        yield
        await front.aclose()

    router = Litestar(
        route_handlers=[
            get_token,
            get_summary,
            issue_trial_key,
            get_health,
            get_ready,
            get_metrics,
        ],
        state=State(
            {
                "deps": deps,
                "answers": answers,
                "keyring": keyring,
                "limits": limits,
                "trial": trial_terms(deps.plans),
                "trusted_proxies": parse_networks(deps.settings.trusted_proxies),
            }
        ),
        lifespan=[run],
        exception_handlers=EXCEPTION_HANDLERS,
        before_send=[add_expiry_headers(deps.now_s)],
        middleware=[_metrics().middleware],
        openapi_config=_openapi(),
        plugins=[ClosedShapes()],
        logging_config=None,
        debug=False,
    )
    served = [chain for chain in deps.chains if chain.slug in deps.served]
    front = Front(
        router,
        keyring=keyring,
        limits=limits,
        answers=answers,
        chains={name: chain.slug for chain in served for name in (chain.slug, str(chain.id))},
        now_s=deps.now_s,
    )
    return front


def _metrics() -> PrometheusConfig:
    """Paths as templates, and only those that exist: a scan of addresses must not fill memory."""
    return PrometheusConfig(
        app_name="assay", prefix="assay_api", group_path=True, exclude_unhandled_paths=True
    )


def _openapi() -> OpenAPIConfig:
    return OpenAPIConfig(
        title="Assay",
        version=VERSION,
        description="Token-safety findings for EVM chains.",
        path="/schema",
        render_plugins=[JsonRenderPlugin(path=["/", "/openapi.json"])],
        components=Components(
            security_schemes={
                "ApiKey": SecurityScheme(
                    type="apiKey", name=KEY_HEADER, security_scheme_in="header"
                )
            }
        ),
    )
