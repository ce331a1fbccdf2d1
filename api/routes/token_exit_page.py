"""/t/{chain}/{address}/exit: an HTML page with what leaving brings, quoted when it is asked for."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.pages.page_rendering import page
from api.routes.page_admission import MOST_ADDRESS_CHARS, admit_quote
from api.routes.token import chain_of, require_chain
from api.serving.answers import Answers
from api.serving.quote_service import QuoteService
from core.errors import AssayError, TokenRefusedError


@get("/t/{chain:str}/{address:str}/exit", guards=[require_chain], include_in_schema=False)
async def show_exit(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """A table of sizes, with a reason where there is no figure."""
    answers: Answers = request.app.state.answers
    quotes: QuoteService = request.app.state.quotes
    slug = chain_of(request)
    await admit_quote(request, slug)
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
        address=address[:MOST_ADDRESS_CHARS],
        quote=quote,
        reason=reason,
    )
