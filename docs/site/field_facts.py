"""Declaration of one field in the feature table, as Markdown."""

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from api.formats.native.shapes import NativeFeatures
from api.formats.prose.check_words import CHECK_WORDS
from core.report.fields.field import Check, Field, Section
from core.report.fields.scan_findings import ScanFindings

SECTION_TITLES: Final[Mapping[Section, str]] = {
    "static": "Static analysis",
    "simulation": "Simulation",
    "pools": "Pools and launchpad",
    "supply": "Supply and burn",
    "other": "Other",
}

_WORDS: Final[Mapping[object, str]] = {
    bool: "bool",
    int: "integer",
    float: "number",
    str: "string",
    NoneType: "null",
    msgspec.UnsetType: "absent",
}


def kind_of(key: str) -> Any:
    """Type of a field in the native format, or in the report if no format has it."""
    hints = get_type_hints(ScanFindings) | get_type_hints(NativeFeatures)
    return hints[key]


def facts_of(key: str, field: Field) -> Iterator[str]:
    """Yield the lines of a list: type, conditions, check, keys of other formats."""
    unit = f", {field.unit}" if field.unit else ""
    kept = "" if field.is_native else "; not a key of the native format"
    yield f"- Type: {_type(kind_of(key))}{unit}{kept}. Source: {field.source}."
    if field.true_when:
        subject = "Lists" if get_origin(kind_of(key)) is tuple else "True when"
        yield f"- {subject}: {field.true_when}. Not: {'; '.join(field.not_when)}."
    if field.null:
        yield f"- Unknown when: {field.null}."
    if field.check:
        yield f"- Check: {_check(key, field.check)}."
    foreign = [f"{form} {_keys(getattr(field, form))}" for form in ("compat", "goplus")]
    named = [text for text in foreign if not text.endswith(" ")]
    if named:
        yield f"- Foreign keys: {', '.join(named).replace('goplus', 'GoPlus')}."
    if field.is_owner_gated:
        yield "- Sent as false once ownership is renounced."


def _check(key: str, check: Check) -> str:
    name = f"`{check.key or key}`"
    finds = " if false" if check.is_negated or not check.finding else ""
    reason = ", also a reason of the verdict" if check.is_reason else ""
    return f'{name}, {check.severity}{finds}{reason}: "{CHECK_WORDS[check.key or key].label}"'


def _keys(names: tuple[str, ...]) -> str:
    return " and ".join(f"`{name}`" for name in names)


def _type(kind: Any) -> str:
    origin = get_origin(kind)
    if origin in (Union, UnionType):
        return " or ".join(_type(part) for part in get_args(kind))
    if origin is Literal:
        return " or ".join(f"`{value}`" for value in get_args(kind))
    if origin is tuple:
        return f"array of {_type(get_args(kind)[0])}"
    plain = getattr(kind, "__supertype__", kind)
    return _WORDS.get(plain) or plain.__name__.lower()
