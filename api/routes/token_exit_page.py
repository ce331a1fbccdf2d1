"""/t/{chain}/{address}/exit: an HTML page with what leaving brings, quoted when it is asked for.

A quote costs the node about what an analysis costs, so it is admitted as one: counted on the key of
the signed-in account, or on the network of somebody without one.
"""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.auth.limits import KeyLimits
from api.auth.public_limits import PublicLimits
from api.auth.robots import is_robot
from api.deps import ApiDeps
from api.error_answers import AnalysesSpentError, KeyRequiredError, NotAnalysedError
from api.pages.page_rendering import page
from api.routes.token import chain_of, require_chain
from api.routes.token_page import account_caller, network_asking
from api.serving.answers import Answers
from api.serving.quote_service import QuoteService
from api.sign_in.browser import find_visitor
from core.errors import AssayError, TokenRefusedError


@get("/t/{chain:str}/{address:str}/exit", guards=[require_chain], include_in_schema=False)
async def show_exit(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """A table of sizes, with a reason where there is no figure."""
    answers: Answers = request.app.state.answers
    quotes: QuoteService = request.app.state.quotes
    slug = chain_of(request)
    await _admit(request, slug)
    quote, reason, status = None, "", 200
    try:
        quote = await quotes.exit(chain=slug, address=address)
    except TokenRefusedError as error:
        reason, status = error.reason, error.status
    except (AssayError, TimeoutError):
        reason, status = "the quote failed on our side; try again later", 500
    return page(
        "exit.html",
        status=status,
        chain=answers.chain(slug),
        address=address[:_MOST_ADDRESS_CHARS],
        quote=quote,
        reason=reason,
    )


_MOST_ADDRESS_CHARS = 128


async def _admit(request: Request[Any, Any, Any], slug: str) -> None:
    """Count the quote. Raises RefusalError."""
    deps: ApiDeps = request.app.state.deps
    visitor = await find_visitor(request)
    caller = None if visitor is None else await account_caller(request, visitor)
    if caller is not None:
        limits: KeyLimits = request.app.state.limits
        await limits.admit(caller)
        return
    if not deps.public.is_open:
        raise KeyRequiredError
    if is_robot(request.headers):
        raise NotAnalysedError
    public: PublicLimits = request.app.state.public_limits
    network = network_asking(request)
    await public.admit_page(network)
    wait_s = await public.take_analysis(network, slug)
    if wait_s is not None:
        raise AnalysesSpentError(retry_after_s=wait_s)
