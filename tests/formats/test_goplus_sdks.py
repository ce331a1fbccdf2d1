"""Protects docs/use/goplus.md by running both SDKs as it describes, and their bare routes."""

import asyncio
import hashlib
import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from assay.demo.npm_packages import NODE_MODULES, find_node
from tests.harness.api.many_tokens import ManyTokens
from tests.harness.api.open_port import on_network
from tests.harness.api.sample_reports import MINED_AT_S, OWNER, TOKEN, TOKEN_SHOWN
from tests.harness.api.world import PLANS, World

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PATH = "/goplus/api/v1/token_security/1"


def program(language: str, base: str, key: str) -> str:
    """The document's program in a language, about two tokens of the test."""
    text = (ROOT / "docs" / "use" / "goplus.md").read_text(encoding="utf-8")
    (written,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    ours = {"http://localhost:8000": base, "tsk_live_...": key}
    for theirs, value in ours.items():
        assert theirs in written
        written = written.replace(theirs, value)
    return str(written)


async def run(world: World, language: str, *command: str) -> list[str]:
    """Lines that it prints."""

    def start(base: str, key: str) -> str:
        written = program(language, base, key)
        written = written.replace('["0x..."]', json.dumps([TOKEN_SHOWN, OWNER]))
        written = written.replace('"0x..."', json.dumps(TOKEN_SHOWN))
        done = subprocess.run(
            [*command, written], cwd=ROOT, capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    async with on_network(world, analysis=ManyTokens(), now_s=_real_time) as base:
        key = world.ledger.create_key(PLANS["pro"], "test", _real_time()).plaintext
        return (await asyncio.to_thread(start, base, key)).splitlines()


def _real_time() -> float:
    """The clock by which the SDKs sign; `time.time` is the test's."""
    return datetime.now(tz=UTC).timestamp()


@pytest.mark.process
async def test_the_python_sdk(world: World) -> None:
    lines = await run(world, "python", sys.executable, "-c")
    assert lines == [f"1 {TOKEN} SMP 0"]


@pytest.mark.process
async def test_the_node_sdk(world: World) -> None:
    if not (NODE_MODULES / "@goplus" / "sdk-node").exists():
        pytest.skip("not installed: @goplus/sdk-node (npm ci)")
    lines = await run(world, "js", str(find_node()), "-e")
    assert lines == [f"1 {TOKEN} SMP 0", f"1 {OWNER} SMP 0"]


@pytest.mark.parametrize(
    "query",
    [
        f"contract_addresses={TOKEN},{OWNER}",
        f"contract_addresses={TOKEN}&contract_addresses={OWNER}",
        f"contract_addresses={TOKEN}%2C{OWNER}",
        f"contract_addresses=,{TOKEN}&contract_addresses=&contract_addresses={OWNER},{TOKEN}",
    ],
)
async def test_addresses_come_with_commas_or_repeated(world: World, query: str) -> None:
    client = world.client(analysis=ManyTokens())
    response = await client.get(f"{PATH}?{query}", headers={"X-API-Key": world.new_key()})
    assert (response.json()["code"], list(response.json()["result"])) == (1, [TOKEN, OWNER])


def signed(key: str, secret: str, time: object) -> dict[str, Any]:
    """Return the SDKs' request. Source: goplus.auth of the one in Python."""
    text = f"{key}{time}{secret}"
    sign = hashlib.sha1(text.encode(), usedforsecurity=False).hexdigest()
    return {"app_key": key, "sign": sign, "time": time}


async def token_for(client: httpx.AsyncClient, **body: Any) -> dict[str, Any]:
    response = await client.post("/goplus/api/v1/token", json=body)
    assert response.status_code == 200
    sent: dict[str, Any] = response.json()
    return sent


async def test_an_access_token_lives_a_day_or_as_long_as_its_key(
    world: World, client: httpx.AsyncClient
) -> None:
    lasting, trial = world.new_key(), world.new_key("trial")
    for key, left_s in ((lasting, 86_400), (trial, 3_600)):
        if key == trial:
            world.clock.now_s += 14 * 86_400 - 3_600
        token_answer = await token_for(client, **signed(key, key, int(world.clock.now_s)))
        assert token_answer == {
            "code": 1,
            "message": "OK",
            "result": {"access_token": key, "expires_in": left_s},
        }


@pytest.mark.parametrize(
    ("secret", "time", "code"),
    [
        ("another", MINED_AT_S, 4012),
        (None, str(MINED_AT_S), 1),
        (None, MINED_AT_S - 601, 4011),
        (None, MINED_AT_S + 601, 4011),
        (None, "soon", 4011),
        (None, -1, 4011),
        (None, "9" * 5_000, 4011),
    ],
)
async def test_a_signature_is_checked(
    world: World, client: httpx.AsyncClient, secret: str | None, time: Any, code: int
) -> None:
    key = world.new_key()
    token_answer = await token_for(client, **signed(key, secret or key, time))
    assert (token_answer["code"], token_answer["result"] is None) == (code, code != 1)


async def test_a_key_that_is_no_good_gets_no_token(world: World, client: httpx.AsyncClient) -> None:
    token_answer = await token_for(client, **signed("made up", "made up", MINED_AT_S))
    assert (token_answer["code"], token_answer["result"]) == (4010, None)
    trial = world.new_key("trial")
    world.clock.now_s += 14 * 86_400
    token_answer = await token_for(client, **signed(trial, trial, int(world.clock.now_s)))
    assert (token_answer["code"], token_answer["result"]) == (4010, None)


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"[]", b'{"app_key": 1}'])
async def test_what_is_no_request_for_a_token_has_a_code(
    client: httpx.AsyncClient, content: bytes
) -> None:
    response = await client.post("/goplus/api/v1/token", content=content)
    token_answer = response.json()
    assert (response.status_code, token_answer["code"], token_answer["result"]) == (200, 5006, None)
