"""Protects a fleet as it is deployed: processes of each role, and a database that stays silent."""

import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample
from psycopg.conninfo import make_conninfo

from assay.demo.anvil import AnvilNode
from assay.service.fleet import requested_analysis
from assay.service.fleet.requested_analysis import RequestedAnalysis
from assay.service.fleet.row_poller import RunPoller
from assay.service.roles import EVERY_ROLE, choose_roles
from assay.service.store_adapter import ReportStore
from config.plans import load_plans
from config.settings import AnalysisSettings
from config.store_address import FileAddress, PostgresAddress
from core.errors import ConfigError, StoreError, UpstreamError
from core.evm.primitives import Address
from core.process.secret import Secret
from sql.accounts.ledger import Ledger
from sql.engine.postgres.single_statements import SingleStatements
from sql.fleet.analysis_runs import AnalysisRuns
from tests.harness.chain.assay_process import run, running, until
from tests.harness.parts.empty_databases import EmptyDatabases, address_of, connect_store
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.tcp_proxy import TcpProxy, proxied

NO_TOKEN = f"/token/ethereum/0x{7:040x}"

"""Analysed on the node, which has no code there."""


class Fleet(msgspec.Struct):
    """Settings of processes on one node and database."""

    env: dict[str, str]
    headers: dict[str, str]


class Member(msgspec.Struct):
    """One process of a fleet."""

    process: "subprocess.Popen[str]"
    client: httpx.Client

    def readiness(self) -> int | None:
        assert self.process.poll() is None, self.process.stdout and self.process.stdout.read()
        try:
            return self.client.get("/ready").status_code
        except httpx.TransportError:
            return None

    def until_ready(self) -> None:
        until(lambda: self.readiness() == 200 or None)

    def leases(self) -> set[str]:
        return {sample.labels["lease"] for sample in self._samples("assay_lease_token")}

    def awaited(self) -> set[str]:
        samples = self._samples("assay_lease_held")
        return {sample.labels["lease"] for sample in samples if sample.value == 0}

    def _samples(self, name: str) -> list[Sample]:
        families = text_string_to_metric_families(self.client.get("/metrics").text)
        (found,) = (family for family in families if family.name == name)
        return found.samples


@pytest.fixture
def fleet(empty_databases: EmptyDatabases, tmp_path: Path) -> Iterator[Fleet]:
    with ExitStack() as stack:
        url = stack.enter_context(empty_databases.lent())
        node = stack.enter_context(AnvilNode())
        env = {
            "ASSAY_RPC_1": node.url,
            "ASSAY_STORE": url,
            "ASSAY_LAKE": str(tmp_path / "lake"),
            "ASSAY_DRAIN_S": "3",
            "TMPDIR": str(tmp_path),
        }
        made = run("keys", "create", "--plan", "admin", "--label", "test", env=env)
        assert made.returncode == 0, made.stderr
        yield Fleet(env=env, headers={"X-API-Key": made.stdout.strip()})


def started(stack: ExitStack, fleet: Fleet, *roles: str) -> Member:
    port = free_port()
    words = [word for role in roles for word in ("--role", role)]
    process = stack.enter_context(running("serve", "--port", str(port), *words, env=fleet.env))
    url = f"http://127.0.0.1:{port}"
    client = stack.enter_context(httpx.Client(base_url=url, headers=fleet.headers, timeout=30))
    return Member(process=process, client=client)


@pytest.mark.process
@pytest.mark.drill  # tests/fleet/test_deployments.py starts each role in CI
def test_each_role_is_ready_and_does_its_part(fleet: Fleet) -> None:
    with ExitStack() as stack:
        follower, worker, server = (
            started(stack, fleet, role) for role in ("follow", "analyse", "api")
        )
        for member in (follower, worker, server):
            member.until_ready()
        until(lambda: follower.leases() == {"follow:1", "lake"} or None)
        until(lambda: worker.leases() >= {"delivery", "jobs", "reports"} or None)
        assert server.leases() == set()
        assert follower.client.get("/usage").status_code == 404

        answer = server.client.get(NO_TOKEN)
        assert answer.json()["error_code"] == "not_a_contract", answer.text

        other = started(stack, fleet, "follow")
        other.until_ready()
        assert (other.leases(), other.awaited()) == (set(), {"follow:1", "lake"})
        follower.process.send_signal(signal.SIGTERM)
        until(lambda: other.leases() == {"follow:1", "lake"} or None)
        assert other.awaited() == set()
        until(lambda: server.readiness() == 200 or None)

        server.process.send_signal(signal.SIGTERM)
        until(lambda: server.readiness() == 503 or None)
        # Balancers that have not noticed yet send on.
        assert server.client.get(NO_TOKEN).json()["error_code"] == "not_a_contract"
        assert server.process.wait(30) == 0
        assert follower.process.wait(30) == 0


# --- silent store -------------------------------------------------------------------------------

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


# --- roles --------------------------------------------------------------------------------------

FILES = FileAddress(Path("assay.duckdb"))

SHARED = PostgresAddress(
    url=Secret("postgresql://u:p@h/db"), lake="lake", prefix=Path("assay.duckdb")
)


@pytest.mark.parametrize("named", [(), ("all",), ("all", "api"), ("follow", "analyse", "api")])
@pytest.mark.parametrize("address", [FILES, SHARED], ids=["files", "postgresql"])
def test_all_roles_run_on_either_store(
    named: tuple[str, ...], address: FileAddress | PostgresAddress
) -> None:
    assert choose_roles(named, address) == EVERY_ROLE


@pytest.mark.parametrize("named", [("api",), ("follow", "api"), ("analyse", "analyse")])
def test_some_roles_need_a_store_that_can_be_shared(named: tuple[str, ...]) -> None:
    assert choose_roles(named, SHARED) == set(named)
    with pytest.raises(ConfigError, match="PostgreSQL"):
        choose_roles(named, FILES)
