"""Statements that list the views and their columns with descriptions."""

from difflib import get_close_matches
from typing import Final

from core.errors import QueryError
from sql.lake.extensions import sql_text
from sql.lake.open_store import load_views

LIST_VIEWS: Final = """
select view_name as view, comment as about
from duckdb_views()
where not internal and starts_with(view_name, 'v_')
order by view_name
"""


def describe_view(view: str) -> str:
    """Return the statement that lists the columns of a view. Raises QueryError for an unknown
    view."""
    if view not in load_views():
        similar = get_close_matches(view, load_views(), n=1)
        hint = f"; did you mean {similar[0]}?" if similar else ""
        raise QueryError(reason=f"there is no view {view}{hint}")
    return f"""
select column_name as column, data_type as type, comment as about
from duckdb_columns()
where table_name = {sql_text(view)}
order by column_index
"""  # noqa: S608 - the name is that of a view
