"""Types of the table of token sub-resources, and the run of one row."""

import inspect
from collections.abc import Awaitable, Callable, Mapping
from typing import Annotated, Any, Literal

import msgspec
import structlog
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import Empty, EmptyType

from analysis.replay.evidence_pack import PackFile
from api.deps import ApiDeps
from api.error_answers import DetailBody, RefusalError, ValidationBody
from api.formats.native.shapes import Envelope
from api.formats.rendering import render_failure, render_refusal
from api.formats.shape_building import Shape
from api.openapi.responses import ANALYSED, CALLER_RESPONSES, FAULT, UNKNOWN_CHAIN, documented
from api.served_chains import CHAIN_HELP
from api.serving.answers import Answers
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import pack
from core.errors import AssayError, TokenRefusedError

_log = structlog.get_logger(__name__)


ToolChain = Annotated[str | int, msgspec.Meta(description=f"{CHAIN_HELP}; list_chains has them")]
ToolAddress = Annotated[str, msgspec.Meta(description="Address of the token contract, 0x...")]


class OneToken(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One token."""

    chain: ToolChain
    address: ToolAddress


class TokenCall(msgspec.Struct, frozen=True, kw_only=True):
    """One admitted call about one token."""

    deps: ApiDeps
    answers: Answers
    chain: str
    """Slug of a served chain."""
    address: str
    """Address as in the request."""
    place: Literal["path", "arguments"] = "path"
    """Part of the request that holds the address, for errors."""


class ResourcePage(msgspec.Struct, frozen=True, kw_only=True):
    """HTML page of a resource."""

    template: str
    """Name of the template, which extends `token_frame.html`; it gets `chain`, `address`, `head`,
    `tab`, `found` or None, and `reason`."""
    failed: str
    """Reason shown when the run fails without a fault of the token."""
    values: Mapping[str, Any] = {}
    """Further values of the template."""
    tab: str = ""
    """Words of its tab on the pages of a token. Empty: it has none."""


class ResourceTool(msgspec.Struct, frozen=True, kw_only=True):
    """MCP tool of a resource."""

    name: str
    description: str
    takes: type[msgspec.Struct] = OneToken
    """Arguments: chain, address and the parameters of the run."""


class TokenResource(msgspec.Struct, frozen=True, kw_only=True):
    """One sub-resource of a token: everything that its route, page and tool need."""

    path: str
    """Last segment of the paths of route and page."""
    operation_id: str
    summary: str
    tag: str
    run: Callable[..., Awaitable[Shape | PackFile]]
    """Takes a `TokenCall` and the parameters of the route. Its docstring is the description of the
    operation; a parameter `data` is the body of a POST."""
    answer: type[Shape]
    """Structured content of the tool's result."""
    responses: Mapping[int, ResponseSpec]
    """Documented responses, by status."""
    tool: ResourceTool
    page: ResourcePage | None = None
    """None: there is no page."""
    is_simulated: bool = True
    """True if the run costs node requests. False: it reads the store, and its page costs no
    analysis."""
    max_body_bytes: int | EmptyType = Empty
    """Largest request body. Empty: the framework's limit."""

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """Parameters of the run after the call."""
        _, *others = inspect.signature(self.run).parameters.values()
        return tuple(others)

    @property
    def takes_body(self) -> bool:
        """True if the route is a POST with a JSON body."""
        return any(each.name == "data" for each in self.parameters)


def simulated_responses(
    success: ResponseSpec,
    *,
    invalid: str = "an unknown chain",
    failed: str = "analysis_failed: retry with backoff; or a fault outside of the analysis",
    **examples: ValidationBody,
) -> dict[int, ResponseSpec]:
    """Return the responses of a simulated resource.

    `invalid`: input that gives the validation list; `examples`: such bodies, by name.
    """
    return {
        200: success,
        422: documented(
            Envelope[None] | ValidationBody,
            f"{ANALYSED}{invalid} gives the validation list",
            unknown_chain=UNKNOWN_CHAIN,
            **examples,
        ),
        500: documented(Envelope[None] | DetailBody, failed, fault=FAULT),
        **CALLER_RESPONSES,
    }


async def run_resource(
    resource: TokenResource, call: TokenCall, arguments: Mapping[str, Any]
) -> Shape | PackFile | CachedAnswer:
    """Run a resource; a CachedAnswer is the envelope of why there is no answer.

    Raises RefusalError.
    """
    chain = call.answers.chain(call.chain)
    try:
        return await resource.run(call, **arguments)
    except TokenRefusedError as error:
        return pack(error.status, render_refusal(chain, call.address, "native", error))
    except RefusalError:
        raise
    except (AssayError, TimeoutError) as error:
        _log.warning("quote failed", chain=chain.slug, token=call.address, reason=str(error))
        return pack(500, render_failure(chain, call.address, "native"))
