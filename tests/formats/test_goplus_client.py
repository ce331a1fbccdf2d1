"""Protects the GoPlus route as its users see it: through the original's own SDK, unchanged."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from goplus.errorcode import Code
from goplus.token import Token
from swagger_client.configuration import Configuration

from core.errors import TokenRefusedError
from core.evm.primitives import Address
from tests.harness.api.many_tokens import OTHERS, ManyTokens
from tests.harness.api.open_port import on_network
from tests.harness.api.sample_reports import (
    DEAD,
    OWNER,
    PAIR,
    QUOTE,
    TOKEN,
    TOKEN_SHOWN,
    make_holder,
    make_pool,
    make_report,
)
from tests.harness.api.world import PLANS, World

V4_ID = "0x" + "cd" * 32


@pytest.fixture
def point_at() -> Iterator[Callable[[str], None]]:
    """Sets the host that the SDK calls, as its documentation has it."""
    before = Configuration()

    def point(base: str) -> None:
        ours = Configuration()
        ours.host = f"{base}/goplus"
        Configuration.set_default(ours)

    yield point
    Configuration.set_default(before)


PointAt = Callable[[str], None]


async def ask(key: str | None, addresses: list[str], chain: str = "1") -> Any:
    """The answer, as the SDK's objects."""

    def run() -> Any:
        token = Token(access_token=key)
        try:
            return token.token_security(chain, addresses)
        finally:
            for api in (token.api, token.solana_api, token.sui_api):
                api.api_client.pool.close()
                api.api_client.pool.join()

    return await asyncio.to_thread(run)


@pytest.mark.parametrize("form", ["{}", "Bearer {}"])
async def test_the_sdk_reads_every_field(world: World, point_at: PointAt, form: str) -> None:
    world.analysis.outcome = make_report(
        pools=(
            make_pool(dex="Uniswap V2", buy_tax=7.0, sell_tax=12.5),
            make_pool(
                ordinal=1,
                pool=QUOTE,
                kind="AmmV4",
                dex="Uniswap V4",
                pool_id=V4_ID,
                liquidity_usd=1234.5,
            ),
        ),
        holders=(
            make_holder(PAIR, 5 * 10**23),
            make_holder(DEAD, 25 * 10**22, at=1),
            make_holder(OWNER, 1, at=2),
        ),
        owner_address=OWNER,
        ownership_renounced=False,
        creator_balance_raw=2 * 10**22,
    )
    async with on_network(world) as base:
        point_at(base)
        answer = await ask(form.format(world.new_key()), [TOKEN_SHOWN])
    assert (answer.code, answer.message) == (Code.SUCCESS, "OK")
    (token,) = answer.result.values()
    assert list(answer.result) == [TOKEN]
    assert (token.token_name, token.token_symbol, token.total_supply) == (
        "Sample",
        "SMP",
        "1000000",
    )
    assert (token.buy_tax, token.sell_tax) == ("0.07", "0.125")
    assert (token.owner_address, token.creator_address) == (OWNER, OWNER)
    assert (token.creator_balance, token.creator_percent) == ("20000", "0.02")
    assert (token.is_in_dex, token.cannot_buy, token.is_honeypot) == ("1", "0", "0")
    assert [(pool.name, pool.liquidity, pool.pair) for pool in token.dex] == [
        ("UniswapV2", "50000", PAIR),
        ("UniswapV4", "1234.5", V4_ID),
    ]
    assert [
        (h.address, h.tag, h.is_contract, h.balance, h.percent, h.is_locked) for h in token.holders
    ] == [
        (PAIR, "UniswapV2", 1, "500000", "0.5", 0),
        (DEAD, "Burn Address", None, "250000", "0.25", 1),
        (OWNER, "", None, "0.000000000000000001", "0.000000000000000000000001", 0),
    ]
    for never in ("holder_count", "lp_holders", "lp_total_supply", "trust_list", "cannot_sell_all"):
        assert getattr(token, never) is None


async def test_several_tokens_those_without_a_result_are_absent(
    world: World, point_at: PointAt
) -> None:
    analysis = ManyTokens()
    analysis.outcomes = {OWNER: TokenRefusedError(code="not_a_contract", reason="no code")}
    async with on_network(world, analysis=analysis) as base:
        point_at(base)
        answer = await ask(world.new_key(), [PAIR, OWNER, TOKEN_SHOWN, TOKEN])
    assert answer.code == Code.SUCCESS
    assert list(answer.result) == [PAIR, TOKEN]


async def test_what_is_unfinished_says_so(world: World, point_at: PointAt) -> None:
    pending = make_report(is_settled=False, pools=(make_pool(sell="pending", sell_tax=None),))
    async with on_network(world) as base:
        point_at(base)
        world.analysis.outcome = pending
        answer = await ask(world.new_key(), [TOKEN])
        assert answer.code == Code.DATA_PENDING_SYNC
        assert answer.result[TOKEN].buy_tax == "0"
        assert (answer.result[TOKEN].sell_tax, answer.result[TOKEN].is_honeypot) == (None, None)
        world.analysis.outcome = make_report()
        world.clock.now_s += 1
        assert (await ask(world.new_key(), [TOKEN])).code == Code.SUCCESS


async def test_a_slow_token_is_missing_and_can_be_asked_for_again(
    world: World, point_at: PointAt
) -> None:
    analysis = ManyTokens()
    analysis.slow = {OWNER}
    async with on_network(world, analysis=analysis, batch_wait_s=0.0) as base:
        point_at(base)
        answer = await ask(world.new_key(), [OWNER, TOKEN])
        assert (answer.code, list(answer.result)) == (Code.DATA_PENDING_SYNC, [TOKEN])
        answer = await ask(world.new_key(), [OWNER])
        assert (answer.code, answer.result) == (Code.DATA_PENDING_SYNC, {})


@pytest.mark.parametrize(
    ("refusal", "code"),
    [
        (TokenRefusedError(code="not_a_contract", reason="x"), Code.NON_CONTRACT_ADDRESS),
        (TokenRefusedError(code="not_a_token", reason="x"), Code.CONTRACT_INFO_NOT_FOUND),
        (ValueError("secret"), Code.SERVER_ERROR),
    ],
)
async def test_nothing_found_has_a_code_of_its_own(
    world: World, point_at: PointAt, refusal: Exception, code: int
) -> None:
    world.analysis.outcome = refusal
    async with on_network(world) as base:
        point_at(base)
        answer = await ask(world.new_key(), [TOKEN])
    assert (answer.code, answer.result) == (code, {})
    assert "secret" not in answer.message


@pytest.mark.parametrize("key", [None, "", "Bearer", "Bearer "])
async def test_no_key(world: World, point_at: PointAt, key: str | None) -> None:
    async with on_network(world) as base:
        point_at(base)
        answer = await ask(key, [TOKEN])
    assert (answer.code, answer.result) == (Code.TOKEN_NOT_FOUND, {})


async def test_a_key_that_is_no_good(world: World, point_at: PointAt) -> None:
    spent = world.ledger.create_key(PLANS["trial"], "test", world.clock.now_s)
    world.count(spent.row.key_id, 100, at_s=world.clock.now_s)
    async with on_network(world) as base:
        point_at(base)
        assert (await ask("tsk_live_made_up", [TOKEN])).code == Code.INVALID_TOKEN
        answer = await ask(spent.plaintext, [TOKEN])
        assert answer.code == Code.INVALID_TOKEN  # not the code for waiting
        world.clock.now_s += 14 * 86_400
        assert (await ask(spent.plaintext, [TOKEN])).code == Code.INVALID_TOKEN


async def test_limits_count_each_token(world: World, point_at: PointAt) -> None:
    key = world.new_key("trial")
    async with on_network(world, analysis=ManyTokens()) as base:
        point_at(base)
        answer = await ask(key, list(OTHERS[:7]))
        assert (answer.code, list(answer.result)) == (Code.DATA_PENDING_SYNC, OTHERS[:5])
        answer = await ask(key, [OTHERS[5]])
        assert (answer.code, answer.result) == (Code.FREQUENCY_OVER_LIMIT, {})


@pytest.mark.parametrize(
    ("chain", "addresses", "code"),
    [
        ("9", [TOKEN], Code.CHAIN_NOT_SUPPORTED),
        ("56", [TOKEN], Code.CHAIN_NOT_SUPPORTED),
        ("1", ["0x12"], Code.ADDRESS_FORMAT_ERROR),
        ("1", [TOKEN, "nonsense"], Code.ADDRESS_FORMAT_ERROR),
        ("1", [" "], Code.PARAM_ERROR),
        ("1", [Address(f"0x{n:040x}") for n in range(51)], Code.PARAM_ERROR),
    ],
)
async def test_what_is_asked_wrongly_costs_nothing(
    world: World, point_at: PointAt, chain: str, addresses: list[str], code: int
) -> None:
    key = world.new_key("trial")
    async with on_network(world, analysis=ManyTokens()) as base:
        point_at(base)
        answer = await ask(key, addresses, chain)
        assert (answer.code, answer.result) == (code, {})
        assert len((await ask(key, list(OTHERS[:5]))).result) == 5
