"""/browse: an interactive browser of the API, and the static files of all pages."""

from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from typing import Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.params import FromPath

import api.pages
from api.deps import ApiDeps
from api.pages.page_rendering import page
from api.pages.site_files import is_built
from api.pages.static_files import StaticFile, make_static_file, send_file
from api.sign_in.browser import find_visitor

_OURS = files(api.pages) / "assets"


def _find_browser() -> Traversable:
    """Return the folder of the API browser's files: in a wheel, else in a checkout's
    dependencies."""
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


@get("/browse", include_in_schema=False)
async def browse(request: Request[Any, Any, Any]) -> Response[str]:
    """The OpenAPI document in an interactive browser."""
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
    return send_file(request, asset, kept_s=_KEEP_S, headers={"X-Content-Type-Options": "nosniff"})


@cache
def _load() -> Mapping[str, StaticFile]:
    return {
        name: make_static_file(file.read_bytes(), media_type)
        for name, (file, media_type) in _ASSETS.items()
    }
