"""/t/{chain}/{address}/kin: an HTML page with the kin of a token and how those ended."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.auth.limits import KeyLimits
from api.auth.public_limits import PublicLimits
from api.deps import ApiDeps
from api.error_answers import InvalidInputError, KeyRequiredError, StoreDownError
from api.formats.resources.kin_format import KIN_WORDS
from api.pages.page_rendering import page
from api.routes.page_admission import MOST_ADDRESS_CHARS
from api.routes.token import chain_of, require_chain
from api.routes.token_page import account_caller, network_asking
from api.serving.answers import Answers
from api.serving.kin_service import read_kin
from api.sign_in.browser import find_visitor


@get("/t/{chain:str}/{address:str}/kin", guards=[require_chain], include_in_schema=False)
async def show_kin(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """A table for each sort of kin. It reads what is stored, so it counts as a page, or as a call
    of the signed-in account."""
    await _admit(request)
    answers: Answers = request.app.state.answers
    slug = chain_of(request)
    found, reason, status = None, "", 200
    try:
        found = await read_kin(
            request.app.state.deps, answers, chain=slug, address=address, asked_in="path"
        )
    except InvalidInputError:
        reason, status = "this is no address of a token", 422
    except StoreDownError as error:
        reason, status = "what is stored cannot be read; try again later", error.status
    return page(
        "kin.html",
        status=status,
        chain=answers.chain(slug),
        address=address[:MOST_ADDRESS_CHARS],
        found=found,
        reason=reason,
        words=KIN_WORDS,
    )


async def _admit(request: Request[Any, Any, Any]) -> None:
    """Count the page. Raises RefusalError."""
    deps: ApiDeps = request.app.state.deps
    visitor = await find_visitor(request)
    caller = None if visitor is None else await account_caller(request, visitor)
    if caller is not None:
        limits: KeyLimits = request.app.state.limits
        await limits.admit(caller)
    elif not deps.public.is_open:
        raise KeyRequiredError
    else:
        public: PublicLimits = request.app.state.public_limits
        await public.admit_page(network_asking(request))
