"""The OpenAPI document as it is served: Litestar's, with names, headers and examples.

Litestar writes operations, parameters and schemas; `described_shapes.py` their descriptions.
Everything else is added here, to its JSON.
"""

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

import msgspec
from litestar import Litestar, MediaType, Request, Response
from litestar.openapi.plugins import JsonRenderPlugin

from api.openapi.examples import Examples, JsonObject
from core.process.single_flight import SingleFlight

_EXPIRY: Final[dict[str, tuple[str, str, object]]] = {
    # name -> meaning, type, example
    "X-API-Key-Expires-At": (
        "When the key ends, ISO 8601 UTC. Absent: it has no deadline.",
        "string",
        "2026-12-07T09:30:00Z",
    ),
    "X-API-Key-Expires-In": (
        "Seconds until then; in the key's last seven days alone.",
        "integer",
        86_400,
    ),
    "Warning": (
        "The same as a sentence; in the key's last seven days alone.",
        "string",
        '299 - "API key expires at 2026-12-07T09:30:00Z"',
    ),
}

_STORED: Final[dict[str, tuple[str, str, object]]] = {
    "ETag": (
        "Tag of the body in any coding; send it back as If-None-Match.",
        "string",
        'W/"6f3a0d5b8c1e4f7a9b2d5e80"',
    ),
    "Cache-Control": (
        "Answers are private to the caller, and are revalidated with their ETag.",
        "string",
        "private, no-cache",
    ),
    "Content-Encoding": (
        "Coding of a longer body, the best that Accept-Encoding allows. Absent: none.",
        "string",
        "zstd",
    ),
    "Vary": ("Request headers that the body depends on.", "string", "accept-encoding"),
}

_LIMITS: Final[dict[str, tuple[str, str, object]]] = {
    "Retry-After": (
        "Seconds to wait. Absent where the monthly quota is used up: do not wait for it.",
        "integer",
        7,
    ),
    "X-RateLimit-Burst-Limit": ("Calls that fit into the burst window.", "integer", 5),
    "X-RateLimit-Burst-Window": ("Length of the burst window in seconds.", "integer", 10),
    "X-RateLimit-Limit": ("Calls within 60 seconds.", "integer", 20),
    "X-RateLimit-Remaining": ("Calls left in the window that is full: 0.", "integer", 0),
    "X-Quota-Daily-Limit": ("Calls a day, in UTC.", "integer", 25),
    "X-Quota-Daily-Used": ("Calls of the day so far.", "integer", 25),
    "X-Quota-Monthly-Limit": ("Calls a month, in UTC.", "integer", 10_000),
    "X-Quota-Monthly-Used": ("Calls of the month so far.", "integer", 10_000),
}

IF_NONE_MATCH: Final[dict[str, Any]] = {
    "name": "If-None-Match",
    "in": "header",
    "required": False,
    "description": "The ETag of an answer at hand: 304 without a body if it is still the answer.",
    "schema": {"type": "string", "examples": [_STORED["ETag"][2]]},
}
"""Request header of the routes whose answers have an ETag."""


def header_components() -> dict[str, Any]:
    """Return the `headers` of the document's components."""
    return {
        name: {
            "description": meaning,
            "schema": {"type": kind, "examples": [example]},
        }
        for name, (meaning, kind, example) in {**_EXPIRY, **_STORED, **_LIMITS}.items()
    }


def headers_of(status: str, *, takes_key: bool, is_stored: bool) -> dict[str, Any]:
    """Return the headers of a response.

    `takes_key`: the operation has a caller, whose key may have a deadline; `is_stored`: its answers
    have an ETag. Without a key, only Retry-After is sent.
    """
    names: list[str] = []
    if is_stored and status in ("200", "304"):
        names += _STORED
    if status == "429":
        names += _LIMITS if takes_key else ["Retry-After"]
    if takes_key:
        names += _EXPIRY
    return {name: {"$ref": f"#/components/headers/{name}"} for name in names}


_MODULE: Final = re.compile(r"(?<![A-Za-z])(?:[a-z][a-z_]*\.)+")

_NAMES: Final = {
    "Envelope_NativeFeatures_": "NativeAnswer",
    "Envelope_CompatFeatures_": "CompatAnswer",
    "Envelope_NoneType_": "RefusedToken",
    "Batch_Union_Envelope_NativeFeatures_Envelope_CompatFeatures_Summary_": "Batch",
    "GoPlusAnswer_GoPlusToken_": "GoPlusAnswer",
}
"""Names of the instances of generic structs, by Litestar's names without modules."""

_TAGS: Final = {
    "tokens": "Findings on tokens, verdicts, and the evidence behind them.",
    "agents": "For programs that read prose: a guide, and the Model Context Protocol.",
    "jobs": "Scheduled refreshes, verifications and exports; for operators.",
    "keys": "Trial keys, and the usage of a key.",
    "watches": "Notifications of changes of tokens, by webhook, event stream or MCP.",
    "status": "Liveness of the process, and readiness of its chains.",
}

_ABOUT: Final = """\
Token-safety findings for EVM chains: can this token be bought, sold and kept?

- null, an absent key and a flag with status `unknown` mean that it is not known: never take that \
for safe, for false or for 0. `pending` means that the analysis is running: repeat the request.
- Send the key as `X-API-Key`; `/mcp` and `/goplus` take `Authorization: Bearer` too. \
`POST /agent-keys` issues a trial key.
- Branch on the HTTP status and `error_code`, never on prose. 402 is final; 429 names the limit in \
its headers.
- All formats of a token come from one analysis, at most two minutes old."""

_METHODS: Final = ("get", "post", "put", "patch", "delete")


def describe(document: JsonObject, examples: Examples, *, version: str) -> JsonObject:
    """Return the document with everything described. `document` is Litestar's, as JSON."""
    served = _renamed(document)
    served["info"] = {
        "title": "Assay",
        "version": version,
        "summary": "Token-safety findings for EVM chains.",
        "description": _ABOUT,
        "license": {"name": "Apache License 2.0", "identifier": "Apache-2.0"},
    }
    served["tags"] = [{"name": name, "description": about} for name, about in _TAGS.items()]
    served["components"]["headers"] = header_components()
    answers = examples.answers()
    for operation in operations_of(served):
        _add_headers(operation)
        _add_parameters(operation, examples)
        _add_body_examples(operation, answers, examples)
    add_key_examples(served, examples.more())
    return served


def operations_of(document: JsonObject) -> Iterator[JsonObject]:
    """Return every operation."""
    for item in document["paths"].values():
        yield from (item[method] for method in _METHODS if method in item)


def _renamed(document: JsonObject) -> JsonObject:
    """Return a copy whose schemas have names without modules."""
    names = {name: _name(name) for name in document["components"]["schemas"]}

    def copied(node: Any) -> Any:
        if isinstance(node, list):
            return [copied(each) for each in node]
        if not isinstance(node, dict):
            return node
        if node.get("type") == "string" and "const" in node:
            # The same to the standard; generators of clients read it as a string, not as any value.
            return {"type": "string", "enum": [node["const"]]}
        return {
            key: _renamed_reference(value, names) if key == "$ref" else copied(value)
            for key, value in node.items()
        }

    made: JsonObject = copied(document)
    schemas = made["components"]["schemas"]
    made["components"]["schemas"] = {
        names[name]: {**schema, "title": names[name]} for name, schema in schemas.items()
    }
    return made


def _name(of_framework: str) -> str:
    plain = _MODULE.sub("", of_framework)
    return _NAMES.get(plain, plain)


def _renamed_reference(reference: str, names: Mapping[str, str]) -> str:
    folder, _, name = reference.rpartition("/")
    return f"{folder}/{names[name]}"


def _add_headers(operation: JsonObject) -> None:
    takes_key = bool(operation.get("security"))
    operation.setdefault("security", [])  # explicit, so that readers see that no key is needed
    is_stored = "304" in operation["responses"]
    if is_stored:
        operation["parameters"].append(IF_NONE_MATCH)
    for status, response in operation["responses"].items():
        headers = headers_of(status, takes_key=takes_key, is_stored=is_stored)
        if headers:
            response["headers"] = headers


def _add_parameters(operation: JsonObject, examples: Examples) -> None:
    """Give each parameter an example, its own default where it has one."""
    known = {
        "chain": examples.chain,
        "address": examples.address,
        "contract_addresses": [examples.address],
        "watch_id": 3,
        "after": 0,
    }
    for parameter in operation.get("parameters", ()):
        schema = parameter["schema"]
        if "examples" not in schema:
            name = parameter["name"]
            schema["examples"] = [known[name] if name in known else schema["default"]]
            parameter["example"] = schema["examples"][0]  # what API browsers start with


def _add_body_examples(
    operation: JsonObject, answers: Mapping[str, JsonObject], examples: Examples
) -> None:
    for media in operation.get("requestBody", {}).get("content", {}).values():
        _show(media, {name: answers[name] for name in schemas_in(media["schema"])})
    for status, response in operation["responses"].items():
        for media in response.get("content", {}).values():
            for shown in media.get("examples", {}).values():
                shown.pop("id", None)  # Litestar's own; the standard has none
            for name in schemas_in(media["schema"]):
                is_success = status.startswith("2") or name == "Readiness"
                bodies = {name: answers[name]} if is_success else {}
                _show(media, bodies or examples.refusals(int(status), name))


def schemas_in(schema: JsonObject) -> list[str]:
    """Return the names of a body's alternative schemas."""
    options = schema.get("oneOf") or schema.get("anyOf") or [schema]
    return [each["$ref"].rpartition("/")[2] for each in options if "$ref" in each]


def _show(media: JsonObject, bodies: Mapping[str, JsonObject]) -> None:
    if bodies:
        shown = media.setdefault("examples", {})
        shown |= {name: {"value": body} for name, body in bodies.items()}


_PREFIX = "#/components/schemas/"


def add_key_examples(document: JsonObject, more: Iterable[tuple[str, JsonObject]]) -> None:
    """Give each key of the schemas the first value that is not null, or else null.

    `more`: further bodies, with the names of their schemas.
    """
    found: dict[tuple[str, str], Any] = {}
    schemas: JsonObject = document["components"]["schemas"]
    for schema, body in (*_bodies_in(document), *((_reference(name), body) for name, body in more)):
        for place, value in _values(schema, body, schemas):
            if found.get(place) in (None, [], {}):
                found[place] = value
    for (name, key), value in found.items():
        about = schemas[name]["properties"][key]
        if not _has_reference(about):
            about["examples"] = [value]


def _bodies_in(document: JsonObject) -> Iterator[tuple[JsonObject, Any]]:
    for item in document["paths"].values():
        for operation in item.values():
            holders = (operation.get("requestBody", {}), *operation["responses"].values())
            for holder in holders:
                for media in holder.get("content", {}).values():
                    for name, example in media.get("examples", {}).items():
                        known = name in document["components"]["schemas"]
                        yield _reference(name) if known else media["schema"], example["value"]


def _values(
    schema: JsonObject, value: Any, schemas: JsonObject
) -> Iterator[tuple[tuple[str, str], Any]]:
    """Yield the value of each key of each schema in a body, with the places of the keys."""
    for option in schema.get("oneOf") or schema.get("anyOf") or [schema]:
        if "$ref" in option and isinstance(value, dict):
            name = option["$ref"].removeprefix(_PREFIX)
            keys = schemas[name].get("properties", {})
            if value.keys() <= keys.keys():
                for key, inside in value.items():
                    yield (name, key), inside
                    yield from _values(keys[key], inside, schemas)
        elif isinstance(value, list):
            for inside in value:
                yield from _values(option.get("items", {}), inside, schemas)
        elif isinstance(value, dict) and isinstance(option.get("additionalProperties"), dict):
            for inside in value.values():
                yield from _values(option["additionalProperties"], inside, schemas)


def _has_reference(schema: JsonObject) -> bool:
    """True if the examples are at the keys of another schema."""
    options = schema.get("oneOf") or schema.get("anyOf") or [schema]
    parts = [part for each in options for part in (each, each.get("items", {}))]
    return any("$ref" in part or _is_choice(part) for part in parts)


def _is_choice(schema: JsonObject) -> bool:
    return any("$ref" in each for each in schema.get("oneOf", ()))


def _reference(name: str) -> JsonObject:
    return {"$ref": f"{_PREFIX}{name}"}


PATH: Final = "/schema"
_FILE: Final = "/openapi.json"

ROUTES: Final = JsonRenderPlugin(path=["/", _FILE])
"""Makes Litestar add the routes below `PATH`, which `ServedDocument.answer` answers."""


class ServedDocument:
    """Litestar's document as completed by `describe`. For one application."""

    def __init__(self, examples: Examples, *, version: str):
        self._examples = examples
        self._version = version
        self._encoded: bytes | None = None
        self._building = SingleFlight[None, bytes]()

    async def answer(self, request: Request[Any, Any, Any]) -> Response[bytes] | None:
        """Hook before requests below `PATH`: return the document in place of Litestar's.

        None for other paths and methods. Building takes seconds, so it runs in a thread.
        """
        is_document = request.url.path.rstrip("/") in (PATH, PATH + _FILE)
        if not is_document or request.method not in ("GET", "HEAD"):
            return None
        if self._encoded is None:
            self._encoded = await self._building.run(None, lambda: self._build(request.app))
        return Response(self._encoded, media_type=MediaType.JSON)

    async def _build(self, app: Litestar) -> bytes:
        return await asyncio.to_thread(lambda: msgspec.json.encode(self.document(app)))

    def document(self, app: Litestar) -> JsonObject:
        """Return the document of an application."""
        return describe(app.openapi_schema.to_schema(), self._examples, version=self._version)
