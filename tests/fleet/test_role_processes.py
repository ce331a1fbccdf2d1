"""Protects a fleet as it is deployed: processes of each role on one database and a real node."""

import signal
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import msgspec
import pytest
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample

from assay.demo.anvil import AnvilNode
from tests.harness.chain.assay_process import free_port, run, running, until
from tests.harness.parts.empty_databases import EmptyDatabases

pytestmark = pytest.mark.process

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
