"""/t/{chain}/{address}: an HTML page with the verdict on a token.

Open to visitors without a key, within limits: stored reports are shown freely, an analysis costs
node requests and counts on the visitor's network. With a key (of the signed-in account, typed into
the page's form, or in the header) it counts like the same request by a program. Where the
deployment has closed its pages, a key is needed.
"""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import quote

import structlog
from litestar import Request, Response, get, post
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect

from api.auth.keys import KEY_HEADER, Caller, find_caller
from api.auth.limits import KeyLimits
from api.auth.networks import network_of
from api.auth.origins import require_own_page
from api.auth.public_limits import PublicLimits
from api.auth.robots import is_robot
from api.deps import ApiDeps
from api.error_answers import (
    AnalysesSpentError,
    KeyRequiredError,
    NotAnalysedError,
    RefusalError,
)
from api.formats.prose.headline import refusal_headline
from api.formats.token_snapshot import TokenSnapshot
from api.pages.card_extra import why_no_cards
from api.pages.page_rendering import GUARDED, page, shared
from api.pages.views.market_view import TokenMarket
from api.pages.views.token_view import TokenView, view_token
from api.routes.token import chain_of, require_chain
from api.search.likeness import Likeness
from api.search.listed_tokens import TokenLists
from api.serving.answers import LARGE_POOLS, Answers
from api.serving.pair_tokens import find_token_of_pair
from api.serving.shown_snapshot import PATIENCE_S, find_shown
from api.sign_in.browser import SignedInUser, find_visitor, form_field
from api.sign_in.refusals import NoKeyToChargeError
from config.facts.chain import Chain
from core.errors import AssayError, StoreError, TokenRefusedError
from core.evm.primitives import HexBytes, checksum, parse_address
from sql.accounts.accounts import Accounts
from sql.accounts.ledger import digest_of
from sql.chain.balances import count_holders
from sql.chain.trade_tables import list_newest_trades
from sql.engine.store import Store

_log = structlog.get_logger(__name__)

_MAX_BODY_BYTES = 16_384
_MOST_KEY_CHARS = 200

_SHARED_S = 15
"""Seconds for which caches may keep a settled page of a visitor who is not signed in."""

_PRICE_PATIENCE_S = 0.5
"""Seconds for which a page waits for a market-data service."""

_MOST_TRADES = 500
"""Trades behind the chart of a token, the newest ones."""

_OK = 200
_FAILED = 500

_MOST_ADDRESS_CHARS = 128
_OUR_FAULT = "the analysis failed on our side. Try again later"


@get("/t", include_in_schema=False)
async def look_up(chain: FromQuery[str] = "", address: FromQuery[str] = "") -> Redirect:
    """Redirect from the form of the pages to the page of the token."""
    path = f"/t/{quote(chain, safe='')}/{quote(address.strip(), safe='')}"
    return Redirect(path if chain and address.strip() else "/", status_code=303, headers=GUARDED)


@get("/t/{chain:str}/{address:str}", guards=[require_chain], include_in_schema=False)
async def show_token(
    request: Request[Any, Any, Any], chain: FromPath[str], address: FromPath[str]
) -> Response[Any]:
    """The verdict, counted on the key of the call or of the session if there is one."""
    deps: ApiDeps = request.app.state.deps
    visitor = await find_visitor(request)
    text = request.headers.get(KEY_HEADER, "").strip()
    if text:
        return await _for_key(
            request, await find_caller(request, digest_of(text)), address, visitor
        )
    if visitor is not None:
        caller = await account_caller(request, visitor)
        if caller is not None:
            return await _for_key(request, caller, address, visitor)
        if not deps.public.is_open:
            raise NoKeyToChargeError
    if not deps.public.is_open:
        return _ask(request, chain, address)
    try:
        return await _for_public(request, address, visitor)
    except AnalysesSpentError as error:
        return _ask(request, chain, address, refused=error)


@post(
    "/t/{chain:str}/{address:str}",
    guards=[require_chain],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=200,
    include_in_schema=False,
)
async def show_token_for_key(
    request: Request[Any, Any, Any], address: FromPath[str]
) -> Response[Any]:
    """The verdict, counted on the key in the form. The key is kept nowhere."""
    text = (await form_field(request, "api_key")).strip()
    if not text:
        raise KeyRequiredError
    caller = await find_caller(request, digest_of(text[:_MOST_KEY_CHARS]))
    return await _for_key(request, caller, address, await find_visitor(request))


@post(
    "/t/{chain:str}/{address:str}/refresh",
    guards=[require_chain, require_own_page],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=303,
    include_in_schema=False,
)
async def refresh_token(
    request: Request[Any, Any, Any], chain: FromPath[str], address: FromPath[str]
) -> Redirect:
    """Start a new analysis, and return to the page."""
    await _refresh(request, address, await find_visitor(request))
    path = f"/t/{quote(chain, safe='')}/{quote(address, safe='')}"
    return Redirect(path, status_code=303, headers=GUARDED)


async def _refresh(
    request: Request[Any, Any, Any], address: str, visitor: SignedInUser | None
) -> None:
    """Start a new analysis, if the reader may have one now, and wait for it briefly.

    A plan without refreshes gives no more here than the limits of visitors do.
    """
    deps: ApiDeps = request.app.state.deps
    caller = None if visitor is None else await account_caller(request, visitor)
    chain = chain_of(request)
    with ExitStack() as turn:
        if caller is not None and caller.plan.may_refresh:
            limits: KeyLimits = request.app.state.limits
            await limits.admit(caller)
        elif not deps.public.is_open or is_robot(request.headers):
            return
        else:
            public: PublicLimits = request.app.state.public_limits
            network = network_of(request)
            await public.admit_page(network)
            if await public.take_analysis(network, chain, address, until=turn) is not None:
                return
        answers: Answers = request.app.state.answers
        newest = answers.snapshot(chain=chain, address=address, refresh=True)
        # The redirected page shows the result.
        with suppress(AssayError, TimeoutError):
            await asyncio.wait_for(newest, PATIENCE_S)


async def account_caller(request: Request[Any, Any, Any], visitor: SignedInUser) -> Caller | None:
    """Return the caller of the account's oldest live key. None: it has none."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    now_s = deps.now_s()
    keys = await asyncio.to_thread(accounts.list_keys, visitor.account_id, now_s)
    live = [key for key in keys if key.is_live(now_s)]
    return await find_caller(request, live[-1].digest) if live else None


async def _for_key(
    request: Request[Any, Any, Any], caller: Caller, address: str, visitor: SignedInUser | None
) -> Response[Any]:
    limits: KeyLimits = request.app.state.limits
    await limits.admit(caller)

    async def admit_analysis() -> None:
        """Admit the analysis, which is counted with the call."""

    response, _ = await _render_token(request, address, visitor, admit_analysis)
    return response


async def _for_public(
    request: Request[Any, Any, Any], address: str, visitor: SignedInUser | None
) -> Response[Any]:
    limits: PublicLimits = request.app.state.public_limits
    network = network_of(request)
    await limits.admit_page(network)

    with ExitStack() as turn:

        async def admit_analysis() -> None:
            if is_robot(request.headers):
                raise NotAnalysedError
            spent = await limits.take_analysis(network, chain_of(request), address, until=turn)
            if spent is not None:
                raise AnalysesSpentError(spent.because, retry_after_s=spent.retry_after_s)

        response, is_settled = await _render_token(request, address, visitor, admit_analysis)
    is_shared = is_settled and visitor is None
    return shared(request, response, for_s=_SHARED_S) if is_shared else response


def _ask(
    request: Request[Any, Any, Any],
    chain: str,
    address: str,
    *,
    refused: AnalysesSpentError | None = None,
) -> Response[str]:
    """Return the form for a key, with the limit that was reached."""
    return page(
        "ask.html",
        status=_OK if refused is None else refused.status,
        headers=None if refused is None else refused.headers,
        chain=chain,
        address=address,
        can_sign_in=request.app.state.issuer is not None,
        detail=None if refused is None else refused.detail,
    )


async def _render_token(
    request: Request[Any, Any, Any],
    address: str,
    visitor: SignedInUser | None,
    admit_analysis: Callable[[], Awaitable[None]],
) -> tuple[Response[Any], bool]:
    """Return the page, and True if it stays unchanged until its report expires."""
    answers: Answers = request.app.state.answers
    chain = answers.chain(chain_of(request))
    try:
        shown = await find_shown(
            answers, chain=chain.slug, address=address, admit_analysis=admit_analysis
        )
        snapshot = await answers.with_price(shown.snapshot, within_s=_PRICE_PATIENCE_S)
        token = await _view(request, snapshot)
        likeness = await _likeness(request, shown.snapshot)
    except TokenRefusedError as error:
        return await _not_shown(request, chain, address, visitor, error), False
    except RefusalError:
        raise
    except (AssayError, TimeoutError):
        return _refused(chain, address, visitor, _OUR_FAULT, _FAILED), False
    response = page(
        "token.html",
        policy="program",
        token=token,
        likeness=likeness,
        old_because=shown.old_because,
        card_url=_card_url(request, token),
        visitor=visitor,
    )
    return response, not token.is_pending and shown.old_because in (None, "limited")


async def _not_shown(
    request: Request[Any, Any, Any],
    chain: Chain,
    address: str,
    visitor: SignedInUser | None,
    error: TokenRefusedError,
) -> Response[Any]:
    """Redirect from the address of a pool to its token; else return the page of a refusal."""
    if error.code == "not_a_token":
        pair = parse_address(address)
        token = await find_token_of_pair(request.app.state.deps, chain, pair)
        if token is not None:
            path = f"/t/{quote(chain.slug, safe='')}/{checksum(token)}"
            return Redirect(path, status_code=303, headers=GUARDED)
    return _refused(chain, address, visitor, error.reason, error.status)


def _refused(
    chain: Chain, address: str, visitor: SignedInUser | None, reason: str, status: int
) -> Response[str]:
    return page(
        "refused.html",
        status=status,
        chain=chain,
        address=address[:_MOST_ADDRESS_CHARS],
        headline=refusal_headline(reason),
        visitor=visitor,
    )


async def _likeness(request: Request[Any, Any, Any], snapshot: TokenSnapshot) -> Likeness | None:
    """Find the token that the symbol resembles. None: there is none, or there is no search."""
    lists: TokenLists | None = request.app.state.lists
    return None if lists is None else await lists.likeness_of(snapshot.report)


async def _view(request: Request[Any, Any, Any], snapshot: TokenSnapshot) -> TokenView:
    deps: ApiDeps = request.app.state.deps
    now_s, market = deps.now_s(), await _market(deps, snapshot)

    def make() -> TokenView:
        return view_token(snapshot, now_s=now_s, market=market)

    is_large = len(snapshot.report.pools or ()) > LARGE_POOLS
    return await asyncio.to_thread(make) if is_large else make()


async def _market(deps: ApiDeps, snapshot: TokenSnapshot) -> TokenMarket | None:
    """Read what the index has of trades and holders. None: there is no store, or it fails."""
    store = deps.store
    if store is None:
        return None
    try:
        return await asyncio.to_thread(_read_market, store, snapshot)
    except StoreError as error:
        _log.warning("page without trades", token=snapshot.report.token.address, why=str(error))
        return None


def _read_market(store: Store, snapshot: TokenSnapshot) -> TokenMarket:
    token, pools = snapshot.report.token, snapshot.report.pools or ()
    trades = list_newest_trades(
        store,
        chain_id=token.chain_id,
        token=token.address,
        pool_keys=[HexBytes(str(pool.pool_id or pool.pool)) for pool in pools[:1]],
        from_block=0,
        at_most=_MOST_TRADES,
    )
    holders = count_holders(store, chain_id=token.chain_id, token=token.address)
    return TokenMarket(trades=tuple(trades), holder_count=holders)


def _card_url(request: Request[Any, Any, Any], token: TokenView) -> str | None:
    """Return the address of the share card. None: there are no cards.

    Absolute, as Open Graph requires, only with a configured public address: caches keep the page,
    and a caller chooses the Host of its request.
    """
    if why_no_cards() is not None:
        return None
    deps: ApiDeps = request.app.state.deps
    origin = deps.oidc.public_url if deps.oidc else ""
    return f"{origin}/t/{token.head.chain.slug}/{token.head.address}/card.png"
