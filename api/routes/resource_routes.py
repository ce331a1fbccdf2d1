"""Routes and pages of the token sub-resources, built from their table."""

import inspect
from contextlib import ExitStack, suppress
from typing import Any

import msgspec
from litestar import MediaType, Request, Response, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

from analysis.replay.evidence_pack import PackFile
from api.auth.keys import caller_of, require_key
from api.auth.limits import KeyLimits
from api.auth.networks import network_of
from api.auth.public_limits import PublicLimits
from api.auth.robots import is_robot
from api.deps import ApiDeps
from api.error_answers import (
    AnalysesSpentError,
    InvalidInputError,
    KeyRequiredError,
    NotAnalysedError,
    RefusalError,
    StoreDownError,
)
from api.formats.prose.headline import refusal_headline
from api.formats.resources.pack_format import pack_name
from api.formats.shape_building import Shape
from api.pages.page_rendering import GUARDED, page
from api.pages.views.head_view import TokenHead, view_head
from api.resources.token_resource import ResourcePage, TokenCall, TokenResource, run_resource
from api.resources.token_resources import TOKEN_RESOURCES
from api.routes.agent_keys import require_json
from api.routes.token import (
    ChainName,
    TokenAddress,
    chain_of,
    coding_for,
    require_chain,
    respond,
)
from api.routes.token_page import account_caller
from api.serving.cached_answer import CachedAnswer
from api.serving.kept_pages import KeptPages
from api.serving.packing import pack_file, pack_once
from api.sign_in.browser import find_visitor
from core.errors import AssayError, StoreError, TokenRefusedError

_MOST_ADDRESS_CHARS = 128
"""Longest part of an address that a page repeats."""


def resource_routes() -> list[HTTPRouteHandler]:
    """Build the JSON route of every resource."""
    return [_route(resource) for resource in TOKEN_RESOURCES]


def resource_pages() -> list[HTTPRouteHandler]:
    """Build the page of every resource that has one."""
    return [
        _page(resource, resource.page) for resource in TOKEN_RESOURCES if resource.page is not None
    ]


def _route(resource: TokenResource) -> HTTPRouteHandler:
    async def answer(
        request: Request[Any, Any, Any], chain: ChainName, address: TokenAddress, **arguments: Any
    ) -> Response[bytes]:
        limits: KeyLimits = request.app.state.limits
        await limits.admit(caller_of(request.scope))
        call = _call_of(request, address)
        found = await run_resource(resource, call, arguments)
        if isinstance(found, CachedAnswer):
            return respond(found)
        if isinstance(found, PackFile):
            return respond(pack_file(found.body, name=pack_name(call.chain, address)))
        body = msgspec.json.encode(found)
        if resource.is_simulated:
            return respond(await pack_once(body, coding_for(request)))
        return Response(body, media_type=MediaType.JSON, headers={"Cache-Control": "no-store"})

    _take_parameters(answer, resource.parameters)
    return (post if resource.takes_body else get)(
        f"/token/{{chain:str}}/{{address:str}}/{resource.path}",
        status_code=200,
        guards=[require_key, require_chain, *([require_json] if resource.takes_body else [])],
        security=[{"ApiKey": []}],
        request_max_body_size=resource.max_body_bytes,
        operation_id=resource.operation_id,
        summary=resource.summary,
        description=inspect.getdoc(resource.run),
        tags=[resource.tag],
        responses=resource.responses,
    )(answer)


def _take_parameters(handler: Any, parameters: tuple[inspect.Parameter, ...]) -> None:
    """Replace the handler's `**arguments` by named parameters, which Litestar reads."""
    signature = inspect.signature(handler)
    own = [each for each in signature.parameters.values() if each.name != "arguments"]
    handler.__signature__ = signature.replace(parameters=[*own, *parameters])
    handler.__annotations__ = {
        **{name: kind for name, kind in handler.__annotations__.items() if name != "arguments"},
        **{each.name: each.annotation for each in parameters},
    }


def _page(resource: TokenResource, shown: ResourcePage) -> HTTPRouteHandler:
    @get(
        f"/t/{{chain:str}}/{{address:str}}/{resource.path}",
        guards=[require_chain],
        include_in_schema=False,
    )
    async def show(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[Any]:
        call = _call_of(request, address)
        is_counted = await _admit_page(request)
        found, note, reason, status, headers = None, "", "", 200, dict[str, str]()
        try:
            found, note = await _find(request, resource, call, is_counted=is_counted)
        except AnalysesSpentError as error:
            reason, status, headers = error.reason, error.status, {**error.headers}
        except TokenRefusedError as error:
            reason, status = error.reason, error.status
        except InvalidInputError:
            reason, status = "this is not a token's address", 422
        except StoreDownError as error:
            reason, status = shown.failed, error.status
        except RefusalError:
            raise
        except (AssayError, TimeoutError):
            reason, status = shown.failed, 500
        if isinstance(found, PackFile):
            response = respond(pack_file(found.body, name=pack_name(call.chain, address)))
            response.headers.update(GUARDED)
            return response
        return page(
            shown.template,
            status=status,
            headers=headers,
            policy="program",
            chain=call.answers.chain(call.chain),
            address=address[:_MOST_ADDRESS_CHARS],
            head=await _head_of(call),
            tab=resource.path,
            found=found,
            note=note,
            reason=reason,
            headline=refusal_headline(reason),
            **shown.values,
        )

    return show


async def _find(
    request: Request[Any, Any, Any], resource: TokenResource, call: TokenCall, *, is_counted: bool
) -> tuple[Shape | PackFile, str]:
    """Return what a page shows, with a note on its age; empty: it is of this minute.

    `is_counted`: a new simulation is counted on the visitor's network. Raises RefusalError where
    it may have none and nothing is kept, and the errors of the resource.
    """
    if not resource.is_simulated:
        return await resource.run(call), ""
    pages: KeptPages = request.app.state.kept_pages
    key = (resource.path, call.chain, call.address.lower())
    kept = pages.get(key)
    if kept is not None and kept.is_fresh:
        return kept.found, ""
    with ExitStack() as turn:
        if is_counted:
            try:
                await _take_simulation(request, resource, call, turn)
            except AnalysesSpentError as error:
                if kept is None:
                    raise
                return kept.found, f"From {round(kept.age_s / 60)} minutes ago: {error.reason}."
        found = await resource.run(call)
    pages.put(key, found)
    return found, ""


async def _head_of(call: TokenCall) -> TokenHead | None:
    """Return the head of the token's pages from what is known. None: nothing is."""
    try:
        known = await call.answers.recall(chain=call.chain, address=call.address)
    except (TokenRefusedError, StoreError):
        return None
    return None if known.snapshot is None else view_head(known.snapshot)


def _call_of(request: Request[Any, Any, Any], address: str) -> TokenCall:
    state = request.app.state
    return TokenCall(
        deps=state.deps, answers=state.answers, chain=chain_of(request), address=address
    )


async def _admit_page(request: Request[Any, Any, Any]) -> bool:
    """Count a page on the key of the signed-in account, or on the visitor's network.

    Returns True if simulations count on the network, too. Raises RefusalError.
    """
    deps: ApiDeps = request.app.state.deps
    visitor = await find_visitor(request)
    caller = None if visitor is None else await account_caller(request, visitor)
    if caller is not None:
        limits: KeyLimits = request.app.state.limits
        await limits.admit(caller)
        return False
    if not deps.public.is_open:
        raise KeyRequiredError
    public: PublicLimits = request.app.state.public_limits
    await public.admit_page(network_of(request))
    return True


async def _take_simulation(
    request: Request[Any, Any, Any], resource: TokenResource, call: TokenCall, turn: ExitStack
) -> None:
    """Count a simulation, which costs the node about as much as an analysis.

    It is the one of the network until `turn` is closed. An address that is known to be no token
    costs nothing. Raises RefusalError, TokenRefusedError.
    """
    with suppress(StoreError):
        await call.answers.recall(chain=call.chain, address=call.address)
    if is_robot(request.headers):
        raise NotAnalysedError(is_page=True)
    public: PublicLimits = request.app.state.public_limits
    subject = f"{resource.path} {call.address}"
    spent = await public.take_analysis(
        network_of(request), call.chain, subject, until=turn, is_token=False
    )
    if spent is not None:
        raise AnalysesSpentError(spent.because, retry_after_s=spent.retry_after_s, is_page=True)
