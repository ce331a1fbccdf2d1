"""Mapping between structs and rows of tables: column types, and encoding of their values.

Derived from the annotations of the structs, so that struct and table cannot diverge.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec

from core.evm.primitives import Address, Hash32, HexBytes, RawAmount

T = TypeVar("T", bound=msgspec.Struct)

Form = Literal["plain", "hex", "amount", "flag", "list"]
"""Encoding of a column. hex: 0x text, stored as a blob. amount: an exact integer of up to 256 bits,
stored as decimal text. flag: 0 or 1. list: texts, joined by spaces."""

_HEX_TYPES = frozenset({Address, Hash32, HexBytes})

_SQL_TYPES: dict[Form, str] = {"hex": "BLOB", "amount": "TEXT", "flag": "INTEGER", "list": "TEXT"}
_PLAIN_TYPES: dict[object, str] = {int: "INTEGER", float: "REAL", str: "TEXT", bytes: "BLOB"}


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a struct as a table column."""

    name: str
    sql_type: str
    form: Form


@cache
def columns_of(row: type[msgspec.Struct]) -> tuple[Column, ...]:
    """Return the columns of a struct in field order. Raises TypeError for a type no column can
    hold."""
    hints = get_type_hints(row)
    return tuple(_column(row, name, hints[name]) for name in row.__struct_fields__)


def encode(struct: msgspec.Struct) -> tuple[object, ...]:
    """Return the stored values of a struct, in field order."""
    return tuple(
        value if to_stored is None or value is None else to_stored(value)
        for value, to_stored in zip(
            msgspec.structs.astuple(struct), _encoders(type(struct)), strict=True
        )
    )


def encode_all(structs: Sequence[msgspec.Struct]) -> Iterator[tuple[object, ...]]:
    """Yield the stored values of structs of one type, in field order."""
    if not structs:
        return iter(())
    columns = zip(*map(msgspec.structs.astuple, structs), strict=True)
    return zip(
        *(
            column
            if to_stored is None
            else [None if value is None else to_stored(value) for value in column]
            for column, to_stored in zip(columns, _encoders(type(structs[0])), strict=True)
        ),
        strict=True,
    )


def rows_to_insert(
    structs: Sequence[msgspec.Struct], added: Mapping[str, object]
) -> Iterator[tuple[object, ...]]:
    """Yield the stored values of structs of one type, each after the same `added` values."""
    first = tuple(added.values())
    values = encode_all(structs)
    return ((*first, *row) for row in values) if first else values


def decode(names: Sequence[str], values: Sequence[tuple[object, ...]], row: type[T]) -> list[T]:
    """Return the rows of a result as structs, matching columns by name.

    Raises msgspec.ValidationError when the result lacks a field or has another type: a bug in the
    statement.
    """
    of_column = _decoders(row)
    plan = [(at, of_column.get(name)) for at, name in enumerate(names)]
    changed = [(at, from_stored) for at, from_stored in plan if from_stored is not None]
    structs = []
    for stored in values:
        fields = list(stored)
        for at, from_stored in changed:
            value = fields[at]
            if value is not None:
                fields[at] = from_stored(value)
        structs.append(msgspec.convert(dict(zip(names, fields, strict=True)), row))
    return structs


def blob(text: str) -> bytes:
    """Return 0x text as it is stored and looked up."""
    return bytes.fromhex(text[2:])


def bound_blob(text: str) -> bytearray:
    """Return 0x text as a parameter of one of many rows.

    A bytearray: for bytes sqlite3 searches an adapter each time, which takes as long as storing
    them.
    """
    return bytearray.fromhex(text[2:])


@cache
def _encoders(row: type[msgspec.Struct]) -> tuple[Callable[[Any], object] | None, ...]:
    return tuple(_TO_STORED.get(column.form) for column in columns_of(row))


@cache
def _decoders(row: type[msgspec.Struct]) -> dict[str, Callable[[Any], object]]:
    return {
        column.name: _FROM_STORED[column.form]
        for column in columns_of(row)
        if column.form in _FROM_STORED
    }


_TO_STORED: dict[Form, Callable[[Any], object]] = {
    "hex": bound_blob,
    "amount": str,
    "flag": int,
    "list": " ".join,
}
_FROM_STORED: dict[Form, Callable[[Any], object]] = {
    "hex": lambda value: "0x" + value.hex(),
    "amount": int,
    "flag": bool,
    "list": lambda value: tuple(value.split()),
}


def _column(row: type[msgspec.Struct], name: str, hint: object) -> Column:
    kinds = _alternatives(hint)
    kind = next(iter(kinds), None) if len(kinds) == 1 else None
    form = _form_of(kind)
    sql_type = _SQL_TYPES.get(form) or _PLAIN_TYPES.get(kind)
    if sql_type is None:
        message = f"{row.__name__}.{name}: no column type for {hint}"
        raise TypeError(message)
    return Column(name=name, sql_type=sql_type, form=form)


def _form_of(kind: object) -> Form:
    if kind in _HEX_TYPES:
        return "hex"
    if kind is RawAmount:
        return "amount"
    if kind is bool:
        return "flag"
    return "list" if kind is tuple else "plain"


def _alternatives(hint: object) -> set[object]:
    """Return the types a hint allows, without None; text literals count as text."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return set().union(*(_alternatives(part) for part in get_args(hint)))
    if hint is NoneType:
        return set()
    if origin is Literal:
        return {type(value) for value in get_args(hint)}
    if origin is tuple:
        return {tuple}
    if hint in _HEX_TYPES or hint is RawAmount:
        return {hint}
    return {getattr(hint, "__supertype__", hint)}
