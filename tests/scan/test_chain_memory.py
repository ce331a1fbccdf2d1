"""Protects the shared memory of a chain's analyses: it is used as long as allowed, no longer."""

import pytest

from analysis.market.routers import RouterFacts
from analysis.pipeline.chain_memory import CONTRACT_AGE_S, PRICE_AGE_S, ChainMemory
from core.evm.primitives import Address
from tests.harness.clock import HandClock

ROUTER = Address("0x" + "12" * 20)
STABLE = Address("0x" + "34" * 20)


@pytest.fixture
def clock() -> HandClock:
    return HandClock()


def facts(*, has_code: bool) -> RouterFacts:
    return RouterFacts(has_code=has_code, factory=None, forms=())


def test_the_native_price_and_the_oracle_are_believed_for_an_hour(clock: HandClock) -> None:
    memory = ChainMemory(clock)
    assert (memory.recall_native_usd(), memory.has_oracle) == (None, False)
    memory.remember_native_price(2_500.0, has_oracle=True)
    clock.now_s += PRICE_AGE_S - 1
    assert (memory.recall_native_usd(), memory.has_oracle) == (2_500.0, True)
    clock.now_s += 1
    assert (memory.recall_native_usd(), memory.has_oracle) == (None, False)


def test_a_price_that_could_not_be_read_replaces_the_last(clock: HandClock) -> None:
    memory = ChainMemory(clock)
    memory.remember_native_price(2_500.0, has_oracle=True)
    memory.remember_native_price(None, has_oracle=False)
    assert (memory.recall_native_usd(), memory.has_oracle) == (None, False)


def test_routers_and_slots_are_believed_for_a_day(clock: HandClock) -> None:
    memory = ChainMemory(clock)
    memory.remember_routers({ROUTER: facts(has_code=True)})
    memory.remember_balance_slot(STABLE, 9)
    clock.now_s += CONTRACT_AGE_S - 1
    assert memory.recall_routers() == {ROUTER: facts(has_code=True)}
    assert memory.recall_balance_slot(STABLE) == 9
    clock.now_s += 1
    assert memory.recall_routers() == {}
    assert memory.recall_balance_slot(STABLE) is None


def test_a_router_without_code_is_read_again(clock: HandClock) -> None:
    memory = ChainMemory(clock)
    memory.remember_routers({ROUTER: facts(has_code=False)})
    assert memory.recall_routers() == {}
