"""Serves the OpenAPI document, made in a thread at the first request for it."""

import asyncio
from typing import Any, Final

import msgspec
from litestar import Litestar, MediaType, Request, Response
from litestar.openapi.plugins import JsonRenderPlugin

from api.openapi.document import describe
from api.openapi.examples import Examples, JsonObject
from core.process.single_flight import SingleFlight

PATH: Final = "/schema"
_FILE: Final = "/openapi.json"

ROUTES: Final = JsonRenderPlugin(path=["/", _FILE])
"""Has the framework make the routes below `PATH`; `ServedDocument.answer` answers them."""


class ServedDocument:
    """The framework's document as `describe` completes it. For one application."""

    def __init__(self, examples: Examples, *, version: str):
        self._examples = examples
        self._version = version
        self._encoded: bytes | None = None
        self._building = SingleFlight[None, bytes]()

    async def answer(self, request: Request[Any, Any, Any]) -> Response[bytes] | None:
        """Hook before requests below `PATH`: the document, in place of the framework's own.

        None for other paths and methods. It takes seconds of computing, which the event loop does
        not wait for.
        """
        is_asked_for = request.url.path.rstrip("/") in (PATH, PATH + _FILE)
        if not is_asked_for or request.method not in ("GET", "HEAD"):
            return None
        if self._encoded is None:
            self._encoded = await self._building.run(None, lambda: self._build(request.app))
        return Response(self._encoded, media_type=MediaType.JSON)

    async def _build(self, app: Litestar) -> bytes:
        return await asyncio.to_thread(lambda: msgspec.json.encode(self.document(app)))

    def document(self, app: Litestar) -> JsonObject:
        """Return the document of an application."""
        return describe(app.openapi_schema.to_schema(), self._examples, version=self._version)
