"""Builds response structs from a class body and the feature table."""

from collections.abc import Callable, Mapping, Sequence
from typing import Annotated, Any, Final, TypeVar, cast, get_type_hints

import msgspec

from core.report.fields.field import SECTIONS, Field, fields_of, list_keys
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings


class Shape(msgspec.Struct, frozen=True):
    """Base of the structs that answers are encoded from."""


S = TypeVar("S", bound=Shape)

FINDINGS: Final = {**fields_of(StaticFindings), **fields_of(ScanFindings)}
"""The fields that a report stores as rows of key and value."""


class ShapeKey(msgspec.Struct, frozen=True, kw_only=True):
    """One key to be added to a response struct."""

    kind: Any
    """Its type."""
    meaning: str
    """Its description in OpenAPI."""


def complete(
    added: Mapping[str, ShapeKey], *, order: Sequence[str], default: object = msgspec.NODEFAULT
) -> Callable[[type[S]], type[S]]:
    """Return a class decorator that adds keys to a response struct.

    Keys stand in the given order, any others behind them. Of a key that the class declares as
    well, the class gives the type. `default` is that of the added keys.
    """

    def decorate(shape: type[S]) -> type[S]:
        own = {field.name: field for field in msgspec.structs.fields(shape)}
        hints = get_type_hints(shape, include_extras=True)
        names = [name for name in order if name in own or name in added]
        names += [name for name in (*own, *added) if name not in order]
        keys: list[tuple[str, Any, Any]] = []
        for name in dict.fromkeys(names):
            kind = hints[name] if name in own else added[name].kind
            if name in added:
                kind = Annotated[kind, msgspec.Meta(description=added[name].meaning)]
            keys.append((name, kind, own[name].default if name in own else default))
        return _build(shape, keys)

    return decorate


def _build(shape: type[S], keys: Sequence[tuple[str, Any, Any]]) -> type[S]:
    built = msgspec.defstruct(
        shape.__name__,
        [
            (name, kind) if value is msgspec.NODEFAULT else (name, kind, value)
            for name, kind, value in keys
        ],
        bases=(Shape,),
        module=shape.__module__,
        namespace={"__doc__": shape.__doc__},
        frozen=True,
        kw_only=True,
    )
    return cast("type[S]", built)


def with_findings(shape: type[S]) -> type[S]:
    """Add the findings to the struct; every key gets its meaning as its description."""
    kinds: dict[str, Any] = {}
    for findings in (StaticFindings, ScanFindings):
        kinds |= get_type_hints(findings, include_extras=True)
    table = {**FINDINGS, **fields_of(shape)}
    keys = {
        key: ShapeKey(kind=kinds.get(key), meaning=_described(key, field))
        for key, field in table.items()
        if field.is_native
    }
    return complete(keys, order=_order(fields_of(shape)))(shape)


def _described(key: str, field: Field) -> str:
    """Return the meaning of a field with its unit, the owner gate, and why it may be null."""
    unit = f" In {field.unit}." if field.unit else ""
    gate = " Sent as false once ownership is renounced." if field.is_owner_gated else ""
    can_be_null = field.null and key not in list_keys(StaticFindings)
    null = f" null: {field.null}." if can_be_null else ""
    return f"{field.meaning}{unit}{gate}{null}"


def _order(computed: Mapping[str, Field]) -> list[str]:
    """Return the keys by section; a computed one at its declared position, or last."""
    order: list[str] = []
    for section in SECTIONS:
        keys = [key for key in fields_of(StaticFindings) if FINDINGS[key].section == section]
        last = None
        for key, field in computed.items():
            if field.section == section:
                before = field.after or last
                keys.insert(len(keys) if before is None else keys.index(before) + 1, key)
                last = key
        keys += [key for key in fields_of(ScanFindings) if FINDINGS[key].section == section]
        order += keys
    return order
