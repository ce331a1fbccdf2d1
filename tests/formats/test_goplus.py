"""Protects the rules from our findings to the GoPlus shape, and its bare HTTP side."""

from typing import Any

import httpx
import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from api.formats.goplus_format import TABLE, GoPlusToken, render_goplus
from api.formats.native.field_table import FIELDS
from api.formats.native.native import render_native
from api.formats.summary.summary import render_summary
from core.report.powers import PowerKind
from core.report.report import PoolResultRow, Report
from tests.harness.api.sample_reports import (
    CLOCK,
    LIQUID_USD,
    OWNER,
    PAIR,
    TOKEN,
    make_pool,
    make_report,
    make_static,
    reports,
)
from tests.harness.api.world import World, headers_of

PATH = "/goplus/api/v1/token_security/1"


def goplus(report: Report) -> dict[str, Any]:
    """As it is sent."""
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    sent: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(render_goplus(report, native)))
    return sent


def test_the_table_has_every_key_of_the_shape() -> None:
    assert {*TABLE, "dex", "holders"} == set(GoPlusToken.__struct_fields__)


FROM_CODE = {
    "is_proxy": "is_proxy",
    "mint_or_burn_function": "is_mintable",
    "can_selfdestruct": "selfdestruct",
    "external_call": "external_call",
    "tax_can_be_modified": "slippage_modifiable",
    "has_pause_functionality": "transfer_pausable",
    "has_blacklist_or_whitelist": "is_blacklisted",
    "trading_cooldown": "trading_cooldown",
}


@pytest.mark.parametrize("ours", FROM_CODE)
@pytest.mark.parametrize(("value", "sent"), [(True, "1"), (False, "0"), (None, "absent")])
def test_a_finding_in_the_code(ours: str, value: bool | None, sent: str) -> None:
    changes: dict[str, Any] = {ours: value}
    found = goplus(make_report(static=make_static(**changes)))
    assert found.get(FROM_CODE[ours], "absent") == sent


def test_what_the_code_has_does_not_depend_on_the_owner() -> None:
    """Our own formats send these as false once ownership is renounced; the original does not."""
    code = make_static(
        trading_cap_can_be_modified=True,
        has_trading_cap_functionality=True,
        has_pause_functionality=True,
        pause_status_can_be_modified=True,
    )
    found = goplus(make_report(static=code, ownership_renounced=True))
    assert (found["anti_whale_modifiable"], found["is_anti_whale"]) == ("1", "1")
    assert found["transfer_pausable"] == "1"


@pytest.mark.parametrize(
    ("address", "renounced", "sent"),
    [
        (OWNER, False, OWNER),
        (None, True, ""),
        (None, None, "absent"),
        (None, False, "absent"),
    ],
)
def test_an_owner(address: Any, renounced: bool | None, sent: str) -> None:
    found = goplus(make_report(owner_address=address, ownership_renounced=renounced))
    assert found.get("owner_address", "absent") == sent


@pytest.mark.parametrize(
    ("bypass", "spenders", "sent"),
    [(True, (PAIR,), "1"), (True, (), "absent"), (False, (), "0"), (None, (), "absent")],
)
def test_a_hidden_owner_is_one_who_is_named(bypass: bool | None, spenders: Any, sent: str) -> None:
    found = goplus(make_report(allowance_bypass=bypass, privileged_spenders=spenders))
    assert found.get("hidden_owner", "absent") == sent


@pytest.mark.parametrize(
    ("assessed", "token", "sent"),
    [
        (None, {}, "absent"),
        (True, {}, "1"),
        (False, {}, "0"),
        (None, {"allowance_bypass": True}, "1"),
        (False, {"allowance_bypass": True}, "1"),
        (False, {"allowance_bypass": True, "privileged_spenders": (PAIR,)}, "absent"),
        (False, {"funds_can_be_drained": True}, "absent"),
    ],
)
def test_an_owner_can_do_what_anybody_can(assessed: bool | None, token: Any, sent: str) -> None:
    found = goplus(make_report(owner_can_change_balance=assessed, **token))
    assert found.get("owner_change_balance", "absent") == sent


@given(
    reports(),
    st.sampled_from(["funds_can_be_drained", "allowance_bypass"]),
)
def test_a_token_whose_holders_can_be_robbed_never_looks_clean(report: Report, key: str) -> None:
    token = msgspec.structs.replace(report.token, **{key: True})
    found = goplus(msgspec.structs.replace(report, token=token))
    assert found["is_honeypot"] == "1"
    assert found.get("hidden_owner") != "0"
    assert found.get("owner_change_balance") != "0"
    label = {"funds_can_be_drained": "Others can take", "allowance_bypass": "without your approval"}
    assert label[key] in found["other_potential_risks"]


@given(reports(), st.sampled_from(["disguise", "stop", "withdraw"]))
def test_every_danger_has_a_key_or_words(report: Report, what: PowerKind) -> None:
    """A danger of the summary shows here too, unless it has an original key."""
    powers = tuple(msgspec.structs.replace(power, what=what) for power in report.powers)
    report = msgspec.structs.replace(report, powers=powers)
    native = render_native(report, clock=CLOCK, liquid_above_usd=LIQUID_USD)
    summary = render_summary(
        report, native, chain="ethereum", address=TOKEN, liquid_above_usd=LIQUID_USD
    )
    words = goplus(report).get("other_potential_risks", "")
    own = {check.key or key for key, field in FIELDS.items() if (check := field.check)}
    own -= {"owner_can_change_balance"}
    for flag in summary.flags:
        if flag.status == "danger" and flag.key in own:
            assert flag.label in words


def pool(**changes: Any) -> PoolResultRow:
    return make_pool(**changes)


ENTRY = "0x" + "7e" * 32
COINS = f"{PAIR}{1:012x}{2:012x}"


@pytest.mark.parametrize(
    ("pool_id", "sent"),
    [(None, (PAIR, None)), (ENTRY, (ENTRY, PAIR)), (COINS, (PAIR, None))],
    ids=["contract", "entry of a manager", "two coins of many"],
)
def test_a_pool_is_named_by_what_a_client_can_look_up(pool_id: Any, sent: Any) -> None:
    (found,) = goplus(make_report(pools=(pool(pool=PAIR, pool_id=pool_id),)))["dex"]
    assert (found["pair"], found.get("pool_manager")) == sent


FAILED = {"sell": "refused", "sell_tax": None}
SHUT = {"buy": "refused", "buy_tax": None}
UNTRIED = {"sell": None, "sell_tax": None}


@pytest.mark.parametrize(
    ("pools", "sent"),
    [
        ((pool(sell_tax=12.5),), "0.125"),
        ((pool(sell_tax=100.0),), "1"),
        ((pool(sell_tax=0.0),), "0"),
        ((pool(**UNTRIED), pool(sell_tax=3.0)), "0.03"),
        ((pool(sell="pending", sell_tax=None), pool(sell_tax=3.0)), "0.03"),
        ((pool(**FAILED), pool(sell_tax=3.0)), "0.03"),
        ((pool(**FAILED), pool(**UNTRIED)), "1"),
        ((pool(**UNTRIED),), "absent"),
        ((pool(sell_tax=None),), "absent"),
        ((), "absent"),
        (None, "absent"),
    ],
)
def test_a_tax_is_that_of_a_trade(pools: Any, sent: str) -> None:
    """The tax of a plain transfer, 40 % here, is never reported as that of a trade."""
    found = goplus(make_report(pools=pools, send_tax=40.0, receive_tax=40.0))
    assert found.get("sell_tax", "absent") == sent


@pytest.mark.parametrize(
    ("pools", "token", "sent"),
    [
        ((pool(),), {}, "0"),
        ((pool(**FAILED),), {}, "1"),
        ((pool(**FAILED), pool()), {}, "0"),
        ((pool(**FAILED, **SHUT),), {}, "absent"),
        ((pool(**SHUT, **FAILED),), {"transfer_success": False}, "absent"),
        ((pool(**FAILED, **SHUT), pool(**FAILED)), {}, "1"),
        ((pool(**FAILED, buy=None, buy_tax=None),), {}, "1"),
        ((pool(),), {"transfer_success": False}, "absent"),
        ((pool(**UNTRIED),), {"transfer_success": False}, "1"),
        ((pool(),), {"transfer_success": None}, "absent"),
        ((pool(),), {"funds_can_be_drained": True}, "1"),
        ((pool(),), {"funds_can_be_drained": None}, "absent"),
        ((pool(),), {"allowance_bypass": True}, "1"),
        ((pool(),), {"allowance_bypass": None}, "absent"),
        ((pool(),), {"sell_blocked_later": True}, "1"),
        ((pool(),), {"sell_depends_on_size": True}, "1"),
        ((pool(),), {"sell_tax_rises": True}, "absent"),
        ((pool(**UNTRIED),), {}, "absent"),
        ((pool(sell="pending", sell_tax=None),), {}, "absent"),
        ((), {}, "absent"),
    ],
)
def test_a_honeypot_is_only_denied_by_a_sale(pools: Any, token: Any, sent: str) -> None:
    assert goplus(make_report(pools=pools, **token)).get("is_honeypot", "absent") == sent


@pytest.mark.parametrize(("pools", "sent"), [(None, None), ((), [])])
def test_no_pools_and_not_looked_for_are_not_the_same(pools: Any, sent: Any) -> None:
    found = goplus(make_report(pools=pools))
    assert found.get("dex") == sent
    assert found.get("is_in_dex") == (None if sent is None else "0")


@given(reports())
def test_nothing_unknown_is_sent(report: Report) -> None:
    found = goplus(report)
    assert None not in found.values()
    assert "pending" not in found.values()
    for key, value in found.items():
        if key not in ("dex", "holders"):
            assert isinstance(value, str)
    for share in ("buy_tax", "sell_tax"):
        assert 0 <= float(found.get(share, "0")) <= 1
    assert all(None not in holder.values() for holder in found.get("holders", []))


# --- HTTP --------------------------------------------------------------------------------------


async def test_a_refusal_is_a_200_that_keeps_the_headers(
    world: World, client: httpx.AsyncClient
) -> None:
    key = world.new_key("trial")
    query, headers = {"contract_addresses": TOKEN}, {"Authorization": key}
    for _ in range(5):
        assert (await client.get(PATH, params=query, headers=headers)).json()["code"] == 1
    response = await client.get(PATH, params=query, headers=headers)
    assert (response.status_code, response.json()["code"]) == (200, 4029)
    assert headers_of(response) == {
        "retry-after": "11",
        "x-ratelimit-burst-limit": "5",
        "x-ratelimit-burst-window": "10",
        "x-ratelimit-remaining": "0",
        "x-api-key-expires-at": "2026-10-05T14:13:20Z",
    }


async def test_our_own_header_decides(world: World, client: httpx.AsyncClient) -> None:
    headers = {"Authorization": f"Bearer {world.new_key()}", "X-API-Key": "unknown"}
    response = await client.get(PATH, params={"contract_addresses": TOKEN}, headers=headers)
    assert response.json()["code"] == 4022


async def test_without_the_parameter(world: World, client: httpx.AsyncClient) -> None:
    response = await client.get(PATH, headers={"X-API-Key": world.new_key()})
    assert (response.status_code, response.json()["code"]) == (200, 5006)


async def test_a_ledger_out_of_reach_is_their_server_error(
    world: World, client: httpx.AsyncClient
) -> None:
    world.ledger.close()
    response = await client.get(
        PATH, params={"contract_addresses": TOKEN}, headers={"X-API-Key": "tsk_live_any"}
    )
    assert (response.status_code, response.json()["code"]) == (200, 5000)


async def test_the_routes_of_the_specification_take_no_other_header(
    world: World, client: httpx.AsyncClient
) -> None:
    headers = {"Authorization": f"Bearer {world.new_key()}"}
    for path in (f"/token/1/{TOKEN}", f"/token/1/{TOKEN}/evidence", "/usage"):
        response = await client.get(path, headers=headers)
        assert (response.status_code, response.json()["error_code"]) == (401, "api_key_required")
