"""Rendering of HTML pages from templates, with security headers and error pages."""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any, Literal

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from litestar import MediaType, Request, Response
from litestar.datastructures import Cookie

from api.error_answers import EXCEPTION_HANDLERS, DetailBody, ValidationBody
from api.formats.prose.prose import day, short_word, usd
from api.formats.times import duration_words, iso_utc
from api.pages.views.head_view import VERDICT_WORDS
from api.pages.views.liquidity_view import liquidity_parts, percent, utc_day
from api.resources.token_tabs import TOKEN_TABS
from core.text.visible_text import visible, visible_parts

_TEMPLATES = Environment(
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    autoescape=True,  # names and labels are untrusted
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters["time"] = iso_utc
_TEMPLATES.filters["duration"] = duration_words
_TEMPLATES.filters["usd"] = usd
_TEMPLATES.filters["verdict_words"] = lambda verdict: VERDICT_WORDS.get(verdict, "Not analysed")
_TEMPLATES.filters["visible_parts"] = visible_parts
_TEMPLATES.filters["visible"] = visible
_TEMPLATES.filters["word"] = short_word
_TEMPLATES.filters["liquidity_parts"] = liquidity_parts
_TEMPLATES.filters["share_percent"] = percent
_TEMPLATES.filters["utc_day"] = utc_day
_TEMPLATES.filters["day"] = day
_TEMPLATES.filters["date_words"] = lambda iso: day(int(datetime.fromisoformat(iso).timestamp()))
_TEMPLATES.globals["token_tabs"] = TOKEN_TABS

_OK = 200
_NOT_MODIFIED = 304

KEPT_IN = "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

POLICIES = {
    # No scripts at all, so no injected ones.
    "plain": f"default-src 'none'; style-src 'self'; img-src data:; {KEPT_IN}",
    # The API browser needs its own scripts, calls to this service, and images in its styles.
    "program": (
        "default-src 'none'; script-src 'self'; style-src 'self'; "
        f"img-src 'self' data:; connect-src 'self'; {KEPT_IN}"
    ),
}

GUARDED = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    # Not no-referrer: browsers then omit the Origin of forms, which is checked.
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Headers of all pages, and of their errors."""


def page(
    template: str,
    *,
    status: int = 200,
    policy: Literal["plain", "program"] = "plain",
    headers: Mapping[str, str] | None = None,
    cookies: Iterable[Cookie] = (),
    **values: Any,
) -> Response[str]:
    """Render an HTML page."""
    return Response(
        _TEMPLATES.get_template(template).render(values),
        status_code=status,
        media_type=MediaType.HTML,
        headers={**(headers or {}), **GUARDED, "Content-Security-Policy": POLICIES[policy]},
        cookies=list(cookies),
    )


def shared(
    request: Request[Any, Any, Any], response: Response[str], *, for_s: int
) -> Response[Any]:
    """Let caches share a page without anything private; return 304 if it is unchanged.

    Only for pages with status 200 that depend on no session and no key: these headers make another
    page.
    """
    if response.status_code != _OK:
        return response
    tag = f'W/"{hashlib.sha256(response.content.encode()).hexdigest()[:24]}"'
    headers = {
        "Cache-Control": f"public, max-age={for_s}",
        "ETag": tag,
        "Vary": "Cookie, X-API-Key",
    }
    response.headers.update(headers)
    if request.headers.get("If-None-Match") == tag:
        return Response(None, status_code=_NOT_MODIFIED, headers=dict(response.headers))
    return response


def wants_page(request: Request[Any, Any, Any]) -> bool:
    """True if the caller accepts HTML, as browsers do."""
    return "text/html" in request.headers.get("Accept", "")


def explain(request: Request[Any, Any, Any], error: Exception) -> Response[Any]:
    """Handle an error like any route; as an HTML page if the caller accepts HTML."""
    kind = next(kind for kind in type(error).__mro__ if kind in EXCEPTION_HANDLERS)
    answer = EXCEPTION_HANDLERS[kind](request, error)
    headers = {name: value for name, value in answer.headers.items() if name != "content-length"}
    if not wants_page(request):
        return Response(
            answer.content,
            status_code=answer.status_code,
            media_type=MediaType.JSON,
            headers={**headers, **GUARDED},
        )
    return page(
        "error.html",
        status=answer.status_code or 500,
        headers=headers,
        detail=_say(answer.content),
    )


def _say(body: object) -> str:
    if isinstance(body, ValidationBody):
        return " ".join(item.msg for item in body.detail)
    detail = body.detail if isinstance(body, DetailBody) else getattr(body, "detail", None)
    return detail if isinstance(detail, str) else "Something went wrong."
