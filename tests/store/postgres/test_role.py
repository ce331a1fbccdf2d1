"""Protects the documented role: it suffices for store, ledger and lake, and is no superuser."""

import re
from contextlib import closing
from pathlib import Path

import psycopg

from sql.accounts.ledger import LEDGER
from sql.engine.postgres.postgres_database import PostgresDatabase
from tests.harness.parts.empty_databases import connect_store
from tests.harness.parts.postgres_server import PostgresServer
from tests.house.sources import ROOT

PAGE = ROOT / "docs" / "operate" / "fleet.md"


def test_the_documented_role_suffices(postgres_server: PostgresServer, tmp_path: Path) -> None:
    (statements,) = re.findall(r"```sql\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    with psycopg.connect(postgres_server.url(), autocommit=True) as admin:
        for statement in statements.replace("assay", "documented").split(";")[:-1]:
            admin.execute(statement)
    url = (
        "postgresql://documented:a%20long%20random%20one@"
        f"127.0.0.1:{postgres_server.port}/documented"
    )
    connect_store(url, path=tmp_path / "files").close()
    PostgresDatabase(url, LEDGER).close()
    with closing(psycopg.connect(url, autocommit=True)) as role, psycopg.connect(url) as other:
        found = role.execute("select rolsuper from pg_roles where rolname = current_user")
        assert found.fetchone() == (False,)
        role.execute("create schema catalogue")  # as DuckLake does with the lake's
        ended = role.execute("select pg_terminate_backend(%s)", [other.info.backend_pid])
        assert ended.fetchone() == (True,)
