"""Protects the end of unanswered statements: a waiting thread would keep the process alive."""

import threading

import psycopg
import pytest

from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.connection_pool import ConnectionPool
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import proxied

HASTY = ConnectionLimits(connect_s=2.0, statement_s=0.6, silence_s=0.3, lock_s=0.3)


@pytest.mark.parametrize("is_closed_meanwhile", [False, True])
def test_a_statement_on_a_silent_wire_ends(
    postgres_server: PostgresServer, *, is_closed_meanwhile: bool
) -> None:
    caught: list[Exception] = []
    has_begun = threading.Event()

    def ask() -> None:
        try:
            with pool.lent() as connection, pool.watch.over(connection):
                wire.silence()
                has_begun.set()
                connection.execute("select 1")
        except psycopg.Error as error:
            caught.append(error)

    with proxied(postgres_server.port) as wire:
        pool = ConnectionPool(postgres_server.url(port=wire.port), name="far", limits=HASTY)
        asking = threading.Thread(target=ask, daemon=True)
        asking.start()
        assert has_begun.wait(10)
        if is_closed_meanwhile:
            pool.close()
        asking.join(10)
        pool.close()
        assert not asking.is_alive()
    assert "no answer within" in str(caught[0])
