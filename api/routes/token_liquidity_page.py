"""/t/{chain}/{address}/liquidity: an HTML page with who holds the liquidity of a token."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.routes.quote_route import show_quote
from api.routes.token import require_chain


@get("/t/{chain:str}/{address:str}/liquidity", guards=[require_chain], include_in_schema=False)
async def show_liquidity(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """A bar of shares a pool, its holders, and what a withdrawal would do."""
    return await show_quote(
        request,
        address,
        lambda quotes, slug: quotes.liquidity(chain=slug, address=address),
        template="liquidity.html",
        failed="it was not found out, which is our fault; try again later",
    )
