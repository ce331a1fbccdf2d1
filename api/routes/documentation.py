"""/docs: the documentation site, where it was built."""

import asyncio
from typing import Any

from litestar import Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.response import Redirect

from api.deps import ApiDeps
from api.pages.page_rendering import GUARDED
from api.pages.site_files import find_file, read_file
from api.pages.static_files import send_file

_AT = "/docs"
_KEPT_S = 600


@get([_AT, f"{_AT}/{{path:path}}"], include_in_schema=False)
async def send_page(request: Request[Any, Any, Any]) -> Response[Any]:
    """One file of the site. 404: there is none, or no site was built."""
    deps: ApiDeps = request.app.state.deps
    folder, path = deps.docs, request.url.path.removeprefix(_AT)
    if folder is None:
        raise NotFoundException
    has_slash = request.scope["raw_path"].endswith(b"/")  # the path has no suffix
    page = await asyncio.to_thread(find_file, folder, f"{path}/")
    if page is not None and not has_slash:
        return Redirect(f"{_AT}{path}/", status_code=308, headers=GUARDED)
    file = page if has_slash else await asyncio.to_thread(find_file, folder, path)
    if file is None:
        raise NotFoundException
    found = await asyncio.to_thread(read_file, file)
    return send_file(
        request,
        found.file,
        kept_s=_KEPT_S,
        headers={**GUARDED, "Content-Security-Policy": found.policy},
    )
