"""Protects the wheel: small without extras, whole outside a checkout (`make test-package`)."""

import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import httpx
import msgspec
import pytest

from assay.demo.anvil import AnvilNode
from assay.demo.embedded_chain import write_overlay
from assay.demo.layout import World
from assay.demo.world import build_world
from core.evm.primitives import checksum
from tests.house.sources import ROOT

pytestmark = [
    pytest.mark.skipif("ASSAY_TEST_PACKAGE" not in os.environ, reason="slow: make test-package"),
    pytest.mark.node,
    pytest.mark.process,
]

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


def test_it_is_small_without_extras(plain: Path) -> None:
    files = [path for path in plain.parents[1].rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files if not path.is_symlink())
    print(f"{size / 2**20:.0f} MiB")  # noqa: T201 - published in the documentation
    assert size < MOST_MIB * 2**20


def test_help_and_a_missing_extra(plain: Path) -> None:
    assert "Commands:" in run(plain, "--help", env={}).stdout
    ended = run(plain, "demo", env={})
    assert ended.returncode == 1
    assert "pipx install --force 'assay[demo]'" in ended.stderr


def test_static_analysis(plain: Path) -> None:
    line = '{"id": 1, "runtime": "0x6000ff"}\n'
    ended = run(plain, "static", env={}, stdin=line)
    assert ended.returncode == 0, ended.stderr
    assert msgspec.json.decode(ended.stdout)["id"] == 1


def test_a_token_is_judged(plain: Path, chain: Chain) -> None:
    address = checksum(chain.world.token("buy_tax").address)
    ended = run(plain, "scan", "--output", "json", "ethereum", address, env=chain.env)
    assert ended.returncode == 0, ended.stderr
    (pool,) = msgspec.json.decode(ended.stdout)["features"]["dex"]
    assert pool["buy_tax"] == 7.0


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
