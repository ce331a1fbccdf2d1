"""Mapping between structs and tables: column types, and encoding of their values.

Derived from the annotations of `sql.rows` and `core.report`, so that struct, table and frame
cannot diverge.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from types import NoneType, UnionType
from typing import Literal, TypeVar, Union, get_args, get_origin, get_type_hints

import msgspec
import polars as pl

from core import report
from core.primitives import RawAmount
from sql import rows

T = TypeVar("T", bound=msgspec.Struct)

Form = Literal["plain", "amount"]
"""Encoding of a column. amount: an exact integer of up to 256 bits, stored as decimal text."""

TABLES: Mapping[str, type[msgspec.Struct]] = {
    "block": rows.BlockRow,
    "checkpoint": rows.CheckpointRow,
    "coverage": rows.CoverageRow,
    "token": rows.TokenRow,
    "request": rows.RequestRow,
    "pool": rows.PoolRow,
    "launch": rows.LaunchRow,
    "creator": rows.CreatorRow,
    "history": rows.HistoryRow,
    "undecoded": rows.UndecodedRow,
    "code_answer": rows.CodeAnswerRow,
    "report": report.ReportRow,
    "report_finding": rows.FindingRow,
    "report_pool": report.PoolResultRow,
    "report_holder": report.HolderRow,
    "report_clock_limit": report.ClockLimitRow,
    "report_evidence": report.EvidenceRow,
    "refusal": rows.RefusalRow,
}
"""Tables whose columns are the fields of a struct. `transfer` is not one: see transfer_tables."""

ADDED: Mapping[str, tuple[tuple[str, str], ...]] = {
    "history": (("token_id", "INTEGER"),),
    "report": (("token_id", "INTEGER"), ("pools_resolved", "BOOLEAN")),
    "report_finding": (("token_id", "INTEGER"),),
    "report_pool": (("token_id", "INTEGER"),),
    "report_holder": (("token_id", "INTEGER"),),
    "report_clock_limit": (("token_id", "INTEGER"), ("position", "INTEGER")),
    "report_evidence": (("token_id", "INTEGER"), ("position", "INTEGER")),
    "refusal": (("token_id", "INTEGER"),),
}
"""Columns that precede those of the struct."""

NARROWED = frozenset({"chain_id", "token_id", "log_index", "ordinal"})
"""Names of integer columns that fit into 32 bits."""

_WIDE_INTEGERS = frozenset({(report.ClockLimitRow, "value")})
"""Integer fields whose value a contract chooses, so they may have 256 bits."""

_DTYPES: Mapping[str, pl.DataType] = {
    "INTEGER": pl.Int32(),
    "BIGINT": pl.Int64(),
    "UBIGINT": pl.UInt64(),
    "DOUBLE": pl.Float64(),
    "BOOLEAN": pl.Boolean(),
    "VARCHAR": pl.String(),
    "BLOB": pl.Binary(),
    "VARCHAR[]": pl.List(pl.String()),
}


class Column(msgspec.Struct, frozen=True, kw_only=True):
    """One field of a struct as a table column."""

    name: str
    sql_type: str
    """As printed by DuckDB's DESCRIBE."""
    form: Form


@cache
def columns_of(row: type[msgspec.Struct]) -> tuple[Column, ...]:
    """Return the columns of a struct in field order. Raises TypeError for a type no column can
    hold."""
    hints = get_type_hints(row)
    return tuple(_column(row, name, hints[name]) for name in row.__struct_fields__)


def encode(structs: Sequence[msgspec.Struct], row: type[msgspec.Struct]) -> pl.DataFrame:
    """Return structs as a frame with the stored types, also when there are none."""
    data = {}
    for column in columns_of(row):
        values = [getattr(struct, column.name) for struct in structs]
        if column.form != "plain":
            values = [None if value is None else str(value) for value in values]
        data[column.name] = pl.Series(column.name, values, _DTYPES[column.sql_type], strict=True)
    return pl.DataFrame(data)


def decode(names: Sequence[str], values: Sequence[tuple[object, ...]], row: type[T]) -> list[T]:
    """Return the rows of a result as structs, matching columns by name.

    Raises msgspec.ValidationError when the result lacks a field or has another type: a bug in the
    statement.
    """
    amounts = {column.name for column in columns_of(row) if column.form == "amount"}
    as_text = amounts.intersection(names)
    structs = []
    for stored in values:
        fields = dict(zip(names, stored, strict=True))
        for name in as_text:
            text = fields[name]
            if text is not None:
                fields[name] = int(str(text), 0)
        structs.append(msgspec.convert(fields, row))
    return structs


def table_schema(table: str) -> dict[str, pl.DataType]:
    """Return names and frame types of a table's columns, in order. Raises KeyError for an unknown
    table."""
    added = ADDED.get(table, ())
    own = ((column.name, column.sql_type) for column in columns_of(TABLES[table]))
    return {name: _DTYPES[sql_type] for name, sql_type in (*added, *own)}


def _column(row: type[msgspec.Struct], name: str, hint: object) -> Column:
    kinds = _alternatives(hint)
    form: Form = "plain"
    if RawAmount in kinds or (row, name) in _WIDE_INTEGERS:
        sql_type, form = "VARCHAR", "amount"
    elif kinds == {int}:
        sql_type = "INTEGER" if name in NARROWED else "BIGINT"
    elif len(kinds) == 1 and (found := _SQL_TYPES.get(next(iter(kinds)))):
        sql_type = found
    else:
        message = f"{row.__name__}.{name}: no column type for {hint}"
        raise TypeError(message)
    return Column(name=name, sql_type=sql_type, form=form)


def _alternatives(hint: object) -> set[object]:
    """Return the types a hint allows, without None; NewTypes and text literals count as text."""
    origin = get_origin(hint)
    if origin in (Union, UnionType):
        return set().union(*(_alternatives(part) for part in get_args(hint)))
    if hint is NoneType:
        return set()
    if origin is Literal:
        return {type(value) for value in get_args(hint)}
    if origin is tuple:
        return {tuple}
    if hint is RawAmount:
        return {hint}
    return {getattr(hint, "__supertype__", hint)}


_SQL_TYPES: Mapping[object, str] = {
    bool: "BOOLEAN",
    float: "DOUBLE",
    str: "VARCHAR",
    bytes: "BLOB",
    tuple: "VARCHAR[]",
}
