"""Protects callers from a database that keeps its connections open and answers nothing."""

import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from psycopg.conninfo import make_conninfo

from assay.service.fleet import requested_analysis
from assay.service.fleet.requested_analysis import RequestedAnalysis
from assay.service.fleet.row_poller import RunPoller
from assay.service.store_adapter import ReportStore
from config.plans import load_plans
from config.settings import AnalysisSettings
from core.errors import StoreError, UpstreamError
from core.evm.primitives import Address
from sql.accounts.ledger import Ledger
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from tests.harness.parts.empty_databases import EmptyDatabases, address_of, connect_store
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import TcpProxy, proxied

SETTINGS = AnalysisSettings()


@pytest.fixture
def url(empty_databases: EmptyDatabases) -> Iterator[str]:
    with empty_databases.lent() as lent:
        yield lent


@pytest.fixture
def wire(postgres_server: PostgresServer) -> Iterator[TcpProxy]:
    with proxied(postgres_server.port) as proxy:
        yield proxy


async def test_a_request_does_not_wait_for_a_statement_to_be_given_up(
    url: str, wire: TcpProxy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(requested_analysis, "_READ_WITHIN_S", 0.2)
    beyond = make_conninfo(url, host="127.0.0.1", port=wire.port)
    with (
        closing(SingleStatements(url)) as statements,
        closing(connect_store(beyond, path=Path("files"))) as store,
    ):
        runs = AnalysisRuns(statements, holder="test")
        shared_analysis = RequestedAnalysis(
            runs,
            RunPoller(runs),
            ReportStore(store, SETTINGS),
            chains={"ethereum": 1},
            settings=SETTINGS,
            now_s=time.time,
        )
        wire.silence()
        try:
            with pytest.raises(UpstreamError, match="the store does not answer"):
                await shared_analysis.report("ethereum", Address("0x" + "1a" * 20))
        finally:
            wire.silence(is_silent=False)


def test_a_call_is_not_held_for_a_ledger_that_is_silent(url: str, wire: TcpProxy) -> None:
    beyond = url.replace(url.partition("@")[2].partition("/")[0], f"127.0.0.1:{wire.port}")
    with closing(Ledger.of_store(address_of(beyond))) as ledger:
        key_id = ledger.create_key(load_plans()["trial"], "", 0).row.key_id
        wire.silence()
        began_s = time.monotonic()
        with pytest.raises(StoreError):
            ledger.spend(key_id, load_plans()["trial"], 0)
        assert time.monotonic() - began_s < 20
        wire.silence(is_silent=False)
