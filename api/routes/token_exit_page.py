"""/t/{chain}/{address}/exit: an HTML page with what leaving brings, quoted when it is asked for."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.routes.quote_route import show_quote
from api.routes.token import require_chain


@get("/t/{chain:str}/{address:str}/exit", guards=[require_chain], include_in_schema=False)
async def show_exit(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """A table of sizes, with a reason where there is no figure."""
    return await show_quote(
        request,
        address,
        lambda quotes, slug: quotes.exit(chain=slug, address=address),
        template="exit.html",
        failed="the quote failed on our side; try again later",
    )
