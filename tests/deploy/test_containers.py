"""Protects the packaging of the service: image and unit, which are not built here.

tests/deploy/test_image.py takes the steps of the image's file without Docker.
"""

import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.harness.deploy.deploy_files import DEPLOY

pytestmark = pytest.mark.process

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


def test_systemd_takes_the_unit(tmp_path: Path) -> None:
    if shutil.which("systemd-analyze") is None:
        pytest.skip("no systemd-analyze on this machine")
    text = UNIT.read_text(encoding="utf-8")
    tried = tmp_path / "assay.service"
    tried.write_text(
        text.replace("/usr/local/bin/assay", sys.executable).replace("EnvironmentFile=", "#")
    )
    run("systemd-analyze", "verify", tried)
