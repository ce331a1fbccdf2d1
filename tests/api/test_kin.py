"""Protects /token/{chain}/{address}/kin: kin with how they ended; what is not known is not none."""

from typing import Any

import msgspec
import pytest

from core.primitives import Address
from harness.api.world import World
from harness.bare_reports import bare_report
from sql.reports import write_report
from sql.store import Store
from tests.sql.samples import LATER, address, bare_judgement

ASKED = address(1)


@pytest.fixture
def filled(store: Store) -> Store:
    """The asked token, without a judgement, and 24 dangerous ones of its creator and symbol."""
    for number in range(1, 26):
        plain = bare_report(address(number), scanned_at_s=number)
        head = msgspec.structs.replace(plain.token, chain_id=1, creator_address=address(90))
        report = msgspec.structs.replace(plain, token=head)
        write_report(store, report, LATER, None if number == 1 else bare_judgement("danger"))
    return store


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


async def test_of_a_token_without_report_nothing_is_known(world: World, filled: Store) -> None:
    answer = await ask(world, filled, address(77))
    assert not answer["is_analysed"]
    assert (answer["creator"], answer["same_creator"], answer["look_alikes"]) == (None, None, None)


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
