"""/t/{chain}/{address}/liquidity: an HTML page with who holds the liquidity of a token."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.pages.page_rendering import page
from api.routes.page_admission import MOST_ADDRESS_CHARS, admit_quote
from api.routes.token import chain_of, require_chain
from api.serving.answers import Answers
from api.serving.quote_service import QuoteService
from core.errors import AssayError, TokenRefusedError


@get("/t/{chain:str}/{address:str}/liquidity", guards=[require_chain], include_in_schema=False)
async def show_liquidity(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """A bar of shares a pool, its holders, and what a withdrawal would do."""
    answers: Answers = request.app.state.answers
    quotes: QuoteService = request.app.state.quotes
    slug = chain_of(request)
    await admit_quote(request, slug)
    found, reason, status = None, "", 200
    try:
        found = await quotes.liquidity(chain=slug, address=address)
    except TokenRefusedError as error:
        reason, status = error.reason, error.status
    except (AssayError, TimeoutError):
        reason, status = "it was not found out, which is our fault; try again later", 500
    return page(
        "liquidity.html",
        status=status,
        chain=answers.chain(slug),
        address=address[:MOST_ADDRESS_CHARS],
        found=found,
        reason=reason,
    )
