"""The OpenAPI document as it is served: the framework's, with names, headers and examples.

The framework writes operations, parameters and schemas; `described_shapes.py` their meanings. What
it has no place for is added here, to its JSON.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

from api.openapi.examples import Examples, JsonObject
from api.openapi.headers import IF_NONE_MATCH, header_components, headers_of
from api.openapi.key_examples import add_key_examples

_MODULE: Final = re.compile(r"(?<![A-Za-z])(?:[a-z][a-z_]*\.)+")

_NAMES: Final = {
    "Envelope_NativeFeatures_": "NativeAnswer",
    "Envelope_CompatFeatures_": "CompatAnswer",
    "Envelope_NoneType_": "RefusedToken",
    "Batch_Union_Envelope_NativeFeatures_Envelope_CompatFeatures_Summary_": "Batch",
    "GoPlusAnswer_GoPlusToken_": "GoPlusAnswer",
}
"""Names of the instances of generic structs, by those of the framework without their modules."""

_TAGS: Final = {
    "tokens": "What is known of tokens: findings, verdicts, and what they rest on.",
    "agents": "For programs that read prose: a guide, and the Model Context Protocol.",
    "jobs": "Scheduled refreshes, verifications and exports; for operators.",
    "keys": "Trial keys, and what a key has used.",
    "watches": "Who is told of changes of which tokens, by webhook, event stream or MCP.",
    "status": "Whether the process lives, and whether it follows its chains.",
}

_ABOUT: Final = """\
Token-safety findings for EVM chains: can this token be bought, sold and kept?

- null, an absent key and a flag with status `unknown` mean that it is not known: never take that \
for safe, for false or for 0. `pending` means that it is being worked out: ask again.
- Send the key as `X-API-Key`; `/mcp` and `/goplus` take `Authorization: Bearer` too. \
`POST /agent-keys` issues a trial key.
- Branch on the HTTP status and `error_code`, never on prose. 402 is final; 429 names the limit in \
its headers.
- All formats of a token speak of one analysis, at most two minutes old."""

_METHODS: Final = ("get", "post", "put", "patch", "delete")


def describe(document: JsonObject, examples: Examples, *, version: str) -> JsonObject:
    """Return the document with everything described. `document` is the framework's, as JSON."""
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
    """Return a copy whose schemas are called what they are, not after modules."""
    names = {name: _name(name) for name in document["components"]["schemas"]}

    def copied(node: Any) -> Any:
        if isinstance(node, list):
            return [copied(each) for each in node]
        if not isinstance(node, dict):
            return node
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
    operation.setdefault("security", [])  # stated, so that nobody takes it for forgotten
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
                shown.pop("id", None)  # the framework's own; the standard has none
            for name in schemas_in(media["schema"]):
                is_success = status.startswith("2") or name == "Readiness"
                bodies = {name: answers[name]} if is_success else {}
                _show(media, bodies or examples.refusals(int(status), name))


def schemas_in(schema: JsonObject) -> list[str]:
    """Return the names of the schemas that a body is one of."""
    options = schema.get("oneOf") or schema.get("anyOf") or [schema]
    return [each["$ref"].rpartition("/")[2] for each in options if "$ref" in each]


def _show(media: JsonObject, bodies: Mapping[str, JsonObject]) -> None:
    if bodies:
        shown = media.setdefault("examples", {})
        shown |= {name: {"value": body} for name, body in bodies.items()}
