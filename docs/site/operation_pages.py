"""Pages of the API operations, from the OpenAPI document."""

import asyncio
import json
import re
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from http import HTTPStatus
from pathlib import Path
from typing import Any

from docs.site.page import Page
from sql.accounts.ledger import Ledger
from tests.harness.api.world import World

_MOST_SHOWN = 80
"""Characters of an example in a table."""

_METHODS = ("get", "post", "put", "delete")


def read_document() -> Mapping[str, Any]:
    """Read the OpenAPI document from the service."""

    async def fetch(world: World) -> Mapping[str, Any]:
        async with world.client() as client:
            document: Mapping[str, Any] = (await client.get("/schema")).raise_for_status().json()
            return document

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(Ledger.open(Path(folder) / "ledger.sqlite")) as ledger,
    ):
        return asyncio.run(fetch(World(ledger)))


def operation_pages(document: Mapping[str, Any]) -> Iterator[Page]:
    """Yield a page for every operation, then one with all schema objects."""
    schemes = document["components"]["securitySchemes"]
    for path, item in document["paths"].items():
        for method in _METHODS:
            if method in item:
                operation = item[method]
                group = operation["tags"][0].capitalize() if operation.get("tags") else "Other"
                yield Page(
                    path=f"api/{_file_name(method, path)}.md",
                    title=operation["summary"],
                    text="\n".join(_operation_lines(method, path, operation, schemes)),
                    group=group,
                )
    yield Page(
        path="api/objects.md",
        title="Objects",
        text="\n".join(_object_lines(document["components"]["schemas"])),
        group="Objects",
    )


def _file_name(method: str, path: str) -> str:
    words = [part.strip("{}").replace(".", "-") for part in path.split("/") if part]
    return "-".join((method, *words))


def _operation_lines(
    method: str, path: str, operation: Mapping[str, Any], schemes: Mapping[str, Any]
) -> Iterator[str]:
    yield from (f"# {operation['summary']}", "", f"`{method.upper()} {path}`", "")
    if description := operation.get("description"):
        yield from (description, "")
    headers = [_header(schemes[name]) for one in operation.get("security", []) for name in one]
    yield from (f"Key: {' or '.join(dict.fromkeys(headers)) if headers else 'none'}.", "")
    yield from ("```sh", _command(method, path, headers, operation), "```", "")
    if parameters := operation.get("parameters"):
        yield from ("## Parameters", "", "| Name | In | Type | Default | Meaning |")
        yield "|---|---|---|---|---|"
        for each in parameters:
            yield _row(
                f"`{each['name']}`",
                each["in"],
                _type(each["schema"]),
                "required" if each.get("required") else _default(each["schema"]),
                each.get("description", ""),
            )
        yield ""
    if body := operation.get("requestBody"):
        yield from ("## Body", "", _contents(body), "")
    yield from ("## Answers", "", "| Status | Meaning | Body |", "|---|---|---|")
    for status, answer in sorted(operation["responses"].items()):
        phrase = HTTPStatus(int(status)).phrase
        yield _row(f"{status} {phrase}", answer.get("description", ""), _contents(answer))
    for status, answer in sorted(operation["responses"].items()):
        yield from _shown(status, answer)


def _shown(status: str, answer: Mapping[str, Any]) -> Iterator[str]:
    """Yield the example bodies of a response."""
    for content in answer.get("content", {}).values():
        for name, example in content.get("examples", {}).items():
            body = json.dumps(example["value"], indent=2, ensure_ascii=False)
            yield from ("", f"### {status}: {name}", "", "```json", body, "```")


def _header(scheme: Mapping[str, Any]) -> str:
    """Header that carries the key."""
    return f"`{scheme['name']}: $KEY`" if "name" in scheme else "`Authorization: Bearer $KEY`"


def _command(method: str, path: str, headers: Sequence[str], operation: Mapping[str, Any]) -> str:
    """Write a shell command, with a variable for each part of the path."""
    words = ["curl"]
    if headers:
        words.append(f'-H "{headers[0].strip("`")}"')
    if "requestBody" in operation:
        words.append("--json @body.json")
    elif method != "get":
        words.append(f"-X {method.upper()}")
    place = re.sub(r"\{(\w+)\}", lambda found: f"${found[1].upper()}", path)
    return " ".join((*words, f'"$ASSAY{place}"'))


def _object_lines(schemas: Mapping[str, Any]) -> Iterator[str]:
    yield from ("# Objects", "", "Parts of request and response bodies.", "")
    for name, schema in schemas.items():
        yield from (f"## {name} {{ #{name.lower()} }}", "")
        if description := schema.get("description"):
            yield from (description, "")
        required = set(schema.get("required", ()))
        if properties := schema.get("properties"):
            yield from ("| Key | Type | Meaning | Example |", "|---|---|---|---|")
            for key, value in properties.items():
                absent = "" if key in required else ", may be absent"
                yield _row(
                    f"`{key}`",
                    _type(value, "") + absent,
                    value.get("description", ""),
                    _example(value),
                )
            yield ""
        else:
            yield from (_type(schema, ""), "")


def _contents(holder: Mapping[str, Any]) -> str:
    """Describe the body of a request or response, by media type."""
    return "; ".join(
        f"`{media}`: {_type(content.get('schema', {}))}"
        for media, content in holder.get("content", {}).items()
    )


def _type(schema: Mapping[str, Any], page: str = "objects.md") -> str:
    """Describe a schema in words, with links to objects."""
    if reference := schema.get("$ref"):
        name = reference.rpartition("/")[2]
        return f"[{name}]({page}#{name.lower()})"
    for kind in ("oneOf", "anyOf"):
        if kind in schema:
            return " or ".join(_type(part, page) for part in schema[kind])
    if "enum" in schema or "const" in schema:
        values = schema.get("enum", [schema.get("const")])
        return " or ".join("null" if value is None else f"`{value}`" for value in values)
    if schema.get("type") == "array":
        return f"array of {_type(schema.get('items', {}), page)}"
    kinds = schema.get("type", "anything")
    return " or ".join(kinds) if isinstance(kinds, list) else str(kinds)


def _example(schema: Mapping[str, Any]) -> str:
    """Format the first example, shortened if long."""
    examples = schema.get("examples")
    if not examples:
        return ""
    text = json.dumps(examples[0], ensure_ascii=False)
    return f"`{text if len(text) <= _MOST_SHOWN else text[:_MOST_SHOWN] + '...'}`"


def _default(schema: Mapping[str, Any]) -> str:
    value = schema.get("default")
    return "" if value is None else f"`{str(value).lower() if isinstance(value, bool) else value}`"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"
