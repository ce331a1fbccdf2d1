"""The oracle for untested conditions: what is called, and by which gate the storage is written."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code
from assay.demo.layout import VenueKey
from core.report.report import Report
from tests.harness.chain.contexts import judge, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_cases import COUNTER, condition, plan, word
from tests.harness.conditions.condition_traps import add_pool, place, with_traps
from tests.harness.node.counting import CountingNode


def sales_of(report: Report) -> list[str]:
    assert report.pools is not None
    return [str(pool.sell) for pool in report.pools]


@pytest.mark.parametrize("venue", ["v3", "solid"])
async def test_a_second_pool_leaves_no_question_open(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    chain = with_traps(chain)
    token = place(chain, "PurseReaderToken", knows_pair=True)
    add_pool(chain, token, venue)
    report = await judge(context, token.address)
    assert sales_of(report) == ["passed", "passed"]
    assert report.scan.sell_depends_on_conditions is False
    assert report.scan.untested_conditions is False


@pytest.mark.parametrize("venue", ["v3", "solid"])
async def test_what_holds_in_the_deepest_pool_is_played_in_the_others(
    chain: Chain, context: ChainContext, venue: VenueKey
) -> None:
    chain = with_traps(chain)
    token = place(chain, "SecondPoolToken", knows_pair=True)
    alone = await judge(context, token.address)
    add_pool(chain, token, venue)
    report = await judge(context, token.address)
    assert sales_of(report) == ["passed", "passed"]
    assert alone.scan.sell_depends_on_conditions is False
    assert report.scan.sell_depends_on_conditions is True


async def test_a_plain_token_asks_no_more_in_its_second_pool(
    chain: Chain, context: ChainContext
) -> None:
    chain = with_traps(chain)
    token = place(chain, "NeverSetToken")
    add_pool(chain, token, "v3")
    node = CountingNode(context.node)
    report = await judge(with_node(context, node), token.address)
    assert report.scan.sell_depends_on_conditions is False
    keys = [row.key for row in report.evidence if row.key.startswith("untested_conditions:")]
    assert len(keys) == 1


@pytest.mark.parametrize(
    ("contract", "is_untested", "is_owners"),
    [
        ("NeverSetToken", False, False),
        ("SetLaterToken", False, True),
        ("SetByAnybodyToken", True, False),
    ],
)
async def test_a_call_to_address_zero_passes_until_somebody_sets_it(
    chain: Chain, context: ChainContext, contract: str, *, is_untested: bool, is_owners: bool
) -> None:
    chain = with_traps(chain)
    token = place(chain, contract)
    scan = (await judge(context, token.address)).scan
    assert (scan.untested_conditions, scan.hidden_owner_controls) == (is_untested, is_owners)
    trader, refuser = chain.fresh_account(), chain.deploy("Refuser")
    assert chain.buy(token, trader).success
    assert chain.sell(token, trader, 10**18).success
    was_set = chain.send(token.owner, token.address, "setWallet(address)", refuser).success
    assert was_set is (is_untested or is_owners)
    assert chain.sell(token, trader, 10**18).success is not was_set


async def test_a_role_with_counted_members_is_a_gate(chain: Chain, context: ChainContext) -> None:
    chain = with_traps(chain)
    token = place(chain, "RolePauseToken")
    report = await judge(context, token.address)
    assert report.scan.untested_conditions is False
    stranger = chain.fresh_account()
    assert not chain.send(stranger, token.address, "setPaused(bool)", True).success
    assert chain.send(token.owner, token.address, "setPaused(bool)", True).success
    assert not chain.buy(token, stranger).success


@pytest.mark.parametrize(
    ("contract", "sources"), [("AdministeredProxy", set()), ("OpenProxy", {"unguarded"})]
)
async def test_an_admin_who_is_not_passed_on_guards_its_own_slot(
    chain: Chain, contract: str, sources: set[str]
) -> None:
    chain = with_traps(chain)
    code = chain.deploy("HonestToken", "Odd", "ODD")
    proxy = chain.deploy(contract, code)
    runtime = bytes.fromhex(str(chain.node.rpc("eth_getCode", proxy, "latest"))[2:])
    found = analyse_code(runtime).conditions
    assert {source for each in found.conditions for source in each.sources} == sources
    stranger = chain.fresh_account()
    chain.send(stranger, proxy, "changeAdmin(address)", stranger)
    # An admin is not passed on to the token.
    is_admin = not chain.send(stranger, proxy, "approve(address,uint256)", proxy, 1).success
    assert is_admin is bool(sources)


def test_proceeds_of_an_own_swap_are_a_number() -> None:
    """A counter that decides with them how the proceeds are shared is solved."""
    share = ("DIV", ("MUL", ("slot", 3), "proceeds"), 100)
    left = condition(
        ("GT", ("SUB", "proceeds", share), 0),
        "balance",
        "counter",
        effect="leads",
        written=(COUNTER,),
    )
    found = plan(left, words={word(3): 40})
    assert found.open == ()
    assert {each.value for each in found.what_ifs if each.input == "slot"} == {100}
