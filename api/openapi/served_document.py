"""Serves the OpenAPI document, made at the first request for it."""

from typing import Any

import msgspec
from litestar import Litestar, Request
from litestar.openapi.plugins import JsonRenderPlugin

from api.openapi.document import describe
from api.openapi.examples import Examples, JsonObject


class ServedDocument(JsonRenderPlugin):
    """Renders the framework's document as `describe` completes it. For one application."""

    def __init__(self, examples: Examples, *, version: str, path: list[str]):
        super().__init__(path=path)
        self._examples = examples
        self._version = version
        self._encoded: bytes | None = None

    def document(self, router: Litestar) -> JsonObject:
        """Return the document of an application."""
        generated = router.openapi_schema.to_schema()
        return describe(generated, self._examples, version=self._version)

    def render(self, request: Request[Any, Any, Any], openapi_schema: dict[str, Any]) -> bytes:
        """Return the document as JSON."""
        if self._encoded is None:
            self._encoded = msgspec.json.encode(self.document(request.app))
        return self._encoded
