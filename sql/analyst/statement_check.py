"""Decides which statements an analyst may run: one SELECT that calls no function but known ones.

The statement is parsed by DuckDB and judged by its tree, not by its text.
"""

from collections.abc import Iterator
from typing import Final

import duckdb
import msgspec

from core.errors import QueryError

TABLE_FUNCTIONS: Final = frozenset(
    {
        "duckdb_columns",
        "duckdb_functions",
        "duckdb_tables",
        "duckdb_types",
        "duckdb_views",
        "generate_series",
        "json_each",
        "json_tree",
        "pragma_table_info",
        "range",
        "repeat",
        "repeat_row",
        "summary",
        "unnest",
    }
)
"""Functions that make rows out of their arguments or list what there is. Others read files, change
settings (enable_logging breaks all that follows), or run a text that nobody has judged (query)."""

REFUSED_FUNCTIONS: Final = frozenset({"getenv", "write_log"})
"""Functions on values that reach beyond the store."""


REFUSED_TABLES: Final = frozenset({"watch"})
"""Tables with what their owners alone may know: addresses of webhooks, and what signs messages."""


class _Parsed(msgspec.Struct, frozen=True, kw_only=True):
    error: bool
    error_type: str = ""
    error_message: str = ""
    statements: list[object] = []


def check_statement(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    """Return the one statement of a text, if it may run. Raises QueryError."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(reason=f"one statement at a time; there are {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError(reason="only SELECT can be run here")
    found = connection.execute("select json_serialize_sql($1::varchar)", [sql]).fetchone()
    parsed = msgspec.json.decode(found[0] if found else "", type=_Parsed)
    if parsed.error:
        raise QueryError(reason=parsed.error_message or parsed.error_type)
    for node in _nodes(parsed.statements):
        _check_node(node)
    return statements[0]


def _check_node(node: dict[str, object]) -> None:
    name = str(node.get("function_name", "")).lower()
    if name in REFUSED_FUNCTIONS:
        raise QueryError(reason=f"the function {name} cannot be used here")
    table = str(node.get("table_name", "")).lower()
    if table in REFUSED_TABLES:
        raise QueryError(reason=f"the table {table} cannot be read here")
    if node.get("type") == "TABLE_FUNCTION":
        function = node.get("function")
        called = str(function.get("function_name", "")) if isinstance(function, dict) else ""
        if called.lower() not in TABLE_FUNCTIONS:
            raise QueryError(reason=f"the function {called} cannot be used here")


def _nodes(tree: object) -> Iterator[dict[str, object]]:
    """Yield every object of a JSON tree; without recursion, as a caller chose its depth."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left += node.values()
        elif isinstance(node, list):
            left += node
