"""Protects the demo of an installed wheel: npm's packages are there whole, or not at all."""

from pathlib import Path

import pytest

from assay.demo import npm_packages
from core.errors import UpstreamError
from tests.house.sources import ROOT

pytestmark = pytest.mark.process


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """As in a wheel, with an empty cache and a registry that does not answer."""
    locked = tmp_path / "locked"
    locked.mkdir()
    for name in npm_packages._FILES:
        (locked / name).write_bytes((ROOT / name).read_bytes())
    cache = tmp_path / "cache"
    monkeypatch.setattr(npm_packages, "_LOCKED", locked)
    monkeypatch.setattr(npm_packages, "CACHE", cache)
    monkeypatch.setattr(npm_packages, "NODE_MODULES", cache / "npm-1" / "node_modules")
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9")
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    monkeypatch.setenv("npm_config_cache", str(tmp_path / "npm"))
    return cache


def test_without_a_network_it_says_so_and_leaves_nothing(installed: Path) -> None:
    with pytest.raises(UpstreamError, match=r"needs the network for: .*ECONNREFUSED"):
        npm_packages.fetch_packages()
    assert list(installed.iterdir()) == []


def test_what_is_there_is_not_fetched_again(installed: Path) -> None:
    npm_packages.NODE_MODULES.mkdir(parents=True)
    npm_packages.fetch_packages()


def test_the_lock_names_what_the_demo_needs_apart_from_what_tests_need() -> None:
    """`npm ci --omit=dev` installs the former alone."""
    lock = (ROOT / "package-lock.json").read_text(encoding="utf-8")
    package = (ROOT / "package.json").read_text(encoding="utf-8")
    needed = package.split('"devDependencies"')[0]
    for name in ("@foundry-rs/anvil", "solc", "@uniswap/v4-core", "@cryptoalgebra/integral-core"):
        assert f'"{name}"' in needed
        assert f'"node_modules/{name}"' in lock
    for name in ("playwright-core", "typescript", "oidc-provider"):
        assert f'"{name}"' not in needed
