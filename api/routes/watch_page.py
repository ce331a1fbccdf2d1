"""Watches on the dashboard: those of the account's keys."""

import asyncio
from typing import Any

from litestar import Request, post
from litestar.params import FromPath
from litestar.response import Redirect

from api.deps import ApiDeps
from api.error_answers import StoreDownError
from api.pages.page_rendering import GUARDED
from api.sign_in.browser import require_own_form, require_visitor, visitor_of
from api.watches.watch_book import WatchBook
from api.watches.watch_refusals import NoSuchWatchError
from sql.accounts.accounts import Accounts

_MAX_BODY_BYTES = 16_384


@post(
    "/dashboard/watches/{watch_id:int}/{change:str}",
    guards=[require_visitor, require_own_form],
    request_max_body_size=_MAX_BODY_BYTES,
    status_code=303,
    include_in_schema=False,
)
async def change_watch(
    request: Request[Any, Any, Any], watch_id: FromPath[int], change: FromPath[str]
) -> Redirect:
    """Pause, resume, remove or test a watch of one of the account's own keys."""
    watch_book: WatchBook | None = request.app.state.watch_book
    if watch_book is None:
        raise StoreDownError
    changes = {
        "pause": watch_book.pause,
        "resume": watch_book.resume,
        "remove": watch_book.remove,
        "test": watch_book.test,
    }
    if change not in changes:
        raise NoSuchWatchError
    await changes[change](await keys_of_account(request), watch_id)
    return Redirect("/dashboard#watches", status_code=303, headers=GUARDED)


async def keys_of_account(request: Request[Any, Any, Any]) -> list[int]:
    """Return the keys of the signed-in account."""
    deps: ApiDeps = request.app.state.deps
    accounts: Accounts = request.app.state.accounts
    keys = await asyncio.to_thread(accounts.list_keys, visitor_of(request).account_id, deps.now_s())
    return [key.key_id for key in keys]
