"""An example for each key of each schema, taken from the document's example bodies."""

from collections.abc import Iterable, Iterator
from typing import Any

from api.openapi.examples import JsonObject

_PREFIX = "#/components/schemas/"


def add_key_examples(document: JsonObject, more: Iterable[tuple[str, JsonObject]]) -> None:
    """Give each key of the schemas the first value that is not null, or else null.

    `more`: bodies that are looked at after those of the document, with the names of their schemas.
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
    """Return what each key of each schema has in a body, with the places of the keys."""
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
    """True if the keys of another schema have the examples."""
    options = schema.get("oneOf") or schema.get("anyOf") or [schema]
    parts = [part for each in options for part in (each, each.get("items", {}))]
    return any("$ref" in part or _is_choice(part) for part in parts)


def _is_choice(schema: JsonObject) -> bool:
    return any("$ref" in each for each in schema.get("oneOf", ()))


def _reference(name: str) -> JsonObject:
    return {"$ref": f"{_PREFIX}{name}"}
