"""Record of analysing and writing processes by token, kept by triggers of the database.

A token is analysed by one process at a time, and only that one writes. A creator found later is
added by another process to a report that stays, and is left out.
"""

from collections.abc import Sequence
from typing import Final

import psycopg

from tests.harness.fleet.fleet_member import FleetMember

_SHOWN: Final = 3

_MAKE: Final = """
create schema drill;
create table drill.take_over (
    address bytea not null, before text, after text, was_until timestamptz, taken_at timestamptz
);
create table drill.report_write (
    address bytea not null, holder text, port integer, written_at timestamptz
);
create function drill.note_run() returns trigger language plpgsql as $$
begin
    insert into drill.take_over
    values (new.address, old.holder, new.holder, old.expires_at, clock_timestamp());
    return null;
end
$$;
create function drill.note_report() returns trigger language plpgsql as $$
begin
    insert into drill.report_write
    select token.address, run.holder, inet_client_port(), clock_timestamp()
    from public.token left join public.analysis_run run using (chain_id, address)
    where token.token_id = new.token_id;
    return null;
end
$$;
create trigger drill_run after update on public.analysis_run for each row
when (old.holder is not null and new.holder is not null and new.run is distinct from old.run)
execute function drill.note_run();
create trigger drill_report after insert on public.report for each row
execute function drill.note_report();
"""

_EARLY: Final = """
select encode(address, 'hex'), before, after, taken_at - was_until from drill.take_over
where was_until > taken_at
"""
_WRITES: Final = "select encode(address, 'hex'), holder, port from drill.report_write"
_FORGET: Final = "delete from drill.report_write; delete from drill.take_over"


def keep_audit(url: str) -> None:
    """Begin to record, in a database that has its tables."""
    with psycopg.connect(url) as connection:
        connection.execute(_MAKE)


def audit_differences(url: str, members: Sequence[FleetMember]) -> tuple[list[str], int]:
    """Return the errors since the last call, as text, and the number of reports written."""
    with psycopg.connect(url) as connection:
        early = connection.execute(_EARLY).fetchall()
        writes = connection.execute(_WRITES).fetchall()
        connection.execute(_FORGET)
    found = [
        f"{address} was taken from {before} by {after} too early"
        for address, before, after, _ in early
    ]
    for address, holder, port in writes:
        if holder is None or not _is_of(str(holder), int(port), members):
            found.append(f"a report on {address} was written from port {port}, judged by {holder}")
    return found[:_SHOWN], len(writes)


def _is_of(holder: str, port: int, members: Sequence[FleetMember]) -> bool:
    """True if a connection is of the analysing process: they call themselves host, id, name."""
    pid = int(holder.split()[1])
    return any(pid in one.pids and one.links["postgres"].has_opened(port) for one in members)
