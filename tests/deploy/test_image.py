"""Protects the image: the steps of its Dockerfile, taken without Docker, make a fleet that answers,
and a back-up of it (`make test-package`)."""

import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from assay.demo.anvil import AnvilNode
from tests.harness.fleet.deployed_process import compose, composed_processes, running_members
from tests.harness.fleet.dockerfile import image_environment, inside, stage_of, take_steps
from tests.harness.parts.postgres_server import PostgresServer, running_postgres

pytestmark = [
    pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package"),
    pytest.mark.node,
    pytest.mark.process,
    pytest.mark.fleet,
]

DEBIAN_PYTHON = Path("/usr/bin/python3.11")
PACKAGES = "/opt/assay/lib/python3.11/site-packages"
NOBODY = f"/token/ethereum/0x{7:040x}"
"""Analysed on the node, which has no code there."""


@pytest.fixture(scope="module")
def image(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder that stands for `/` once the steps are taken."""
    root = tmp_path_factory.mktemp("image")
    take_steps(stage_of("build"), root)
    return root


@pytest.fixture(scope="module")
def server() -> Iterator[PostgresServer]:
    with running_postgres() as found:
        yield found


def test_it_has_what_the_service_needs_and_nothing_to_build_it(image: Path) -> None:
    packages = Path(inside(PACKAGES, image))
    names = {path.name for path in packages.iterdir()}
    assert {"psycopg", "psycopg_binary", "duckdb_extension_httpfs", "PIL"} <= names
    assert not {"pip", "setuptools", "uv", "swagger_ui", "wheel"} & names
    assert (packages / "api/pages/assets/swagger_ui/swagger-ui-bundle.js").stat().st_size > 100_000
    assert list((packages / "api").glob("__pycache__/*.pyc"))


def test_its_processes_are_a_fleet_and_are_backed_up(
    image: Path, server: PostgresServer, tmp_path: Path
) -> None:
    service = stage_of("service")
    passwords = dict.fromkeys(("POSTGRES_PASSWORD", "VALKEY_PASSWORD", "GRAFANA_PASSWORD"), "x")
    planned = [one for one in composed_processes(compose(passwords)) if one.name.endswith("-1")]
    (word,) = service.words("ENTRYPOINT")
    settings = image_environment(service, image)
    program = shutil.which(word, path=settings["PATH"])
    assert program is not None
    assert program.startswith(str(image))
    (tmp_path / "config").mkdir()
    with ExitStack() as stack:
        node = stack.enter_context(AnvilNode())
        env = settings | {
            "ASSAY_RPC_1": node.url,
            "ASSAY_STORE": server.url(),
            "ASSAY_LAKE": str(tmp_path / "lake"),
            "ASSAY_REDIS": "",
            "ASSAY_CONFIG": str(tmp_path / "config"),
        }
        members = stack.enter_context(running_members(planned, env, tmp_path, program=(program,)))
        api = members["api-1"]
        key = api.run("keys", "create", "--plan", "admin", "--label", "me").strip()
        answer = httpx.get(api.url + NOBODY, headers={"X-API-Key": key}, timeout=30)
        assert answer.json()["error_code"] == "not_a_contract"
        back_up(image, server, env, tmp_path / "backup")


def back_up(image: Path, server: PostgresServer, env: dict[str, str], folder: Path) -> None:
    """As the image `backup` does: Debian's Python, and PostgreSQL's programs."""
    if not DEBIAN_PYTHON.exists():
        pytest.skip("Debian's Python 3.11 is not on this machine")
    stage = stage_of("backup")
    (copied,) = [text for text in stage.texts("COPY") if PACKAGES in text]
    assert copied.split()[-1] == stage.environment()["PYTHONPATH"]
    python, *words = stage.words("ENTRYPOINT")
    assert python == "python3"
    done = subprocess.run(
        [DEBIAN_PYTHON, *words, "backup", folder],
        cwd=folder.parent,
        env=env
        | {"PYTHONPATH": inside(PACKAGES, image), "PATH": f"{server.programs}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert (folder / "manifest.json").exists()
