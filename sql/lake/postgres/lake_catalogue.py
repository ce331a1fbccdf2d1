"""Schema of a lake's catalogue in PostgreSQL, and the trigger that fences it.

Every commit of DuckLake adds a row to `ducklake_snapshot_changes`. The trigger rejects rows without
the newest token of a lease, so a process that was paused while another took over commits nothing.
"""

from typing import Final

import msgspec
import psycopg
from psycopg.sql import SQL, Identifier

from sql.engine.postgres.connection_limits import ConnectionLimits, PostgresConnection
from sql.engine.postgres.postgres_database import translate_errors
from sql.engine.postgres.postgres_url import shown_url

_LIMITS: Final = ConnectionLimits()
_SUFFIX: Final = "_lake"

_FIND = """
    select current_schema(), to_regclass('store_identity') is not null,
        exists (
            select from pg_tables
            where schemaname = current_schema() || %s and tablename = 'ducklake_snapshot_changes'
        )
"""

_FUNCTION = """
create or replace function {schema}.check_lease() returns trigger language plpgsql as $$
begin
    perform 1 from {leases}.lease
    where name || ':' || token = new.commit_extra_info
    for key share;
    if not found then
        raise exception 'another process has taken over: this commit names the lease %%',
            coalesce(new.commit_extra_info, 'of nobody');
    end if;
    return new;
end
$$
"""
_TRIGGER = """
create or replace trigger check_lease before insert on {schema}.ducklake_snapshot_changes
for each row execute function {schema}.check_lease()
"""


class LakeCatalogue(msgspec.Struct, frozen=True, kw_only=True):
    """Schemas of a store in a database."""

    serving: str
    """Schema of the serving state's tables."""
    lake: str
    """Schema of the lake's catalogue."""
    has_serving: bool
    has_lake: bool
    store_id: str | None
    """None: there is no serving state."""


def find_catalogue(url: str) -> LakeCatalogue:
    """Return the schemas of the store. Raises StoreError."""
    with translate_errors(shown_url(url), doing="find the lake"), _connected(url) as connection:
        serving, has_serving, has_lake = connection.execute(_FIND, (_SUFFIX,)).fetchone() or ()
        found = None
        if has_serving:
            found = connection.execute("select store_id from store_identity").fetchone()
        return LakeCatalogue(
            serving=str(serving),
            lake=f"{serving}{_SUFFIX}",
            has_serving=bool(has_serving),
            has_lake=bool(has_lake),
            store_id=None if found is None else str(found[0]),
        )


def make_schema(url: str, catalogue: LakeCatalogue) -> None:
    """Create the catalogue's schema if it is missing. Raises StoreError."""
    statement = SQL("create schema if not exists {}").format(Identifier(catalogue.lake))
    with translate_errors(shown_url(url), doing="make the lake"), _connected(url) as connection:
        connection.execute(statement)


def fence_catalogue(url: str, catalogue: LakeCatalogue) -> None:
    """Make the catalogue reject commits without a current lease. Raises StoreError."""
    names = {"schema": Identifier(catalogue.lake), "leases": Identifier(catalogue.serving)}
    with translate_errors(shown_url(url), doing="fence the lake"), _connected(url) as connection:
        connection.execute(SQL(_FUNCTION.replace("%%", "%")).format(**names))
        connection.execute(SQL(_TRIGGER).format(**names))


def _connected(url: str) -> PostgresConnection:
    return psycopg.connect(
        url,
        connect_timeout=round(_LIMITS.connect_s),
        application_name="assay lake",
        tcp_user_timeout=round(1e3 * _LIMITS.silence_s),
    )
