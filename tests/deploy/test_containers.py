"""Protects what packages the service: images, services and units that are not built here."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest

from config.load import load_chains
from tests.deploy.deployed import DEPLOY

BIN = Path(sys.executable).parent
DOCKER = DEPLOY / "docker"
UNIT = DEPLOY / "systemd" / "assay.service"


def run(*command: str | Path) -> str:
    done = subprocess.run(command, cwd=DEPLOY, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_hadolint_has_no_complaint() -> None:
    run(BIN / "hadolint", "docker/Dockerfile")


def test_compose_takes_the_services_and_every_file_is_there() -> None:
    composed = msgspec.json.decode(
        run(BIN / "docker-compose", "-f", "docker/compose.yml", "config", "--format", "json")
    )
    assert set(composed["services"]) == {"assay", "prometheus", "grafana"}
    binds = [
        Path(volume["source"])
        for service in composed["services"].values()
        for volume in service["volumes"]
        if volume["type"] == "bind"
    ]
    assert len(binds) >= 5
    assert [path for path in binds if not path.exists()] == []
    assay = composed["services"]["assay"]
    assert assay["read_only"] is True
    names = {f"ASSAY_RPC_{chain.id}" for chain in load_chains(None)}
    assert names <= set(assay["environment"])


def test_the_image_gets_every_package_of_the_wheel_and_nothing_else() -> None:
    ignore = (DEPLOY.parent / ".dockerignore").read_text(encoding="utf-8").splitlines()
    allowed = {line[1:] for line in ignore if line.startswith("!")}
    project = (DEPLOY.parent / "pyproject.toml").read_text(encoding="utf-8")
    (packages,) = re.findall(r"^include = \[(.+)\]$", project, re.MULTILINE)
    (modules,) = re.findall(r"^py-modules = \[(.+)\]$", project, re.MULTILINE)
    wanted = set(re.findall(r'"([a-z]+)"', packages))
    wanted |= {f"{name}.py" for name in re.findall(r'"([a-z]+)"', modules)}
    assert allowed == wanted | {"requirements", "LICENSE", "README.md", "pyproject.toml"}


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine")
    text = UNIT.read_text(encoding="utf-8")
    tried = tmp_path / "assay.service"
    tried.write_text(
        text.replace("/usr/local/bin/assay", sys.executable).replace("EnvironmentFile=", "#")
    )
    run("systemd-analyze", "verify", tried)
