"""The oracle for untested conditions: what is called, and by which gate the storage is written."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.static.analyse_code import analyse_code
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.conditions.condition_cases import COUNTER, condition, plan, word
from tests.harness.conditions.condition_traps import place, with_traps


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
