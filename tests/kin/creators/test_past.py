"""Oracle for what ended functions and earlier code may have done since the creation."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from tests.harness.chain.contexts import Lacking, judge, with_node
from tests.harness.chain.transactions import Chain
from tests.kin.creators.test_creation_state import KEEPER, MEANS, PAIR, chain, evidence_of, made

__all__ = ["chain"]

pytestmark = [pytest.mark.compiler, pytest.mark.process]


@pytest.mark.parametrize(
    ("contract", "call", "given", "is_unproved"),
    [
        ("PastPoke", "poke(uint256,uint256)", (7, 10**30), True),
        ("PastGrant", "grant(address,address)", (PAIR, KEEPER), True),
        ("PastFlags", "setUp(address,address)", (PAIR, KEEPER), False),
    ],
)
async def test_what_the_owner_could_do_before_it_renounced_counts(
    chain: Chain,
    context: ChainContext,
    contract: str,
    call: str,
    given: tuple[object, ...],
    *,
    is_unproved: bool,
) -> None:
    token, owner = made(chain, contract), chain.world.owner
    assert chain.send(owner, token, call, *given).success
    assert chain.send(owner, token, "renounce()").success
    report = await judge(context, token)
    assert report.scan.unproved_custody is is_unproved, evidence_of(report, "unproved_custody:past")
    blind = await judge(
        with_node(context, Lacking(context.node, (*MEANS["repeated"], "debug_traceCall"))), token
    )
    assert blind.scan.unproved_custody is (None if is_unproved else False)


async def test_what_nobody_could_do_after_the_creation_is_no_past(
    chain: Chain, context: ChainContext
) -> None:
    report = await judge(context, made(chain, "NeverOwned"))
    assert report.scan.unproved_custody is False, evidence_of(report, "unproved_custody:past")


@pytest.mark.parametrize(
    ("logic", "is_shown", "is_unproved"),
    [
        ("EarlierLogic", False, True),
        ("EarlierLogic", True, True),
        ("HonestEarlierLogic", False, False),
    ],
)
async def test_earlier_code_behind_a_proxy_counts(
    chain: Chain, context: ChainContext, logic: str, *, is_shown: bool, is_unproved: bool
) -> None:
    first, last = chain.deploy(logic), chain.deploy("Logic")
    token = chain.deploy("Fronted", first)
    finish = "finish(address,address,bool)"
    assert chain.send(chain.world.owner, token, finish, KEEPER, last, is_shown).success
    report = await judge(context, token)
    assert report.scan.unproved_custody is is_unproved, evidence_of(report, "unproved_custody:past")


async def test_the_code_of_the_creation_is_no_earlier_code(
    chain: Chain, context: ChainContext
) -> None:
    token = chain.deploy("Fronted", chain.deploy("Logic"))
    report = await judge(context, token)
    assert report.scan.unproved_custody is False, evidence_of(report, "unproved_custody:past")
