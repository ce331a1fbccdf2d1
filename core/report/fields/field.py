"""Vocabulary of the feature table.

A field is one attribute of a struct, `key: Annotated[type, Field(...)]`. Key and type are the
attribute's; all other properties stand in its `Field`. Storage, formats, checks, reasons for null
and `docs/reference/fields.md` are derived from these declarations.
"""

from functools import cache
from typing import Final, Literal, get_args, get_origin, get_type_hints

import msgspec

Severity = Literal["danger", "warning", "info", "notice"]

Section = Literal["static", "simulation", "pools", "supply", "other"]
"""A table of the specification; sections follow each other in the native format."""

Pending = Literal["pending"]

SECTIONS: Final[tuple[Section, ...]] = get_args(Section)

NOT_FOLLOWED: Final = "the bytecode was not followed to its end, so neither answer is proved"


class Check(msgspec.Struct, frozen=True, kw_only=True):
    """The check of the summary that a field answers."""

    severity: Severity
    """Status if the check finds something."""
    key: str | None = None
    """None: the field's own key."""
    finding: bool = True
    """The value that is a finding."""
    is_negated: bool = False
    """True if the check is the negation of the field."""
    is_reason: bool = False
    """True if the check is also a reason of the verdict. It then needs a simulated trade, and an
    unknown answer is no less than an unknown danger."""


class Field(msgspec.Struct, frozen=True, kw_only=True):
    """Properties of one reported field, except its key and type."""

    meaning: str
    """Meaning of the value; for a bool, of true. The description in OpenAPI."""
    source: str
    """Source of the meaning."""
    section: Section
    unit: str | None = None
    true_when: str | None = None
    """Rule by which the analysis decides, if the meaning leaves that open."""
    not_when: tuple[str, ...] = ()
    """Similar things that do not count."""
    null: str = NOT_FOLLOWED
    """Why the value may be null. Empty: it is never null."""
    check: Check | None = None
    compat: tuple[str, ...] = ()
    """Keys of the compat format. A key that several fields name is true if any of them is."""
    goplus: tuple[str, ...] = ()
    """Keys of the GoPlus format, as for compat, but before the owner gate."""
    is_owner_gated: bool = False
    """A true value is sent as false once ownership is renounced."""
    is_native: bool = True
    """False: no key of the native format; the field is shown by its check alone."""
    after: str | None = None
    """Key that it follows in the native format. None: the one declared before it in its section."""


@cache
def fields_of(struct: type[msgspec.Struct]) -> dict[str, Field]:
    """Return the declared fields of a struct by key, in order; other attributes are left out."""
    hints = get_type_hints(struct, include_extras=True)
    found = {}
    for key in struct.__struct_fields__:
        for note in getattr(hints[key], "__metadata__", ()):
            if isinstance(note, Field):
                found[key] = note
    return found


@cache
def list_keys(struct: type[msgspec.Struct]) -> tuple[str, ...]:
    """Return the keys of a struct whose value is a list."""
    hints = get_type_hints(struct)
    return tuple(
        key
        for key in struct.__struct_fields__
        if any(get_origin(part) is tuple for part in (hints[key], *get_args(hints[key])))
    )
