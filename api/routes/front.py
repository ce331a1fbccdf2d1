"""/ and /search: the front page, the search, and robots.txt."""

from typing import Any
from urllib.parse import quote

import structlog
from litestar import MediaType, Request, Response, get
from litestar.params import FromQuery
from litestar.response import Redirect

from api.auth.networks import network_of
from api.auth.public_limits import PublicLimits
from api.auth.robots import ROBOTS_TEXT
from api.deps import ApiDeps
from api.error_answers import StoreDownError
from api.pages.page_rendering import GUARDED, page, shared
from api.pages.site_files import is_built
from api.search.listed_tokens import MOST_LISTED, FrontPageLists, ListedToken, TokenLists
from api.search.query import MOST_CHARS, SearchQuery, read_query
from api.served_chains import find_chain
from api.serving.pair_tokens import find_token_of_pair
from api.sign_in.browser import SignedInUser, find_visitor
from config.facts.chain import Chain
from core.errors import StoreError
from core.evm.primitives import Address, checksum

_log = structlog.get_logger(__name__)

_SHARED_S = 15
_ROBOTS_KEPT_S = 3600


@get("/", include_in_schema=False)
async def begin(request: Request[Any, Any, Any]) -> Response[Any]:
    """A search form, and the tokens that were analysed last."""
    visitor = await find_visitor(request)
    lists = await _lists_for(request, visitor)
    shown = FrontPageLists(newest=[], richest=[])
    if lists is not None:
        try:
            shown = await lists.front_page()
        except StoreError as error:  # an address can be searched without it
            _log.error("tokens cannot be listed", reason=str(error))
    return _sent(request, visitor, "front.html", typed="", chosen="", lists=shown)


@get("/search", include_in_schema=False)
async def search(
    request: Request[Any, Any, Any], q: FromQuery[str] = "", chain: FromQuery[str] = ""
) -> Response[Any]:
    """The page of a token for its address, and a list of tokens for a name or symbol."""
    deps: ApiDeps = request.app.state.deps
    slug = find_chain(deps, chain, place="query") if chain else ""
    served = [one for one in deps.chains if one.slug in deps.served]
    chosen = next((one for one in served if one.slug == slug), None)
    typed = q.strip()[:MOST_CHARS]
    if not typed:
        return Redirect("/", status_code=303, headers=GUARDED)
    visitor = await find_visitor(request)
    queries = read_query(typed, chosen, served)
    lists = await _lists_for(request, visitor)
    address = queries[0].address
    if address is not None:
        return await _to_token(request, visitor, lists, queries[0], address, typed)
    try:
        tokens: list[ListedToken] = [] if lists is None else await lists.search(queries)
    except StoreError as error:
        _log.error("tokens cannot be searched", reason=str(error))
        raise StoreDownError from error
    return _sent(
        request,
        visitor,
        "search.html",
        typed=typed,
        chosen=slug,
        tokens=tokens,
        is_closed=lists is None,
        choices=[],
    )


@get("/robots.txt", include_in_schema=False)
async def tell_robots() -> Response[str]:
    """Rules for crawlers and link previews."""
    headers = {"Cache-Control": f"public, max-age={_ROBOTS_KEPT_S}"}
    return Response(ROBOTS_TEXT, media_type=MediaType.TEXT, headers=headers)


async def _lists_for(
    request: Request[Any, Any, Any], visitor: SignedInUser | None
) -> TokenLists | None:
    """Count the page of a visitor without a session. None: the visitor may see no lists."""
    deps: ApiDeps = request.app.state.deps
    lists: TokenLists | None = request.app.state.lists
    if visitor is not None:
        return lists
    limits: PublicLimits = request.app.state.public_limits
    await limits.admit_page(network_of(request))
    return lists if deps.public.is_open else None


async def _to_token(
    request: Request[Any, Any, Any],
    visitor: SignedInUser | None,
    lists: TokenLists | None,
    query: SearchQuery,
    address: Address,
    typed: str,
) -> Response[Any]:
    """Redirect to the token's page, from a pool's address to that of its token; if the chain is
    ambiguous, let the reader choose."""
    deps: ApiDeps = request.app.state.deps
    served = [one for one in deps.chains if one.slug in deps.served]
    if lists is not None:
        for one in [query.chain] if query.chain else served:
            if (token := await find_token_of_pair(deps, one, address)) is not None:
                return _at(one, token)
    if query.chain is not None or len(served) == 1:
        return _at(query.chain or served[0], address)
    try:
        tokens = [] if lists is None else await lists.at_address(address)
    except StoreError as error:
        _log.error("tokens cannot be searched", reason=str(error))
        tokens = []  # the reader chooses among all chains
    if len(tokens) == 1:
        return _at(tokens[0].chain, address)
    known = {token.chain.slug for token in tokens}
    return _sent(
        request,
        visitor,
        "search.html",
        typed=typed,
        chosen="",
        tokens=tokens,
        is_closed=False,
        choices=[(one, checksum(address)) for one in served if one.slug not in known],
    )


def _at(chain: Chain, address: Address) -> Redirect:
    path = f"/t/{quote(chain.slug, safe='')}/{checksum(address)}"
    return Redirect(path, status_code=303, headers=GUARDED)


def _sent(
    request: Request[Any, Any, Any], visitor: SignedInUser | None, template: str, **values: Any
) -> Response[Any]:
    """Return a page, which caches may share unless its reader is signed in."""
    deps: ApiDeps = request.app.state.deps
    response = page(
        template,
        visitor=visitor,
        can_sign_in=request.app.state.issuer is not None,
        chains=[chain for chain in deps.chains if chain.slug in deps.served],
        now_s=deps.now_s(),
        has_docs=is_built(deps.docs),
        most_chars=MOST_CHARS,
        most_listed=MOST_LISTED,
        **values,
    )
    return response if visitor is not None else shared(request, response, for_s=_SHARED_S)
