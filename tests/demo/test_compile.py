"""Protects the compiler's answers and npm's packages: complete, or clear where something lacks."""

import shlex
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from assay.demo import compile as compile_module
from assay.demo import npm_packages
from assay.demo.compile import CompileError, compile_runtime, load_artifacts
from assay.demo.npm_packages import find_node
from assay.demo.zoo import ZOO
from core.errors import ConfigError, UpstreamError
from tests.harness.chain.compiled_contracts import own_part, read_contracts
from tests.house.sources import ROOT

WITNESS = ROOT / "analysis" / "probes" / "Witness.sol"
CONTRACTS = Path(compile_module.__file__).parent / "contracts"


@pytest.fixture
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Sources and cache of this test's own; answers the sources' folder."""
    sources = tmp_path / "contracts"
    sources.mkdir()
    monkeypatch.setattr(compile_module, "_CONTRACTS", sources)
    monkeypatch.setattr(compile_module, "_CACHE", tmp_path / "cache")
    return sources


def write(folder: Path, body: str) -> None:
    (folder / "Tiny.sol").write_text(f"pragma solidity ^0.8.24;\ncontract Tiny {{ {body} }}\n")


@pytest.mark.compiler
def test_every_token_of_the_zoo_has_its_contract() -> None:
    artifacts = load_artifacts()
    assert {animal.contract for animal in ZOO} <= set(artifacts)
    for name, artifact in artifacts.items():
        assert bytes.fromhex(artifact.creation), name


@pytest.mark.compiler
def test_extra_arguments_are_what_the_constructors_take() -> None:
    artifacts = load_artifacts()
    for animal in ZOO:
        if animal.form == "plain":
            extras = ("address",) if animal.extra else ()
            assert artifacts[animal.contract].constructor == ("string", "string", *extras)


@pytest.mark.compiler
def test_no_contract_name_is_given_twice() -> None:
    files = [path for path in CONTRACTS.rglob("*.sol") if path.stem != "Proxies"]
    names = [path.stem for path in files]
    assert len(set(names)) == len(names)


@pytest.mark.compiler
def test_a_change_of_source_is_compiled_and_an_unchanged_one_is_not(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(elsewhere, "constructor(uint256 a) { a; }")
    first = load_artifacts()["Tiny"]
    assert first.constructor == ("uint256",)
    write(elsewhere, "uint256 public value = 5;")
    changed = load_artifacts()["Tiny"]
    assert changed.creation != first.creation
    assert changed.constructor == ()

    monkeypatch.setattr(compile_module, "find_node", lambda: "/nowhere/node")
    assert load_artifacts()["Tiny"] == changed


@pytest.mark.compiler
def test_runs_that_share_the_sources_make_the_same_code(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(elsewhere, "uint256 public value = 9;")
    heir = (
        'import {Tiny} from "Tiny.sol";\ncontract Heir is Tiny { Tiny public made = new Tiny(); }'
    )
    (elsewhere / "Heir.sol").write_text(f"pragma solidity ^0.8.24;\n{heir}\n")
    shared = load_artifacts()
    assert shared.keys() > {"Heir", "Tiny"}
    monkeypatch.setattr(compile_module, "_COMPILERS", 1)
    assert load_artifacts() == shared


@pytest.mark.compiler
def test_who_wants_the_same_at_once_waits_for_one_compiler(
    elsewhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(elsewhere, "uint256 public value = 7;")
    log, counted = tmp_path / "runs", tmp_path / "node"
    counted.write_text(f'#!/bin/sh\necho run >> {log}\nexec {shlex.quote(find_node())} "$@"\n')
    counted.chmod(0o755)
    monkeypatch.setattr(compile_module, "find_node", lambda: str(counted))
    with ThreadPoolExecutor(3) as pool:
        made = [one.result() for one in [pool.submit(load_artifacts) for _ in range(3)]]
    assert made[0]["Tiny"].creation
    assert made == made[:1] * 3
    assert log.read_text() == "run\n"


@pytest.mark.compiler
def test_an_error_in_a_contract_is_shown_as_the_compiler_says_it(elsewhere: Path) -> None:
    write(elsewhere, "uint256 public value = true;")
    with pytest.raises(CompileError, match=r"Tiny\.sol:2"):
        load_artifacts()


@pytest.mark.compiler
@pytest.mark.parametrize("is_whole", [False, pytest.param(True, marks=pytest.mark.exhaustive)])
def test_what_is_kept_of_the_compilers_is_what_it_makes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, is_whole: bool
) -> None:
    """If it is not: `python -m tests.harness.chain.compiled_contracts`, after `make check`."""
    monkeypatch.setattr(compile_module, "_CACHE", tmp_path)
    if is_whole:
        load_artifacts()
    else:
        compile_runtime(WITNESS)
    made = {path.stem: own_part(path.read_bytes()) for path in tmp_path.glob("*.json")}
    assert made
    assert made.items() <= read_contracts().items()


@pytest.mark.compiler
def test_what_the_demo_needs_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its compilation takes a minute. If it is not kept, run the same command."""
    monkeypatch.setattr(compile_module, "_CACHE", tmp_path)
    for digest, output in read_contracts().items():
        (tmp_path / f"{digest}.json").write_bytes(output)
    monkeypatch.setattr(compile_module, "find_node", lambda: "/nowhere/node")
    assert load_artifacts()


@pytest.mark.compiler
def test_missing_packages_name_the_command_that_installs_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="make setup"):
        load_artifacts(tmp_path)


@pytest.mark.compiler
def test_without_node_on_the_path_the_wheels_is_used(
    elsewhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "")
    write(elsewhere, "uint256 public value = 6;")
    assert load_artifacts()["Tiny"].creation


# --- npm packages -------------------------------------------------------------------------------


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


@pytest.mark.process
def test_without_a_network_it_says_so_and_leaves_nothing(installed: Path) -> None:
    with pytest.raises(UpstreamError, match=r"needs the network for: .*ECONNREFUSED"):
        npm_packages.fetch_packages()
    assert list(installed.iterdir()) == []


@pytest.mark.process
def test_what_is_there_is_not_fetched_again(installed: Path) -> None:
    npm_packages.NODE_MODULES.mkdir(parents=True)
    npm_packages.fetch_packages()


@pytest.mark.process
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
