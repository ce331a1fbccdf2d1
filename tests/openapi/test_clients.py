"""Protects the clients that `make clients` builds: they parse every documented answer, call a real
server, and take no unknown answer for false."""

import asyncio
import importlib
import json
import re
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from pathlib import Path
from shutil import copy
from types import ModuleType
from typing import Any

import httpx
import pytest

from assay.demo.npm_packages import NODE_MODULES, find_node
from docs.clients.build_clients import build_clients
from docs.site.operation_pages import read_document
from tests.harness.api.open_port import on_network
from tests.harness.api.sample_reports import TOKEN, make_pool, make_report
from tests.harness.api.world import World
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

FILES = Path(__file__).with_name("clients")

Node = dict[str, Any]


def program_of_page(language: str) -> str:
    page = (ROOT / "docs" / "use" / "clients.md").read_text(encoding="utf-8")
    (program,) = re.findall(rf"```{language}\n(.*?)```", page, re.DOTALL)
    return str(program)


@pytest.fixture(scope="module")
def document() -> Node:
    return {**read_document()}


@pytest.fixture(scope="module")
def built(document: Node, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The wheel and the tarball."""
    if not (NODE_MODULES / "openapi-fetch").exists():
        pytest.skip("not installed: openapi-fetch (npm ci)")
    return build_clients(tmp_path_factory.mktemp("clients"), document)


# --- Python -------------------------------------------------------------------------------------


@pytest.fixture
def python_client(built: tuple[Path, Path]) -> Iterator[str]:
    """The name of the package, imported from the wheel as it is."""
    sys.path.insert(0, str(built[0]))
    yield "assay_client"
    sys.path.remove(str(built[0]))
    for name in [name for name in sys.modules if name.partition(".")[0] == "assay_client"]:
        del sys.modules[name]


def operation_module(package: str, operation: Node) -> ModuleType:
    name = re.sub(r"(?<!^)(?=[A-Z])", "_", operation["operationId"]).lower()
    return importlib.import_module(f"{package}.api.{operation['tags'][0]}.{name}")


def shown(document: Node) -> Iterator[tuple[Node, int, str, str, Any]]:
    """Every documented answer: operation, status, media type, name and value."""
    for item in document["paths"].values():
        for operation in item.values():
            for status, response in operation["responses"].items():
                for kind, media in response.get("content", {}).items():
                    for name, example in media.get("examples", {}).items():
                        yield operation, int(status), kind, name, example["value"]


def of_one_shape(document: Node) -> Iterator[tuple[Node, int, str, str, Any]]:
    """Those answers, each once: many operations have the same refusals."""
    seen = set[str]()
    for operation, status, kind, name, body in shown(document):
        media = operation["responses"][str(status)]["content"][kind]
        key = json.dumps([media["schema"], body])
        if key not in seen:
            seen.add(key)
            yield operation, status, kind, name, body


def without_nulls(body: Any) -> Any:
    """The body without keys whose value is null: absent keys are sent as such again."""
    if isinstance(body, list):
        return [without_nulls(each) for each in body]
    if isinstance(body, dict):
        return {key: without_nulls(value) for key, value in body.items() if value is not None}
    return body


def test_the_python_client_parses_every_documented_answer(
    python_client: str, document: Node
) -> None:
    client = importlib.import_module(python_client).Client(
        base_url="http://assay.test", raise_on_unexpected_status=True
    )
    parsed = 0
    for operation, status, kind, name, body in shown(document):
        module = operation_module(python_client, operation)
        if kind != "application/json":
            continue
        response = httpx.Response(status, json=body)
        answer = module._parse_response(client=client, response=response)
        place = (operation["operationId"], status, name)
        assert type(answer).__module__.startswith(python_client), place
        assert without_nulls(answer.to_dict()) == without_nulls(body), place
        parsed += 1
    assert parsed > 400


def test_the_python_client_writes_every_documented_body(python_client: str, document: Node) -> None:
    models = importlib.import_module(f"{python_client}.models")
    written = 0
    for item in document["paths"].values():
        for operation in item.values():
            media = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for name, example in media.get("examples", {}).items():
                body = getattr(models, name).from_dict(example["value"])
                assert body.to_dict() == example["value"], name
                written += 1
    assert written > 4


def test_a_three_valued_answer_in_python_is_no_condition(python_client: str) -> None:
    truth = importlib.import_module(f"{python_client}.models.truth").Truth
    assert [truth.from_dict(value) for value in (True, False, "pending", None)] == list(truth)
    for member in truth:
        for use in (bool, lambda it: not it, lambda it: it == True, lambda it: it == False):  # noqa: E712
            with pytest.raises(TypeError, match="compare it with"):
                use(member)
        with pytest.raises(TypeError, match="compare it with"):
            assert member != None  # noqa: E711
        assert member == truth.from_dict(member.to_dict())
    for value in (1, 0, "true", "", 0.0):
        with pytest.raises(ValueError, match="not a three-valued answer"):
            truth.from_dict(value)


async def test_the_python_client_reads_a_real_server(python_client: str, world: World) -> None:
    """Findings, unknown ones and absent ones; a refusal; the end of the key."""
    package = importlib.import_module(python_client)
    truth = importlib.import_module(f"{python_client}.models.truth").Truth
    get_token = importlib.import_module(f"{python_client}.api.tokens.get_token")
    get_usage = importlib.import_module(f"{python_client}.api.keys.get_usage")
    world.analysis.outcome = make_report(
        owner_can_change_balance=None,
        transfer_success=None,
        pools=(make_pool(sell="refused"), make_pool(ordinal=1, sell="pending")),
    )
    keyed = {"prefix": "", "auth_header_name": "X-API-Key"}
    async with on_network(world) as base_url:
        known = package.AuthenticatedClient(base_url, token=world.new_key("trial"), **keyed)
        async with known as client:
            answer = await get_token.asyncio_detailed("eip155:1", TOKEN, client=client)
        async with package.AuthenticatedClient(base_url, token="", **keyed) as client:
            refused = await get_usage.asyncio_detailed(client=client)
    assert answer.status_code == 200
    assert "x-api-key-expires-at" in answer.headers
    features = answer.parsed.features
    assert [pool.sell_success for pool in features.dex] == [truth.NO, truth.PENDING]
    assert features.owner_can_change_balance is truth.UNKNOWN  # absent
    assert features.transfer_success is truth.UNKNOWN  # null
    assert (refused.status_code, refused.parsed.error_code) == (401, "api_key_required")


async def test_the_program_of_the_page_prints_the_answers(
    built: tuple[Path, Path], world: World
) -> None:
    world.analysis.outcome = make_report(
        pools=(make_pool(), make_pool(ordinal=1, sell=None)),
    )
    async with on_network(world) as base_url:
        program = (
            program_of_page("python")
            .replace("http://localhost:8000", base_url)
            .replace("tsk_live_...", world.new_key("trial"))
            .replace("0x...", TOKEN)
        )
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, "-c", program],
            env={"PYTHONPATH": str(built[0])},
            capture_output=True,
            text=True,
            check=True,
        )
    assert [line.split()[1:] for line in done.stdout.splitlines()] == [["sells"], ["UNKNOWN"]]


# --- TypeScript ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def project(built: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of an integrator, with the tarball unpacked as npm does."""
    folder = tmp_path_factory.mktemp("project")
    with tarfile.open(built[1]) as packed:
        packed.extractall(folder, filter="data")
    modules = folder / "node_modules"
    modules.mkdir()
    (folder / "package").rename(modules / "assay-client")
    for name in ("openapi-fetch", "openapi-typescript-helpers", "typescript"):
        (modules / name).symlink_to(NODE_MODULES / name, target_is_directory=True)
    for script in FILES.iterdir():
        copy(script, folder)
    return folder


def run(project: Path, script: str, *arguments: str) -> str:
    done = subprocess.run(
        [find_node(), str(project / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_every_documented_answer_has_its_type_in_typescript(project: Path, document: Node) -> None:
    """With them, what an integrator may write, and what does not compile."""
    lines = ['import type { Json, operations } from "assay-client";']
    for number, (operation, status, kind, _, body) in enumerate(of_one_shape(document)):
        answer = f'operations["{operation["operationId"]}"]["responses"][{status}]["content"]'
        lines.append(f'export const a{number}: Json<{answer}["{kind}"]> = {json.dumps(body)};')
    assert len(lines) > 60
    (project / "examples.ts").write_text("\n".join(lines), encoding="utf-8")
    (project / "page.ts").write_text(program_of_page("ts"), encoding="utf-8")
    assert run(project, "compile.mjs", str(project)) == ""


async def test_the_typescript_client_reads_a_real_server(project: Path, world: World) -> None:
    world.analysis.outcome = make_report(
        pools=(make_pool(sell="refused"), make_pool(ordinal=1, sell="pending"))
    )
    async with on_network(world) as base_url:
        printed = await asyncio.to_thread(
            run, project, "calls.mjs", base_url, world.new_key("trial"), TOKEN
        )
    assert json.loads(printed) == {
        "sells": ["no", "pending"],
        "absent": "unknown",
        "verdict": "danger",
        "refused": [401, "api_key_required"],
    }
