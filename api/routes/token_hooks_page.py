"""/t/{chain}/{address}/hooks: an HTML page with what the hooks of a token's pools may do."""

from typing import Any

from litestar import Request, Response, get
from litestar.params import FromPath

from api.routes.quote_route import show_quote
from api.routes.token import require_chain


@get("/t/{chain:str}/{address:str}/hooks", guards=[require_chain], include_in_schema=False)
async def show_hooks(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[str]:
    """Permissions, control, a table of simulated trades, and withdrawals, a pool each."""
    return await show_quote(
        request,
        address,
        lambda quotes, slug: quotes.hooks(chain=slug, address=address),
        template="hooks.html",
        failed="it was not found out, which is our fault; try again later",
    )
