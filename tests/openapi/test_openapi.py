"""Protects the OpenAPI document: all of it is described, true and current, and covers responses."""

import asyncio
import json
import re
import subprocess
import threading
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from analysis.pipeline.chain_context import ChainContext
from assay.demo.npm_packages import NODE_MODULES, find_node
from core.report.report import Report
from docs.site.example_reports import REPORTS, SYMBOLS, encoded, shortened
from tests.harness.api.fuzz import CALLERS, Fuzzer
from tests.harness.api.sample_reports import TOKEN
from tests.harness.api.specified_fields import ERRORS
from tests.harness.api.world import PLANS, World
from tests.harness.chain import old_states
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.store.empty_files import new_ledger

anvil_node, demo_world, facts = old_states.anvil_node, old_states.demo_world, old_states.facts

TOOLS = Path(__file__).with_name("openapi_tools")

METHODS = ("get", "post", "delete")

PREFIX = "#/components/schemas/"

Node = dict[str, Any]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Node:
    async def serve() -> Node:
        with closing(new_ledger(tmp_path_factory.mktemp("openapi") / "ledger")) as ledger:
            world = World(ledger)
            served: Node = (await world.client().get("/schema")).json()
            await world.aclose()
            return served

    return asyncio.run(serve())


def operations(document: Node) -> Iterator[tuple[str, Node]]:
    for path, item in document["paths"].items():
        for method in METHODS:
            if method in item:
                yield f"{method} {path}", item[method]


def bodies(document: Node) -> Iterator[tuple[str, Node]]:
    """Every media type, with the place it stands in."""
    for name, operation in operations(document):
        for status, response in operation["responses"].items():
            for media in response.get("content", {}).values():
                yield f"{name} {status}", media
        for media in operation.get("requestBody", {}).get("content", {}).values():
            yield f"{name} request", media


def keys(document: Node) -> Iterator[tuple[str, Node]]:
    """Every key of every schema."""
    for name, schema in document["components"]["schemas"].items():
        for key, about in schema.get("properties", {}).items():
            yield f"{name}.{key}", about


def points_elsewhere(schema: Any) -> bool:
    return PREFIX in json.dumps(schema)


@pytest.mark.process
async def test_the_document_is_made_once_while_others_are_answered(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, begun, may_end = list[str](), threading.Event(), threading.Event()

    def describe_slowly(document: Node, *_: object, **__: object) -> Node:
        made.append(threading.current_thread().name)
        begun.set()
        assert may_end.wait(60), "nobody else was answered"
        return {"paths": list(document["paths"])}

    monkeypatch.setattr("api.openapi.document.describe", describe_slowly)
    client = world.client()
    tasks = [asyncio.create_task(client.get(path)) for path in ("/schema", "/schema/openapi.json")]
    assert await asyncio.to_thread(begun.wait, 60)
    assert (await client.get("/health")).status_code == 200
    assert not any(task.done() for task in tasks)
    may_end.set()
    answers = await asyncio.gather(*tasks)
    assert [answer.status_code for answer in answers] == [200, 200]
    assert "/health" in answers[0].json()["paths"]
    assert len(made) == 1
    assert threading.main_thread().name not in made
    assert (await client.get("/schema/")).content == answers[0].content
    unknown = await client.get("/schema/swagger")
    assert (unknown.status_code, unknown.headers["content-type"]) == (404, "application/json")


@pytest.mark.process
def test_every_operation_says_what_it_does(document: Node) -> None:
    names = [operation["operationId"] for _, operation in operations(document)]
    assert len(set(names)) == len(names)
    for name, operation in operations(document):
        assert re.fullmatch(r"(get|post|delete)[A-Z]\w+", operation["operationId"]), name
        assert operation["summary"], name
        assert len(operation["description"]) > 20, name
        assert operation["tags"], name
        assert "security" in operation, name


@pytest.mark.process
def test_every_parameter_header_and_key_is_described_and_has_an_example(document: Node) -> None:
    silent, without = [], []
    for name, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            place = f"{name} {parameter['name']}"
            silent += [place] * (not parameter.get("description"))
            without += [place] * ("examples" not in parameter["schema"])
    for name, header in document["components"]["headers"].items():
        silent += [name] * (not header.get("description"))
        without += [name] * ("examples" not in header["schema"])
    for name, about in keys(document):
        silent += [name] * (len(about.get("description", "")) < 5)
        without += [name] * ("examples" not in about and not points_elsewhere(about))
    assert not silent
    assert not without


@pytest.mark.process
def test_every_body_has_an_example(document: Node) -> None:
    without = [place for place, media in bodies(document) if "examples" not in media]
    # What is sent to /mcp has examples for its keys; a guide and a packed file are none.
    pack = "get /token/{{chain}}/{{address}}{}/evidence-pack 200".format
    packs = [pack("/disputes/{number}"), pack("")]
    assert without == [*sorted(packs, reverse=True), "post /mcp request", "get /llms.txt 200"]


@pytest.mark.process
def test_schemas_are_called_what_they_are(document: Node) -> None:
    for name, schema in document["components"]["schemas"].items():
        assert re.fullmatch(r"[A-Z][A-Za-z]+", name)
        assert schema["title"] == name
    assert "api." not in json.dumps(document["components"])


@pytest.mark.process
def test_descriptions_speak_json(document: Node) -> None:
    """They are docstrings of Python, some of them."""
    for name, about in keys(document):
        assert not re.search(r"\b(None|True|False|UNSET)\b", about["description"]), name


@pytest.mark.process
def test_examples_are_what_the_schemas_allow(document: Node) -> None:
    resource = DRAFT202012.create_resource({"$id": "urn:document", **document})
    registry: Registry[Any] = Registry().with_resource("urn:document", resource)

    def check(schema: Node, value: Any, place: str) -> None:
        absolute = json.loads(json.dumps(schema).replace('"#/', '"urn:document#/'))
        validator = OAS31Validator(absolute, registry=registry)
        errors = [error.message for error in validator.iter_errors(value)]
        assert not errors, (place, errors)

    checked = 0
    for place, media in bodies(document):
        for name, example in media.get("examples", {}).items():
            check(media["schema"], example["value"], f"{place} {name}")
            checked += 1
    for place, about in keys(document):
        for value in about.get("examples", ()):
            check(about, value, place)
            checked += 1
    for place, operation in operations(document):
        for parameter in operation.get("parameters", ()):
            for value in parameter["schema"]["examples"]:
                check(parameter["schema"], value, place)
    assert checked > 300


@pytest.mark.process
def test_every_error_code_has_an_example_with_its_status(document: Node) -> None:
    shown = {
        (example["value"].get("error_code"), int(place.rpartition(" ")[2]))
        for place, media in bodies(document)
        if place.rpartition(" ")[2].isdigit()
        for example in media.get("examples", {}).values()
        if isinstance(example["value"], dict)
    }
    assert {(code, status) for code, (status, _) in ERRORS.items()} <= shown


@pytest.mark.process
async def test_headers_that_are_sent_are_documented(
    world: World, client: httpx.AsyncClient, document: Node
) -> None:
    responses = document["paths"]["/token/{chain}/{address}"]["get"]["responses"]
    key = {
        "X-API-Key": world.ledger.create_key(PLANS["trial"], "test", world.clock.now_s).plaintext
    }
    world.clock.now_s += 10 * 86_400
    seen = set()
    for _ in range(6):
        response = await client.get(f"/token/1/{TOKEN}", headers=key)
        described = {name.lower() for name in responses[str(response.status_code)]["headers"]}
        assert set(response.headers) <= {"content-type", "content-length", *described}
        seen.add(response.status_code)
    assert seen == {200, 429}


@pytest.mark.process
def test_the_validator_of_the_standard_has_no_complaint(document: Node) -> None:
    OpenAPIV31SpecValidator(document).validate()


def run(tool: str, document: Node, *packages: str) -> list[str]:
    """Lines that the tool printed about the document."""
    missing = [name for name in packages if not (NODE_MODULES / name).exists()]
    if missing:
        pytest.skip(f"not installed: {', '.join(missing)} (npm ci)")
    done = subprocess.run(
        [find_node(), str(TOOLS / tool)],
        input=json.dumps(document),
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    )
    return done.stdout.splitlines()


@pytest.mark.process
@pytest.mark.process
def test_redocly_has_no_complaint(document: Node) -> None:
    assert run("lint.mjs", document, "@redocly/openapi-core") == []


@pytest.mark.process
def test_one_possible_string_is_an_enum(document: Node) -> None:
    """Next to other types, generators of clients read a `const` as the type of any value."""
    assert '"const"' not in json.dumps(document["components"]["schemas"])
    sold = document["components"]["schemas"]["Pool"]["properties"]["sell_success"]
    assert {"type": "string", "enum": ["pending"]} in sold["oneOf"]


# --- example reports ----------------------------------------------------------------------------

TAKEN = msgspec.json.decode(REPORTS.read_bytes(), type=tuple[Report, ...])

OF_INDEX = {"holder_kinds", "track_record"}

"""Evidence that needs an index of transfers and trades, which the analysis has none of here."""


def shape_of(report: Report) -> dict[str, list[str]]:
    """Keys of the evidence without the address of a pool, each with the keys of its body."""
    return {
        row.key.partition(":0x")[0]: sorted(json.loads(row.body))
        for row in shortened(report).evidence
        if row.key not in OF_INDEX
    }


def test_reports_have_the_attributes_of_today() -> None:
    assert encoded(TAKEN) == REPORTS.read_bytes()
    assert tuple(report.token.symbol for report in TAKEN) == SYMBOLS


@pytest.mark.parametrize("taken", TAKEN, ids=SYMBOLS)
async def test_evidence_has_the_keys_of_today(
    chain: Chain, context: ChainContext, taken: Report
) -> None:
    world = chain.world
    tokens = {one.symbol: one.address for one in world.tokens}
    tokens |= {one.symbol: one.address for one in world.launched}
    today = await judge(context, tokens[taken.token.symbol])
    assert shape_of(today) == shape_of(taken), "make examples"


# --- fuzz ---------------------------------------------------------------------------------------

CALLS = 800


def test_every_answer_is_as_the_document_says(tmp_path: Path) -> None:
    fuzzer = Fuzzer(tmp_path)

    @settings(max_examples=CALLS // CALLERS, deadline=None, suppress_health_check=list(HealthCheck))
    @given(fuzzer.calls())
    def judge(call: object) -> None:
        fuzzer.judge(call)  # type: ignore[arg-type]  # the strategy's type is lost on the way

    try:
        judge()
    finally:
        fuzzer.close()
    answered = {answer for answer in fuzzer.statuses if answer.endswith(" 200")}
    assert any("/token/" in answer for answer in answered)
