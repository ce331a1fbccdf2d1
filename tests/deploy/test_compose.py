"""Protects the services of Docker Compose, and the image and unit, which are not built here."""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import msgspec
import pytest

from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.debian_programs import find_haproxy
from tests.harness.deploy.deploy_files import DEPLOY
from tests.harness.deploy.process_checks import check_process, check_roles
from tests.harness.fleet.deployed_process import (
    COMPOSE,
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
    names = {f"ASSAY_RPC_{chain.id}" for chain in BUILT_IN_CHAINS}
    assert names <= set(assay["environment"])


def test_a_fleet_has_two_processes_of_each_role(fleet: dict[str, Any]) -> None:
    check_files(fleet, at_least=14)
    processes = composed_processes(fleet)
    check_roles(processes, each=2)
    chains = {f"ASSAY_RPC_{chain.id}" for chain in BUILT_IN_CHAINS}
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


# --- containers ---------------------------------------------------------------------------------

BIN = Path(sys.executable).parent

UNIT = DEPLOY / "systemd" / "assay.service"

PROJECT = tomllib.loads((DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8"))


def run(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=DEPLOY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_hadolint_has_no_complaint() -> None:
    run(BIN / "hadolint", "docker/Dockerfile")


def test_the_image_gets_every_package_of_the_wheel_and_nothing_else() -> None:
    ignore = (DEPLOY.parent / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line[1:] for line in ignore if line.startswith("!")}
    packages = PROJECT["tool"]["setuptools"]["packages"]["find"]["include"]
    wanted = {name.partition(".")[0] for name in packages}
    wanted |= {"requirements", "LICENSE", "README.md", "pyproject.toml"}
    # What setup.py puts into the wheel besides.
    assert allowed == wanted | {"setup.py", "package.json", "package-lock.json", ".npmrc"}


def test_the_lock_of_the_image_has_the_driver_of_a_fleet() -> None:
    fleet = PROJECT["project"]["optional-dependencies"]["fleet"]
    wanted = {re.split(r"[\[=]", one)[0] for one in fleet}
    locked = (DEPLOY.parent / "requirements" / "runtime.txt").read_text(encoding="utf-8")
    assert len(wanted) == 3
    assert wanted | {"psycopg-binary"} <= set(re.findall(r"^([a-z0-9-]+)==", locked, re.MULTILINE))


def test_the_unit_and_its_command_for_keys_have_the_same_files() -> None:
    """Both name the overlay, which a service finds by its environment only."""
    text = UNIT.read_text(encoding="utf-8")
    unit = dict(re.findall(r"^Environment=(\w+)=(\S+)$", text, re.MULTILINE))
    assert unit.keys() == {"ASSAY_STORE", "ASSAY_CONFIG"}
    assert dict(re.findall(r"-E (\w+)=(\S+)", text)) == unit
    for setting in ("DynamicUser=yes", "StateDirectory=assay", "UMask=0077"):
        assert re.search(rf"^{setting}$", text, re.MULTILINE)
        assert f"-p {setting}" in text


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine")
    text = UNIT.read_text(encoding="utf-8")
    tried = tmp_path / "assay.service"
    tried.write_text(
        text.replace("/usr/local/bin/assay", sys.executable).replace("EnvironmentFile=", "#")
    )
    run("systemd-analyze", "verify", tried)
