"""Protects kin in route, tool and page: verdicts are shown; an unknown is not none."""

from typing import Any

import msgspec
import pytest

from assay.service.record_report import record_report
from config.settings import PublicSettings
from core.evm.code_shape import PARTS, CodeShape
from core.evm.primitives import Address
from sql.engine.store import Store
from tests.harness.api.mcp_client import agent, call
from tests.harness.api.open_port import on_network
from tests.harness.api.world import World
from tests.harness.bare_reports import bare_report
from tests.harness.store.sample_rows import LATER, address, bare_verdict

ASKED = address(1)
READER = {"Accept": "text/html"}
SHAPES = (
    CodeShape(digest=bytes(16), sketch=bytes(2 * PARTS)),
    CodeShape(digest=bytes([1] * 16), sketch=bytes(2 * PARTS - 32) + bytes([1] * 32)),
)
"""Seven eighths in common."""


@pytest.fixture
def filled(world_store: Store) -> Store:
    """Store the requested token, without an analysis, and 24 dangerous ones of its creator and
    symbol."""
    for number in range(1, 26):
        plain = bare_report(address(number), scanned_at_s=number)
        head = msgspec.structs.replace(plain.token, chain_id=1, creator_address=address(90))
        report = msgspec.structs.replace(plain, token=head, shape=SHAPES[number % 2])
        record_report(world_store, report, LATER, None if number == 1 else bare_verdict("danger"))
    return world_store


async def ask(world: World, store: Store | None, token: Address) -> dict[str, Any]:
    answer = await world.client(store=store).get(
        f"/token/ethereum/{token}/kin", headers={"X-API-Key": world.new_key()}
    )
    assert answer.status_code == 200, answer.text
    return msgspec.json.decode(answer.content, type=dict[str, Any])


async def test_kin_are_counted_and_the_first_shown(world: World, filled: Store) -> None:
    answer = await ask(world, filled, ASKED)
    assert answer["is_analysed"]
    assert answer["creator"].lower() == address(90)
    for kin in (answer["same_creator"], answer["look_alikes"]):
        assert (kin["counted"], kin["has_more"], len(kin["tokens"])) == (24, False, 20)
        assert kin["verdicts"] == [{"verdict": "danger", "tokens": 24}]
    assert answer["same_creator"]["tokens"][0]["contract_address"].lower() == address(25)
    assert answer["code_shape"] == "0x" + "01" * 16
    assert (answer["same_code"]["counted"], answer["similar_code"]["counted"]) == (12, 12)
    assert {one["similarity"] for one in answer["similar_code"]["tokens"]} == {0.88}
    assert {one["similarity"] for one in answer["same_code"]["tokens"]} == {None}
    assert (answer["funder"], answer["same_funder"]) == (None, None)


async def test_of_a_token_without_report_nothing_is_known(world: World, filled: Store) -> None:
    answer = await ask(world, filled, address(77))
    assert not answer["is_analysed"]
    known = {key: value for key, value in answer.items() if value is not None}
    assert known.keys() == {"chain", "contract_address", "is_analysed"}


async def test_the_tool_says_what_the_route_says(world: World, filled: Store) -> None:
    key = world.new_key("pro")
    async with on_network(world, store=filled) as base, agent(base, {"X-API-Key": key}) as client:
        tool_answer = await call(client, "token_kin", chain="ethereum", address=ASKED)
        assert tool_answer == (False, await ask(world, filled, ASKED))
        is_error, _ = await call(client, "token_kin", chain="ethereum", address="0x12")
        assert is_error


async def test_the_page_has_a_table_for_each_known_list(world: World, filled: Store) -> None:
    client = world.client(store=filled)
    answer = await client.get(f"/t/1/{ASKED}/kin", headers=READER)
    assert answer.status_code == 200
    assert answer.text.count("<tbody>") == 4
    assert "88.00 %" in answer.text
    assert ": 24. Could not be sold: 0." in answer.text
    assert "Unknown: who funded its creator is not known." in answer.text
    unknown = await client.get(f"/t/1/{address(77)}/kin", headers=READER)
    assert "Unknown: the token was not analysed." in unknown.text
    wrong = await client.get("/t/1/0x12/kin", headers=READER)
    assert (wrong.status_code, "Unknown: " in wrong.text) == (422, True)
    down = await world.client().get(f"/t/1/{ASKED}/kin", headers=READER)
    assert (down.status_code, "Unknown: " in down.text) == (503, True)


async def test_the_page_is_for_whom_the_pages_are(world: World, filled: Store) -> None:
    closed = world.client(store=filled, public=PublicSettings(is_open=False))
    assert (await closed.get(f"/t/1/{ASKED}/kin", headers=READER)).status_code == 401


@pytest.mark.parametrize(("chain", "token"), [("ethereum", "0x12"), ("nowhere", ASKED)])
async def test_a_wrong_path_is_named(world: World, filled: Store, chain: str, token: str) -> None:
    client = world.client(store=filled)
    answer = await client.get(f"/token/{chain}/{token}/kin", headers={"X-API-Key": world.new_key()})
    assert answer.status_code == 422


async def test_a_key_is_needed_and_a_store(world: World, filled: Store) -> None:
    path = f"/token/ethereum/{ASKED}/kin"
    assert (await world.client(store=filled).get(path)).status_code == 401
    without = await world.client().get(path, headers={"X-API-Key": world.new_key()})
    assert without.status_code == 503
