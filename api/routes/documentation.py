"""/docs: the documentation site, where it was built."""

import asyncio
from pathlib import Path
from typing import Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.response import Redirect

from api.deps import ApiDeps
from api.pages.page_rendering import GUARDED
from api.pages.site_files import find_file, read_file

_AT = "/docs"
_KEPT_S = 600
_NOT_MODIFIED = 304


@get([_AT, f"{_AT}/{{path:path}}"], include_in_schema=False)
async def send_page(request: Request[Any, Any, Any]) -> Response[Any]:
    """One file of the site. 404: there is none, or no site was built."""
    deps: ApiDeps = request.app.state.deps
    folder, asked = deps.docs, request.url.path.removeprefix(_AT)
    if folder is None:
        raise NotFoundException
    has_slash = request.scope["raw_path"].endswith(b"/")  # the path itself has none, ever
    page = await asyncio.to_thread(find_file, folder, f"{asked}/")
    if page is not None and not has_slash:
        return Redirect(f"{_AT}{asked}/", status_code=308, headers=GUARDED)
    file = page if has_slash else await asyncio.to_thread(find_file, folder, asked)
    if file is None:
        raise NotFoundException
    return await _sent(request, file)


async def _sent(request: Request[Any, Any, Any], file: Path) -> Response[bytes]:
    found = await asyncio.to_thread(read_file, file)
    headers = {
        **GUARDED,
        "Cache-Control": f"public, max-age={_KEPT_S}",
        "Content-Security-Policy": found.policy,
        "ETag": found.tag,
        "Vary": "Accept-Encoding",
    }
    if request.headers.get("If-None-Match") == found.tag:
        return Response(b"", status_code=_NOT_MODIFIED, headers=headers)
    is_packed = "gzip" in request.headers.get("Accept-Encoding", "")
    if is_packed and found.packed is not None:
        headers["Content-Encoding"] = "gzip"
        return Response(found.packed, media_type=found.media_type, headers=headers)
    return Response(found.body, media_type=found.media_type, headers=headers)
