"""Protects the services of Docker Compose: one Assay, and a fleet."""

import re
from pathlib import Path
from typing import Any

import msgspec
import pytest

from config.facts.load_chains import load_chains
from tests.harness.debian_programs import find_haproxy
from tests.harness.deploy.process_checks import check_process, check_roles
from tests.harness.fleet.deployed_process import (
    COMPOSE,
    DEPLOY,
    DeploymentError,
    compose,
    composed_processes,
)
from tests.harness.fleet.dockerfile import read_stages
from tests.harness.parts.balancer import check_configuration, servers

pytestmark = pytest.mark.process

DOCKER = DEPLOY / "docker"
EXAMPLE = DOCKER / "fleet" / "fleet.env.example"
FILLED = {
    **dict.fromkeys(("POSTGRES_PASSWORD", "VALKEY_PASSWORD", "GRAFANA_PASSWORD"), "s3cret"),
    "ASSAY_RPC_1": "https://node.example",
}
ROOTLESS = {"postgres": {"CHOWN", "DAC_OVERRIDE", "FOWNER", "SETGID", "SETUID"}}
"""Capabilities that an image needs to give up the others."""


@pytest.fixture(scope="module")
def fleet() -> dict[str, Any]:
    return compose(FILLED)


def check_files(composed: dict[str, Any], *, at_least: int) -> None:
    binds = [
        Path(volume["source"])
        for service in composed["services"].values()
        for volume in service.get("volumes", ())
        if volume["type"] == "bind"
    ]
    assert len(binds) >= at_least
    assert [path for path in binds if not path.exists()] == []


def test_one_assay_with_its_dashboard() -> None:
    composed = compose({}, file=DOCKER / "compose.yml")
    assert set(composed["services"]) == {"assay", "prometheus", "grafana"}
    check_files(composed, at_least=5)
    assay = composed["services"]["assay"]
    assert assay["read_only"] is True
    names = {f"ASSAY_RPC_{chain.id}" for chain in load_chains(None)}
    assert names <= set(assay["environment"])


def test_a_fleet_has_two_processes_of_each_role(fleet: dict[str, Any]) -> None:
    check_files(fleet, at_least=14)
    processes = composed_processes(fleet)
    check_roles(processes, each=2)
    chains = {f"ASSAY_RPC_{chain.id}" for chain in load_chains(None)}
    for process in processes:
        assert chains <= process.environment.keys()
        settings = check_process(process, overlay=DOCKER / "fleet" / "assay")
        (trusted,) = settings.api.trusted_proxies
        (network,) = fleet["networks"]["outside"]["ipam"]["config"]
        assert trusted == network["subnet"]


def test_nobody_outside_reaches_a_database(fleet: dict[str, Any]) -> None:
    assert fleet["networks"]["state"]["internal"] is True
    published = {
        name: {port["host_ip"] for port in service["ports"]}
        for name, service in fleet["services"].items()
        if "ports" in service
    }
    assert published.keys() == {"balancer", "prometheus", "grafana"}
    assert set().union(*published.values()) == {"127.0.0.1"}
    for name in ("postgres", "valkey"):
        assert list(fleet["services"][name]["networks"]) == ["state"]


def test_containers_may_do_no_more_than_they_have_to(fleet: dict[str, Any]) -> None:
    for name, service in fleet["services"].items():
        assert service["cap_drop"] == ["ALL"], name
        assert set(service.get("cap_add", ())) == ROOTLESS.get(name, set()), name
        assert service["security_opt"] == ["no-new-privileges:true"], name
        # Grafana unpacks plugins next to its program.
        assert service.get("read_only", False) is (name != "grafana"), name


def test_a_password_that_is_missing_is_asked_for() -> None:
    for missing in ("POSTGRES_PASSWORD", "VALKEY_PASSWORD"):
        given = {name: value for name, value in FILLED.items() if name != missing}
        with pytest.raises(DeploymentError, match=r"set it in fleet\.env"):
            compose(given)


def test_the_example_has_every_variable_and_no_value() -> None:
    lines = EXAMPLE.read_text(encoding="utf-8").splitlines()
    example_values = dict(
        line.lstrip("#").split("=", 1) for line in lines if re.match(r"#?[A-Z_0-9]+=", line)
    )
    used_variables = set(re.findall(r"\$\{(\w+)", COMPOSE.read_text(encoding="utf-8")))
    used_variables |= set(
        re.findall(r"\{environment: (\w+)\}", COMPOSE.read_text(encoding="utf-8"))
    )
    assert example_values.keys() == used_variables - {"ASSAY_IMAGE", "ASSAY_BACKUP_IMAGE"}
    assert {name: value for name, value in example_values.items() if value} == {
        "ASSAY_LAKE": "s3://bucket/assay"
    }


def test_the_balancer_and_prometheus_know_the_processes(fleet: dict[str, Any]) -> None:
    processes = composed_processes(fleet)
    assert servers() == {
        (process.name, int(process.environment["ASSAY_PORT"]))
        for process in processes
        if process.role == "api"
    }
    scraped = msgspec.yaml.decode((DEPLOY / "prometheus" / "fleet.yml").read_bytes())
    (job,) = scraped["scrape_configs"]
    assert {
        (target, group["labels"]["role"])
        for group in job["static_configs"]
        for target in group["targets"]
    } == {
        (
            f"{process.name}:{process.environment['ASSAY_METRICS_ADDRESS'].split(':')[1]}",
            process.role,
        )
        for process in processes
    }


def test_haproxy_takes_its_configuration() -> None:
    haproxy = find_haproxy()
    if haproxy is None:
        pytest.skip("no HAProxy on this machine (apt-get install haproxy)")
    check_configuration(haproxy)


def test_a_back_up_is_made_by_programs_as_new_as_the_server(fleet: dict[str, Any]) -> None:
    stages = {stage.name: stage for stage in read_stages()}
    assert stages["backup"].base == fleet["services"]["postgres"]["image"]
    assert [*stages][-1] == "service"  # what is built where no target is named
