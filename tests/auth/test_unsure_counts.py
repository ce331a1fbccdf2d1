"""Protects counts of calls whose commit was never answered: they are in the ledger exactly once."""

from collections.abc import Iterator
from contextlib import closing, contextmanager

import pytest
from psycopg.conninfo import make_conninfo

from api.auth.usage_counters import UsageCounters
from config.plans import load_plans
from sql.accounts.ledger import LEDGER, Ledger
from sql.engine.database import Transaction
from sql.engine.postgres.connection_limits import ConnectionLimits
from sql.engine.postgres.postgres_database import PostgresDatabase
from tests.harness.api.sample_reports import MINED_AT_S
from tests.harness.clock import HandClock
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import TcpProxy, proxied

HASTY = ConnectionLimits(statement_s=0.3, silence_s=0.3, lock_s=0.3, connect_s=2.0, connections=4)


@pytest.mark.parametrize("is_committed", [True, False])
async def test_calls_of_which_nobody_knows_are_counted_once(
    empty_databases: EmptyDatabases,
    postgres_server: PostgresServer,
    monkeypatch: pytest.MonkeyPatch,
    *,
    is_committed: bool,
) -> None:
    clock = HandClock(MINED_AT_S)
    with (
        empty_databases.lent() as url,
        proxied(postgres_server.port) as wire,
        closing(Ledger(PostgresDatabase(url, LEDGER))) as near,
    ):
        beyond = make_conninfo(url, host="127.0.0.1", port=wire.port)
        database = PostgresDatabase(beyond, LEDGER, limits=HASTY)
        with closing(Ledger(database)) as far:
            key_id = near.create_key(load_plans()["admin"], "", clock.now_s).row.key_id
            usage_counters = UsageCounters(far, now_s=clock)
            tally = await usage_counters.tally(key_id)
            for _ in range(3):
                usage_counters.count(tally)
            with monkeypatch.context() as patch:
                patch.setattr(database, "transaction", failing(database, wire, is_committed))
                await usage_counters.visit()
            for _ in range(2):
                usage_counters.count(tally)
            await usage_counters.visit()  # still cut off
            assert near.usage(key_id, clock.now_s).lifetime == (3 if is_committed else 0)
            wire.hold_answers(is_holding=False)
            wire.refuse(is_refusing=False)
            wire.cut()
            await usage_counters.visit()
            assert near.usage(key_id, clock.now_s).lifetime == 5
            assert (tally.lifetime, usage_counters.is_late()) == (5, False)
            await usage_counters.aclose()
            assert near.usage(key_id, clock.now_s).lifetime == 5


def failing(database: PostgresDatabase, wire: TcpProxy, is_committed: bool) -> object:
    """Transactions whose commit arrives without an answer, or does not arrive."""
    begin = database.transaction

    @contextmanager
    def transaction(*, chain_id: int | None = None) -> Iterator[Transaction]:
        with begin(chain_id=chain_id) as write:
            yield write
            if is_committed:
                wire.hold_answers()
            else:
                wire.refuse()
                wire.cut()

    return transaction
