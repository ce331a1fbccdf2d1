"""/browse: an interactive browser of the API, and the static files of all pages."""

import gzip
import hashlib
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

import msgspec
from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

import api.pages
from api.deps import ApiDeps
from api.pages.page_rendering import page
from api.pages.site_files import is_built
from api.sign_in.browser import find_visitor

_OURS = files(api.pages) / "assets"


def _find_browser() -> Traversable:
    """Return the folder of the API browser's files: in a wheel, else where a checkout has them."""
    built = _OURS / "swagger_ui"
    return built if built.is_dir() else files("swagger_ui") / "static"


_SWAGGER = _find_browser()

# Whitelist of served files by name, so that no other file in those folders is exposed.
_ASSETS = {
    "pages.css": (_OURS / "pages.css", "text/css"),
    "token.css": (_OURS / "token.css", "text/css"),
    "token.js": (_OURS / "token.js", "text/javascript"),
    "browse.css": (_OURS / "browse.css", "text/css"),
    "browse.js": (_OURS / "browse.js", "text/javascript"),
    "swagger-ui.css": (_SWAGGER / "swagger-ui.css", "text/css"),
    "swagger-ui-bundle.js": (_SWAGGER / "swagger-ui-bundle.js", "text/javascript"),
}

_KEEP_S = 3600
_NOT_MODIFIED = 304


class _Asset(msgspec.Struct, frozen=True, kw_only=True):
    body: bytes
    packed: bytes
    """The body compressed by gzip."""
    tag: str
    media_type: str


@get("/browse", include_in_schema=False)
async def browse(request: Request[Any, Any, Any]) -> Response[str]:
    """The OpenAPI document, to read and to try."""
    deps: ApiDeps = request.app.state.deps
    visitor = await find_visitor(request)
    can_sign_in = request.app.state.issuer is not None
    return page(
        "browse.html",
        policy="program",
        visitor=visitor,
        can_sign_in=can_sign_in,
        prefill=deps.prefill,
        has_docs=is_built(deps.docs),
    )


@get("/assets/{name:str}", include_in_schema=False)
async def send_asset(request: Request[Any, Any, Any], name: FromPath[str]) -> Response[bytes]:
    """One file of a page."""
    asset = _load().get(name)
    if asset is None:
        raise NotFoundException
    headers = {
        "Cache-Control": f"public, max-age={_KEEP_S}",
        "ETag": asset.tag,
        "Vary": "Accept-Encoding",
        "X-Content-Type-Options": "nosniff",
    }
    if request.headers.get("If-None-Match") == asset.tag:
        return Response(b"", status_code=_NOT_MODIFIED, headers=headers)
    is_packed = "gzip" in request.headers.get("Accept-Encoding", "")
    return Response(
        asset.packed if is_packed else asset.body,
        media_type=asset.media_type,
        headers={**headers, **({"Content-Encoding": "gzip"} if is_packed else {})},
    )


@cache
def _load() -> Mapping[str, _Asset]:
    found = {}
    for name, (file, media_type) in _ASSETS.items():
        body = file.read_bytes()
        found[name] = _Asset(
            body=body,
            packed=gzip.compress(body, mtime=0),
            tag=f'W/"{hashlib.sha256(body).hexdigest()[:24]}"',
            media_type=media_type,
        )
    return found
