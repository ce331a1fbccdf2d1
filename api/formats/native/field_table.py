"""The feature table of the formats: every reported field, its value, its other names."""

from collections.abc import Mapping
from typing import Any, Final, Literal

from api.formats.native.shapes import NativeFeatures
from api.formats.shape_building import FINDINGS, ShapeKey
from core.report.fields.field import Field, fields_of
from core.report.report import Report

ForeignFormat = Literal["compat", "goplus"]
"""Formats with other keys than ours."""

FIELDS: Final[Mapping[str, Field]] = {
    **{
        key: fields_of(NativeFeatures).get(key) or FINDINGS[key]
        for key in NativeFeatures.__struct_fields__
    },
    **{key: field for key, field in FINDINGS.items() if not field.is_native},
}
"""Every reported field, those of the native format first, in its order."""


def value_of(key: str, report: Report, native: NativeFeatures) -> Any:
    """Return the value of a field: the native one, or the report's if it has no native key."""
    return getattr(native, key) if FIELDS[key].is_native else finding_of(key, report, native)


def finding_of(key: str, report: Report, native: NativeFeatures) -> Any:
    """Return the value of a field; a finding is returned as found, before the owner gate."""
    for findings in (report.static, report.scan):
        if key in findings.__struct_fields__:
            return getattr(findings, key)
    return getattr(native, key)


def named_by(form: ForeignFormat) -> dict[str, list[str]]:
    """Return the keys of a format that fields name, each with the keys of those fields."""
    named: dict[str, list[str]] = {}
    for key, field in FIELDS.items():
        for name in getattr(field, form):
            named.setdefault(name, []).append(key)
    return named


def keys_named(form: ForeignFormat, kind: Any, *, unknown: str) -> dict[str, ShapeKey]:
    """Return those keys for the struct of the format; the meaning of one is that of its fields.

    `unknown` is what the format has in place of an answer that is not known.
    """
    return {
        name: ShapeKey(
            kind=kind,
            meaning=" Or: ".join(FIELDS[key].meaning for key in keys)
            + f" '1': so it is; '0': it is not; {unknown}: not known.",
        )
        for name, keys in named_by(form).items()
    }
