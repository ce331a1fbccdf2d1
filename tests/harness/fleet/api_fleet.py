"""Two API processes without a node, on one PostgreSQL and one Valkey, with a clock that is set by
hand."""

import os
import signal
import sys
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from pathlib import Path
from typing import Any, Final

import httpx
import msgspec
import psycopg
from psycopg.sql import SQL, Identifier
from redis import Redis

from config.store_address import PostgresAddress
from sql.accounts.ledger import Ledger
from sql.engine.fleet_database import open_registry
from tests.harness.fleet.shared_clock import SharedClock
from tests.harness.parts.empty_databases import EmptyDatabases, address_of, connect_store
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import ServerProcess
from tests.harness.parts.valkey_server import ValkeyServer, running_valkey

PROCESSES: Final = 2

_START_S: Final = 90.0
"""On a machine that does much else."""

_ROOT: Final = Path(__file__).parents[3]

_SETTINGS: Final = """
[api]
trusted_proxies = ["127.0.0.1"]
docs_folder = ""

[market_data]
dexscreener_url = ""
geckoterminal_url = ""
defillama_url = ""

[sources]
sourcify_url = ""
etherscan_url = ""
"""
"""Settings without outside services; callers name their address as a proxy would."""

_KEPT: Final = frozenset(
    {
        *("api_key", "key_revision", "ledger_version", "usage"),
        *("chain_writer", "fleet_chain", "ledger_writer", "lease", "report_change"),
        *("import_progress", "quote_token", "schema_version", "store_identity", "watch_revision"),
    }
)
"""Tables that processes remember something of."""

_TOLD: Final = ("refusal", "report_body")
"""Tables whose deletions are announced to processes."""

_TELL: Final = """
    insert into report_change (token_id, chain_id, address)
    select -row_number() over (order by address), chain_id, address from analysis_run
    on conflict (token_id) do update set address = excluded.address, change = excluded.change
"""
"""Refusals of addresses that are not tracked are in the memory of processes alone."""


class ApiFleet(msgspec.Struct, frozen=True):
    """Processes of a fleet, and their shared databases."""

    urls: tuple[str, ...]
    address: PostgresAddress
    valkey: ValkeyServer
    clock: SharedClock

    def clear(self) -> None:
        """Delete everything except keys and their usage."""
        with psycopg.connect(self.address.url.value, autocommit=True) as connection:
            found = connection.execute(
                "select tablename::text from pg_tables where schemaname = current_schema()"
            )
            tables = sorted({str(row[0]) for row in found} - _KEPT - set(_TOLD))
            connection.execute(_TELL)
            _delete(connection, _TOLD)
            # Neither references nor triggers: all of them are emptied.
            connection.execute("set session_replication_role = replica")
            _delete(connection, tables)
        with closing(Redis.from_url(self.valkey.url)) as valkey:
            valkey.flushdb()

    def forget_reports(self) -> None:
        """Delete the reports and announce it to the processes."""
        with psycopg.connect(self.address.url.value, autocommit=True) as connection:
            connection.execute(_TELL)
            _delete(connection, (*_TOLD, "analysis_run"))


def _delete(connection: psycopg.Connection[tuple[Any, ...]], tables: Iterable[str]) -> None:
    for table in tables:
        connection.execute(SQL("delete from {}").format(Identifier(table)))


@contextmanager
def running_api_fleet(databases: EmptyDatabases, folder: Path, now_s: float) -> Iterator[ApiFleet]:
    """Run the processes until the end of the block.

    They have a separate database, whose fleet has a node of chain 1. Raises PartFailedError.
    """
    (folder / "settings.toml").write_text(_SETTINGS)
    url = databases.create_bare()
    address = address_of(url, path=folder / "files")
    connect_store(url, path=folder / "files").close()
    Ledger.of_store(address).close()
    with open_registry(address) as registry:
        registry.renew("analyse", {1: None})
    clock = SharedClock(folder / "clock", now_s)
    with ExitStack() as stack:
        valkey = stack.enter_context(running_valkey())
        env = {
            **{name: value for name, value in os.environ.items() if not name.startswith("ASSAY_")},
            "ASSAY_BILLING_SECRET": "a secret of the tests",
            "ASSAY_CONFIG": str(folder),
            "ASSAY_STORE": url,
            "ASSAY_LAKE": str(folder / "lake"),
            "ASSAY_REDIS": valkey.url,
        }
        urls = []
        for number in range(PROCESSES):
            port = free_port()
            words = ["tests.harness.fleet.shared_clock", str(folder / "clock"), "assay", "serve"]
            process = ServerProcess(
                [sys.executable, "-m", *words, "--role", "api", "--port", str(port)],
                log=folder / f"api-{number}.log",
                cwd=_ROOT,
                env=env,
            )
            stack.callback(process.end, signal.SIGTERM)
            urls.append(f"http://127.0.0.1:{port}")
            process.start(lambda: is_ready(urls[-1]), within_s=_START_S)
        yield ApiFleet(tuple(urls), address, valkey, clock)


def is_ready(url: str) -> bool:
    """True if a process reports that it is ready."""
    with suppress(httpx.TransportError):
        return httpx.get(f"{url}/ready").status_code == httpx.codes.OK
    return False
