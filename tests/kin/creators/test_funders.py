"""Protects the funder of a creator: the sender of a real transaction, or none."""

import time
from collections.abc import Iterator, Sequence
from itertools import count
from pathlib import Path

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.token.funding import find_funding
from assay.demo.anvil import ETHER
from assay.demo.layout import named_account
from assay.demo.trader import Call
from assay.service.background.creator_search import Funders
from assay.service.record_report import record_report
from core.errors import UpstreamError
from core.evm.primitives import Address
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from sql.engine.store import Store
from sql.tokens.funder_tables import read_funder
from sql.tokens.kin import find_kin
from tests.harness.bare_reports import bare_report
from tests.harness.chain.contexts import with_node
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode
from tests.harness.node.faults import Hindered
from tests.harness.store.sample_rows import LATER

pytestmark = pytest.mark.process

FORWARDER = "0x5f5f5f5f345f355af100"
"""Sends the coins of a call on to the address in its data."""
_NUMBERS = count()


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store.open(Path(":memory:"))
    yield store
    store.close()


def new_account() -> Address:
    """Without coins."""
    return named_account(f"funded {next(_NUMBERS)}")


def pay(chain: Chain, sender: Address, to: Address, *, data: str = "0x", wei: int = ETHER) -> str:
    """The hash of the transaction."""
    call = Call(to=to, data=data, value_wei=wei)
    receipt = chain.node.execute(call.sent_by(sender, gas=200_000))
    assert receipt["status"] == "0x1"
    return str(receipt["transactionHash"])


def head(chain: Chain) -> int:
    return chain.node.head_number()


async def test_the_sender_of_the_first_coins_is_named(chain: Chain, context: ChainContext) -> None:
    first, second, account = chain.fresh_account(), chain.fresh_account(), new_account()
    chain.mine(300)
    paid = pay(chain, first, account)
    at = head(chain)
    pay(chain, second, account)
    chain.mine(40)
    pay(chain, account, second, wei=1)
    chain.mine(300)
    counting = CountingNode(context.node)
    found = await find_funding(counting, account, used_by=head(chain))
    assert found is not None
    assert (found.block_number, found.funder, found.tx_hash) == (at, first, paid)
    assert counting.trips <= 5
    assert await find_funding(context.node, account, used_by=at - 1) is None


async def test_coins_out_of_a_contract_name_nobody(chain: Chain, context: ChainContext) -> None:
    contract, account = new_account(), new_account()
    chain.node.rpc("anvil_setCode", contract, FORWARDER)
    sender = chain.fresh_account()
    pay(chain, sender, contract, data="0x" + account[2:].rjust(64, "0"))
    at = head(chain)
    chain.mine(3)
    found = await find_funding(context.node, account, used_by=head(chain))
    assert found is not None
    assert (found.block_number, found.funder, found.tx_hash) == (at, None, None)


async def test_coins_of_the_genesis_name_nobody(chain: Chain, context: ChainContext) -> None:
    rich = chain.node.accounts()[-1]
    found = await find_funding(context.node, rich, used_by=head(chain))
    assert found is not None
    assert (found.block_number, found.funder) == (0, None)


async def test_coins_of_two_ways_in_one_block_name_nobody(
    chain: Chain, context: ChainContext
) -> None:
    """Their order is not visible."""
    contract, account = new_account(), new_account()
    chain.node.rpc("anvil_setCode", contract, FORWARDER)
    senders = [chain.fresh_account(), chain.fresh_account()]
    chain.node.rpc("evm_setAutomine", False)
    try:
        through = Call(to=contract, data="0x" + account[2:].rjust(64, "0"), value_wei=ETHER)
        chain.node.send(through.sent_by(senders[0], gas=200_000))
        chain.node.send(Call(to=account, data="0x", value_wei=1).sent_by(senders[1], gas=50_000))
        chain.mine()
    finally:
        chain.node.rpc("evm_setAutomine", True)
    found = await find_funding(context.node, account, used_by=head(chain))
    assert found is not None
    assert (found.block_number, found.funder) == (head(chain), None)


async def test_a_node_that_has_forgotten_is_not_believed(
    chain: Chain, context: ChainContext
) -> None:
    account = new_account()
    pay(chain, chain.fresh_account(), account)
    forgotten = RpcFault(code=-32000, message="missing trie node")
    for method in ("eth_getBalance", "eth_getTransactionCount", "eth_getBlockByNumber"):
        with pytest.raises(UpstreamError):
            await find_funding(
                Hindered(context.node, method, answer=forgotten), account, used_by=head(chain)
            )


async def test_a_node_that_lies_about_old_balances_names_nobody(
    chain: Chain, context: ChainContext
) -> None:
    """It has no old state and reports a balance of zero: a later payment looks like the first."""
    first, second, account = chain.fresh_account(), chain.fresh_account(), new_account()
    pay(chain, first, account)
    chain.mine(20)
    pay(chain, second, account)
    at = head(chain)

    class Forgetful(CountingNode):
        async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
            answers = await super().batch(requests)
            return [
                msgspec.Raw(b'"0x0"')
                if request.method != "eth_getBlockByNumber" and int(str(request.params[1]), 16) < at
                else answer
                for request, answer in zip(requests, answers, strict=True)
            ]

    found = await find_funding(Forgetful(context.node), account, used_by=at)
    assert found is not None
    assert (found.block_number, found.funder) == (at, None)


# --- in the background --------------------------------------------------------------------------


def funders(context: ChainContext, store: Store, clock: list[float]) -> Funders:
    return Funders(
        contexts={"ethereum": context},
        store=store,
        settings=context.settings,
        now_s=lambda: clock[0],
    )


def put_report(store: Store, token: Address, creator: Address) -> None:
    plain = bare_report(token)
    named = msgspec.structs.replace(plain.token, creator_address=creator)
    record_report(store, msgspec.structs.replace(plain, token=named), LATER)


async def test_creators_of_one_funder_are_kin_once_their_blocks_are_final(
    chain: Chain, context: ChainContext, store: Store
) -> None:
    funder, clock = chain.fresh_account(), [time.time()]
    made = []
    for _ in range(2):
        creator = new_account()
        pay(chain, funder, creator)
        token = chain.deploy("HonestToken", "Made", "MADE", sender=creator)
        put_report(store, token, creator)
        made.append((token, creator))
    job = funders(context, store, clock)
    for _ in made:
        await job.go("ethereum")
    assert read_funder(store, chain_id=1, account=made[0][1]) is None  # its block is not final
    chain.mine(context.chain.finality_blocks)
    clock[0] += 3_601
    for _ in made:
        await job.go("ethereum")
    found = find_kin(store, chain_id=1, address=made[0][0])
    assert found is not None
    assert found.funder is not None
    assert (found.funder.funder, found.funder.accounts) == (funder, 2)
    assert [one.address for one in found.funder.tokens] == [made[1][0]]


async def test_an_account_is_looked_up_once_and_a_node_that_forgot_is_asked_again_later(
    chain: Chain, context: ChainContext, store: Store
) -> None:
    funder, creator, clock = chain.fresh_account(), new_account(), [time.time()]
    pay(chain, funder, creator)
    chain.mine(context.chain.finality_blocks)
    put_report(store, new_account(), creator)
    forgotten = RpcFault(code=-32000, message="missing trie node")
    pruned = with_node(context, Hindered(context.node, "eth_getBalance", answer=forgotten))
    await funders(pruned, store, clock).go("ethereum")
    clock[0] += 3_601
    counting = CountingNode(context.node)
    job = funders(with_node(context, counting), store, clock)
    await job.go("ethereum")
    assert not counting.calls  # not yet
    clock[0] += 86_400
    await job.go("ethereum")
    row = read_funder(store, chain_id=1, account=creator)
    assert row is not None
    assert row.funder == funder
    calls_before = counting.calls
    put_report(store, new_account(), creator)  # another token of the same creator
    clock[0] += 86_400
    await job.go("ethereum")
    assert counting.calls == calls_before
