"""Protects the wheel and the image, each outside a checkout (`make test-package`)."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from core.evm.primitives import checksum
from tests.harness.fleet.deployed_process import compose, composed_processes, running_members
from tests.harness.fleet.dockerfile import image_environment, inside, stage_of, take_steps
from tests.harness.parts.postgres_server import PostgresServer, running_postgres
from tests.house.sources import ROOT

MOST_MIB = 310

"""Limit with the newest releases of the dependencies, which grow."""

PATIENCE_S = 120.0

NO_REGISTRY = {"npm_config_registry": "http://127.0.0.1:9", "npm_config_fetch_retries": "0"}

"""A port where nothing listens."""


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    source = folder / "source"
    # Of a copy: setuptools leaves a folder `build` where it builds.
    clone = ["/usr/bin/env", "git", "clone", "--quiet", str(ROOT), str(source)]
    subprocess.run(clone, check=True)
    offline = ("--no-deps", "--no-build-isolation", "--no-index", "--quiet")
    built = [sys.executable, "-m", "pip", "wheel", *offline, "-w", str(folder), str(source)]
    subprocess.run(built, check=True)
    (found,) = folder.glob("*.whl")
    return found


def install(wheel: Path, folder: Path, extra: str = "") -> Path:
    """Install a wheel into a new environment; return its `assay`."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    python = folder / "bin" / "python"
    uv = Path(sys.executable).parent / "uv"
    subprocess.run(
        [str(uv), "pip", "install", "--quiet", "--python", str(python), f"{wheel}{extra}"],
        check=True,
    )
    return folder / "bin" / "assay"


@pytest.fixture(scope="module")
def plain(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """`assay` without extras."""
    return install(wheel, tmp_path_factory.mktemp("plain") / "env")


class Chain(msgspec.Struct, frozen=True, kw_only=True):
    world: World
    env: Mapping[str, str]


@pytest.fixture(scope="module")
def chain(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chain]:
    folder = tmp_path_factory.mktemp("chain")
    with AnvilNode() as node:
        world = build_world(node)
        node.mine(20)
        write_overlay(world, folder)
        env = {"ASSAY_RPC_1": node.url, "ASSAY_CONFIG": str(folder)}
        yield Chain(world=world, env=env | {"ASSAY_STORE": str(folder / "store.duckdb")})


def environment(env: Mapping[str, str]) -> dict[str, str]:
    """Nothing of this checkout."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": os.environ["HOME"], **env}


def run(
    assay: Path, *arguments: str, env: Mapping[str, str], stdin: str | None = None
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [str(assay), *arguments],
        cwd=assay.parent,
        env=environment(env),
        input=stdin,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )


@contextmanager
def running(assay: Path, *arguments: str, env: Mapping[str, str]) -> Iterator[Iterator[str]]:
    """Yield the lines that it prints; interrupt it at the end."""
    with subprocess.Popen(
        [str(assay), *arguments],
        cwd=assay.parent,
        env=environment(env),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    ) as process:
        assert process.stdout is not None
        try:
            yield iter(process.stdout)
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


def free_port() -> str:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return str(probe.getsockname()[1])


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
def test_it_is_small_without_extras(plain: Path) -> None:
    files = [path for path in plain.parents[1].rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files if not path.is_symlink())
    print(f"{size / 2**20:.0f} MiB")  # noqa: T201 - published in the documentation
    assert size < MOST_MIB * 2**20


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
def test_help_and_a_missing_extra(plain: Path) -> None:
    assert "Commands:" in run(plain, "--help", env={}).stdout
    ended = run(plain, "demo", env={})
    assert ended.returncode == 1
    assert "pipx install --force 'assay[demo]'" in ended.stderr


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
def test_static_analysis(plain: Path) -> None:
    line = '{"id": 1, "runtime": "0x6000ff"}\n'
    ended = run(plain, "static", env={}, stdin=line)
    assert ended.returncode == 0, ended.stderr
    assert msgspec.json.decode(ended.stdout)["id"] == 1


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
def test_a_token_is_judged(plain: Path, chain: Chain) -> None:
    address = checksum(chain.world.token("buy_tax").address)
    ended = run(plain, "scan", "--output", "json", "ethereum", address, env=chain.env)
    assert ended.returncode == 0, ended.stderr
    (pool,) = msgspec.json.decode(ended.stdout)["features"]["dex"]
    assert pool["buy_tax"] == 7.0


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
def test_a_store_is_served_and_asked(plain: Path, chain: Chain, tmp_path: Path) -> None:
    port = free_port()
    with (
        running(plain, "serve", "--port", port, env=chain.env) as lines,
        httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client,
    ):
        assert any("listening" in line for line in lines)
        end = time.monotonic() + PATIENCE_S
        while client.get("/ready").status_code != 200:
            assert time.monotonic() < end
            time.sleep(0.2)
        assert client.get("/health").json() == {"status": "ok"}
        assert "SwaggerUI" in client.get("/assets/swagger-ui-bundle.js").text
    ended = run(plain, "sql", "select count(*) from v_transfers", env=chain.env)
    assert msgspec.json.decode(ended.stdout.splitlines()[1])[0] > 0, ended.stderr
    table = str(tmp_path / "pools.parquet")
    written = ("--output", "parquet", "--to", table, "from v_pools")
    assert run(plain, "sql", *written, env=chain.env).returncode == 0
    assert Path(table).read_bytes()[:4] == b"PAR1"
    ended = run(plain, "export", "--views", "v_pools", str(tmp_path / "out"), env=chain.env)
    assert ended.returncode == 0, ended.stderr
    assert list((tmp_path / "out").rglob("*.parquet"))


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
def test_the_demo_fetches_its_packages_once(
    wheel: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("tool")
    assay = install(wheel, folder / "env", "[demo]")
    home = {"XDG_CACHE_HOME": str(folder / "cache"), "npm_config_cache": str(folder / "npm")}
    offline = run(assay, "demo", "--port", free_port(), env=home | NO_REGISTRY)
    assert offline.returncode == 1
    assert "needs the network" in offline.stderr
    assert not list((folder / "cache" / "assay").iterdir())
    for env in (home, home | NO_REGISTRY):
        with running(assay, "demo", "--port", free_port(), env=env) as lines:
            text = ""
            for line in lines:
                text += line
                if "listening" in line:
                    break
            curl_line = re.search(r"curl -H '(X-API-Key): (\S+)' (\S+)", text)
            assert curl_line is not None, text
            name, key, url = curl_line.groups()
            assert httpx.get(url, headers={name: key}, timeout=60).json()["features"]["dex"]


# --- image --------------------------------------------------------------------------------------

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


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
@pytest.mark.fleet
def test_it_has_what_the_service_needs_and_nothing_to_build_it(image: Path) -> None:
    packages = Path(inside(PACKAGES, image))
    names = {path.name for path in packages.iterdir()}
    assert {"psycopg", "psycopg_binary", "duckdb_extension_httpfs", "PIL"} <= names
    assert not {"pip", "setuptools", "uv", "swagger_ui", "wheel"} & names
    assert (packages / "api/pages/assets/swagger_ui/swagger-ui-bundle.js").stat().st_size > 100_000
    assert list((packages / "api").glob("__pycache__/*.pyc"))


@pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package")
@pytest.mark.node
@pytest.mark.process
@pytest.mark.fleet
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
