"""/t/{chain}/{address}/card.png: the picture for links to a token's page, from the stored
report."""

import asyncio
from typing import Any

from cachetools import LRUCache
from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

from api.auth.networks import network_of
from api.auth.public_limits import PublicLimits
from api.deps import ApiDeps
from api.formats.token_snapshot import TokenSnapshot
from api.pages.card_extra import why_no_cards
from api.pages.views.token_view import view_token
from api.routes.token import chain_of, require_chain
from api.serving.answers import Answers
from core.errors import AssayError

_KEPT_S = 300
_MOST_KEPT = 200
"""Cards kept in memory, each some 30 KB."""

CardCache = LRUCache[tuple[str, str, int], bytes]


def new_card_cache() -> CardCache:
    """Return the cache of one application."""
    return LRUCache(maxsize=_MOST_KEPT)


@get("/t/{chain:str}/{address:str}/card.png", guards=[require_chain], include_in_schema=False)
async def send_card(request: Request[Any, Any, Any], address: FromPath[str]) -> Response[bytes]:
    """The card of the newest stored report; nothing is analysed for it."""
    if (missing := why_no_cards()) is not None:
        raise NotFoundException(detail=str(missing))
    deps: ApiDeps = request.app.state.deps
    if not deps.public.is_open:
        raise NotFoundException
    limits: PublicLimits = request.app.state.public_limits
    await limits.admit_page(network_of(request))
    answers: Answers = request.app.state.answers
    try:
        known = await answers.recall(chain=chain_of(request), address=address)
    except AssayError as error:
        raise NotFoundException from error
    snapshot = known.snapshot
    if snapshot is None:
        raise NotFoundException
    cards: CardCache = request.app.state.cards
    token = snapshot.report.token
    key = (snapshot.chain.slug, str(token.address), token.scanned_at_s)
    body = cards.get(key)
    if body is None:
        body = await asyncio.to_thread(_draw, snapshot, deps.now_s())
        if snapshot.is_final:
            cards[key] = body
    headers = {
        "Cache-Control": f"public, max-age={_KEPT_S}",
        "X-Content-Type-Options": "nosniff",
    }
    return Response(body, media_type="image/png", headers=headers)


def _draw(snapshot: TokenSnapshot, now_s: float) -> bytes:
    from api.pages.share_card import draw_card  # noqa: PLC0415 - Pillow is an extra

    return draw_card(view_token(snapshot, now_s=now_s))
