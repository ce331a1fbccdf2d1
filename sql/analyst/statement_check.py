"""Check of an analyst's statement: one SELECT that calls only known functions.

DuckDB parses the statement, and its syntax tree is checked instead of its text.
"""

from collections.abc import Iterator, Set
from typing import Final

import duckdb
import msgspec

from core.errors import QueryError
from sql.lake.open_store import load_views

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
"""Allowed table functions: those that make rows of their arguments or list objects. Others read
files, change settings (enable_logging breaks all later statements), or run unchecked text
(query)."""

REFUSED_FUNCTIONS: Final = frozenset({"getenv", "write_log"})
"""Scalar functions that reach beyond the store."""


REFUSED_TABLES: Final = frozenset({"watch"})
"""Tables with secrets of their owners: addresses of webhooks, and keys that sign messages."""


_SHOW: Final = "SHOW_REF"
_TABLES: Final = frozenset({"BASE_TABLE", _SHOW})
"""Nodes that name a table."""


class _Parsed(msgspec.Struct, frozen=True, kw_only=True):
    error: bool
    error_type: str = ""
    error_message: str = ""
    statements: list[object] = []


VIEWS_ONLY_FUNCTIONS: Final = TABLE_FUNCTIONS - {"duckdb_tables", "pragma_table_info", "summary"}
"""Allowed table functions for callers that may read views only: they list names."""

_BUILT_IN: Final = "select distinct lower(view_name) from duckdb_views() where internal"


def check_statement(
    connection: duckdb.DuckDBPyConnection, sql: str, *, only_views: bool = False
) -> duckdb.Statement:
    """Return the one statement of a text, if it may run.

    only_views: it may only read Assay's views and names that it defines. The database of a store in
    PostgreSQL has keys as well, and DuckDB's lists of attached databases have the password. Raises
    QueryError.
    """
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        raise QueryError(reason=f"one statement at a time; there are {len(statements)}")
    if statements[0].type != duckdb.StatementType.SELECT:
        raise QueryError(reason="only SELECT can be run here")
    found = connection.execute("select json_serialize_sql($1::varchar)", [sql]).fetchone()
    parsed = msgspec.json.decode(found[0] if found else "", type=_Parsed)
    if parsed.error:
        raise QueryError(reason=parsed.error_message or parsed.error_type)
    allowed = VIEWS_ONLY_FUNCTIONS if only_views else TABLE_FUNCTIONS
    for node in _nodes(parsed.statements):
        _check_node(node, allowed)
    if only_views:
        _check_names(connection, parsed.statements)
    return statements[0]


def _check_node(node: dict[str, object], allowed: Set[str]) -> None:
    name = str(node.get("function_name", "")).lower()
    if name in REFUSED_FUNCTIONS:
        raise QueryError(reason=f"the function {name} cannot be used here")
    table = str(node.get("table_name", "")).lower()
    if table in REFUSED_TABLES:
        raise QueryError(reason=f"the table {table} cannot be read here")
    if node.get("type") == "TABLE_FUNCTION":
        function = node.get("function")
        called = str(function.get("function_name", "")) if isinstance(function, dict) else ""
        if called.lower() not in allowed:
            raise QueryError(reason=f"the function {called} cannot be used here")


def _check_names(connection: duckdb.DuckDBPyConnection, statements: list[object]) -> None:
    """Reject names of tables other than Assay's views and the statement's definitions.

    A name is resolved in its scope, so a defined one may mean something else outside it: DuckDB's
    names are rejected everywhere, and those with a schema as well.
    """
    built_in = {str(name) for (name,) in connection.execute(_BUILT_IN).fetchall()}
    own = {name for node in _nodes(statements) for name in _defined(node)}
    for node in _nodes(statements):
        if "table_name" not in node or node.get("type") not in _TABLES:
            continue
        name = str(node["table_name"]).lower()
        if not name and node["type"] == _SHOW and isinstance(node.get("query"), dict):
            continue  # a query, whose tables are other nodes
        is_plain = not node.get("schema_name") and not node.get("catalog_name")
        if not is_plain or name in built_in or (name not in load_views() and name not in own):
            raise QueryError(reason=f"only the views can be read here, not {name}")


def _defined(node: dict[str, object]) -> Iterator[str]:
    """Yield the names that a node defines for queries of the statement."""
    named = node.get("cte_map")
    entries = named.get("map") if isinstance(named, dict) else None
    for entry in entries if isinstance(entries, list) else ():
        if isinstance(entry, dict):
            yield str(entry.get("key", "")).lower()


def _nodes(tree: object) -> Iterator[dict[str, object]]:
    """Yield every object of a JSON tree, without recursion: callers choose its depth."""
    left = [tree]
    while left:
        node = left.pop()
        if isinstance(node, dict):
            yield node
            left += node.values()
        elif isinstance(node, list):
            left += node
