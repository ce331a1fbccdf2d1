"""A census of sales by real holders predicts which of them really fail, and by which list."""

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.sale_census import CensusSeller, SaleCensus, take_census
from assay.demo.layout import ZooToken
from core.evm.abi import selector_of
from core.evm.primitives import Address
from tests.harness.chain.contexts import LACKING, Lacking, judge, with_node
from tests.harness.chain.transactions import Chain, Sent
from tests.harness.quotes.quote_traps import place, with_traps


@pytest.fixture
def traps(chain: Chain) -> Chain:
    return with_traps(chain)


def buyers(chain: Chain, token: ZooToken, count: int) -> list[Address]:
    """Accounts that have bought, in this order."""
    accounts = [chain.fresh_account() for _ in range(count)]
    for account in accounts:
        assert chain.buy(token, account).success
    return accounts


async def census_of(context: ChainContext, token: ZooToken) -> SaleCensus:
    report = await judge(context, token.address)
    return await take_census(context, token.address, report)


def by_outcome(census: SaleCensus, outcome: str) -> set[Address]:
    return {each.holder for each in census.sellers if each.outcome == outcome}


def really_sells(chain: Chain, token: ZooToken, seller: CensusSeller) -> bool:
    """Sell the amount of the census in a transaction, and undo it."""
    snapshot = chain.node.snapshot()
    sold = chain.sell(token, seller.holder, seller.amount_raw)
    chain.node.revert(snapshot)
    return sold.success


def name_them(chain: Chain, token: ZooToken, accounts: list[Address], named: bool = True) -> Sent:
    sent = chain.send(token.owner, token.address, "name_them(address[],bool)", accounts, named)
    assert sent.success
    return sent


async def test_victims_that_a_list_names_are_found_with_the_transaction_that_named_them(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "VictimListToken")
    accounts = buyers(traps, token, 6)
    first, second = set(accounts[1:3]), accounts[4]
    named = name_them(traps, token, sorted(first))
    traps.mine(5)
    later = name_them(traps, token, [second])
    census = await census_of(context, token)
    assert [each.holder for each in census.sellers] == accounts[::-1]
    assert by_outcome(census, "failed") == {*first, second}
    assert by_outcome(census, "sold") == set(accounts) - {*first, second}
    for seller in census.sellers:
        assert really_sells(traps, token, seller) == (seller.outcome == "sold")
        if seller.outcome == "sold":
            assert seller.decided_by == ()
            continue
        (decided,) = seller.decided_by
        assert (decided.entry.word, decided.entry.passing_word) == (1, 0)
        assert seller.reason.endswith("TRANSFER_FROM_FAILED")
        write = decided.write
        assert write is not None
        assert write.is_traced
        assert write.tx_hash == (later if seller.holder == second else named).hash
        assert (write.sender, write.to) == (token.owner, token.address)
        assert write.function == selector_of("name_them(address[],bool)")


async def test_an_empty_list_holds_nobody_back(traps: Chain, context: ChainContext) -> None:
    token = place(traps, "VictimListToken")
    accounts = buyers(traps, token, 3)
    name_them(traps, token, accounts)
    name_them(traps, token, accounts, named=False)
    census = await census_of(context, token)
    assert by_outcome(census, "sold") == set(accounts)
    assert all(really_sells(traps, token, each) for each in census.sellers)


async def test_a_tax_for_some_is_another_tax(traps: Chain, context: ChainContext) -> None:
    token = place(traps, "VictimTaxToken")
    accounts = buyers(traps, token, 3)
    victim = accounts[0]
    set_share = traps.send(token.owner, token.address, "setShare(address,uint256)", victim, 40)
    assert set_share.success
    census = await census_of(context, token)
    assert census.usual_tax == pytest.approx(2)
    assert by_outcome(census, "other_tax") == {victim}
    (seller,) = (each for each in census.sellers if each.holder == victim)
    assert seller.tax == pytest.approx(42)
    (decided,) = seller.decided_by
    assert decided.entry.word == 40
    assert decided.write is not None
    assert decided.write.tx_hash == set_share.hash


async def test_a_list_in_another_contract_is_found(traps: Chain, context: ChainContext) -> None:
    token = place(traps, "RegisterToken")
    register = traps.deploy("Register", sender=token.owner)
    assert traps.send(token.owner, token.address, "setRegister(address)", register).success
    accounts = buyers(traps, token, 3)
    marked = traps.send(token.owner, register, "mark(address,uint256)", accounts[1], 7)
    census = await census_of(context, token)
    assert by_outcome(census, "failed") == {accounts[1]}
    (seller,) = (each for each in census.sellers if each.holder == accounts[1])
    (decided,) = seller.decided_by
    assert decided.entry.variable.contract == register
    assert decided.write is not None
    assert decided.write.tx_hash == marked.hash


async def test_old_buyers_are_held_back_by_what_their_purchase_wrote(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "OldBuyersToken")
    old = buyers(traps, token, 2)
    traps.wait(60, blocks=2)
    since = traps.node.head_time()
    assert traps.send(token.owner, token.address, "setSince(uint256)", since).success
    new = buyers(traps, token, 2)
    census = await census_of(context, token)
    assert by_outcome(census, "failed") == set(old)
    assert by_outcome(census, "sold") == set(new)
    for seller in census.sellers:
        assert really_sells(traps, token, seller) == (seller.outcome == "sold")
        if seller.outcome == "failed":
            (decided,) = seller.decided_by
            assert decided.write is not None
            assert seller.bought is not None
            assert decided.write.tx_hash == seller.bought.tx_hash


@pytest.mark.parametrize("method", ["traces", "calls"])
async def test_a_node_that_simulates_less_gives_the_same_or_no_answer(
    traps: Chain, context: ChainContext, method: str
) -> None:
    token = place(traps, "VictimListToken")
    accounts = buyers(traps, token, 3)
    named = name_them(traps, token, accounts[:1])
    lacking = with_node(context, Lacking(context.node, LACKING[method]))
    census = await census_of(lacking, token)
    outcomes = {each.holder: each.outcome for each in census.sellers}
    if method == "calls":
        assert set(outcomes.values()) == {"unknown"}
        return
    assert outcomes == {accounts[0]: "failed", accounts[1]: "sold", accounts[2]: "sold"}
    (seller,) = (each for each in census.sellers if each.outcome == "failed")
    (decided,) = seller.decided_by
    assert decided.write is not None
    assert decided.write.tx_hash == named.hash


async def test_a_late_census_leaves_out_causes_and_keeps_sales(
    traps: Chain, context: ChainContext
) -> None:
    token = place(traps, "VictimListToken")
    accounts = buyers(traps, token, 2)
    name_them(traps, token, accounts[:1])
    report = await judge(context, token.address)
    census = await take_census(context, token.address, report, until_s=0.0)
    assert by_outcome(census, "failed") == {accounts[0]}
    assert all(each.decided_by == () for each in census.sellers)
    assert not census.has_lists_searched
