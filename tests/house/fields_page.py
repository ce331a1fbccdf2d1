"""Prints the feature table as `docs/fields.md`: python -m tests.house.fields_page."""

from collections.abc import Iterator, Mapping
from types import NoneType, UnionType
from typing import Any, Final, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from api.formats.field_table import FIELDS
from api.formats.flags import COMBINED
from api.formats.shapes import NativeFeatures
from core.fields.field import SECTIONS, Check, Field, Section
from core.fields.scan_findings import ScanFindings
from tests.house.sources import ROOT

PAGE: Final = ROOT / "docs" / "fields.md"

_HEAD: Final = """\
# Fields

Printed from the declarations in `core/fields` and `api/formats/shapes.py`; do not edit. To print:
`python -m tests.house.fields_page`. A check's severity is its status in the summary when it finds
something. Foreign keys are those of the other formats.
"""

_TITLES: Final[Mapping[Section, str]] = {
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


def page() -> str:
    """The whole page."""
    lines = [_HEAD]
    for section in SECTIONS:
        lines.append(f"## {_TITLES[section]}\n")
        for key, field in FIELDS.items():
            if field.section == section:
                lines += [f"### `{key}`\n", field.meaning, "", *_facts(key, field), ""]
    lines += [
        "## Checks of what is not one field\n",
        "| Check | Severity | Label |",
        "|---|---|---|",
    ]
    lines += [f"| `{check.key}` | {check.severity} | {check.label} |" for check in COMBINED]
    return "\n".join(lines) + "\n"


def kind_of(key: str) -> Any:
    """The type of a field as it is sent, or as it is kept where no format sends it."""
    hints = get_type_hints(ScanFindings) | get_type_hints(NativeFeatures)
    return hints[key]


def _facts(key: str, field: Field) -> Iterator[str]:
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
    return f'{name}, {check.severity}{finds}{reason}: "{check.label}"'


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


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
