"""Protects the creator of a token: an account, found in a final block, or none."""

import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.token.creation import find_creation
from assay.demo.anvil import ETHER, quantity
from assay.demo.demo_launchpads import DIRECT_PAD
from assay.demo.trader import Call
from assay.demo.transaction_pipeline import created_address
from assay.service.background.creator_search import Creators
from assay.service.record_report import record_report
from assay.service.refresh_policy import next_refresh
from assay.service.store_adapter import ReportStore
from config.settings import AnalysisSettings
from core.errors import UpstreamError
from core.evm.abi import call_data
from core.evm.primitives import Address, Hash32
from core.report.rows import LaunchRow
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from sql.chain.launch_tables import insert_launches
from sql.engine.store import Store
from sql.engine.table_rows import CreatorRow
from sql.reports.report_tables import read_report
from sql.tokens.creator_tables import read_creator
from tests.harness.chain.contexts import judge, with_node
from tests.harness.chain.transactions import Chain
from tests.harness.node.counting import CountingNode
from tests.harness.node.faults import Hindered

pytestmark = pytest.mark.process

SUPPLY = 1_000_000 * 10**18


@pytest.fixture
def store() -> Iterator[Store]:
    store = Store.open(Path(":memory:"))
    yield store
    store.close()


def next_made_by(chain: Chain, maker: Address) -> Address:
    nonce = quantity(chain.node.rpc("eth_getTransactionCount", maker, "latest"))
    return created_address(maker, nonce)


def deploy(chain: Chain, creator: Address) -> Address:
    return chain.deploy("HonestToken", "Made", "MADE", sender=creator)


def launch(chain: Chain, creator: Address) -> Address:
    (pad,) = {one.pad for one in chain.world.launched if one.launchpad == DIRECT_PAD}
    token = next_made_by(chain, pad)
    call = Call(to=pad, data=call_data("launch(string,string)", "Pad", "PAD"), value_wei=ETHER)
    assert chain.node.execute(call.sent_by(creator, gas=6_000_000))["status"] == "0x1"
    return token


def clone(chain: Chain, creator: Address) -> Address:
    """Clone by a factory; the token emits nothing before another transaction wakes it."""
    implementation = chain.world.token("clone_1167").address
    factory = chain.world.venues.clones
    token = next_made_by(chain, factory)
    assert chain.send(creator, factory, "clone(address)", implementation).success
    return token


@pytest.mark.parametrize("make", [deploy, launch, clone])
async def test_whose_transaction_made_it_is_found(
    chain: Chain, context: ChainContext, make: object
) -> None:
    assert callable(make)
    chain.mine(70)
    creator = chain.fresh_account()
    token = make(chain, creator)
    born = chain.node.head_number()
    assert await find_creation(context.node, token, final=born - 1) is None
    chain.mine(70)
    chain.transfer(token, creator, chain.fresh_account(), 1)
    counting = CountingNode(context.node)
    found = await find_creation(counting, token, final=chain.node.head_number())
    assert found is not None
    assert (found.creator, found.block_number) == (creator, born)
    assert counting.calls < 70
    receipt = chain.node.rpc("eth_getTransactionReceipt", found.tx_hash)
    assert msgspec.convert(receipt, dict[str, object])["from"] == creator


async def test_a_node_that_has_forgotten_is_not_believed(
    chain: Chain, context: ChainContext
) -> None:
    forgotten = RpcFault(code=-32000, message="missing trie node")
    for method in ("eth_getCode", "eth_getBlockReceipts"):
        node = Hindered(context.node, method, answer=forgotten)
        with pytest.raises(UpstreamError):
            await find_creation(
                node, chain.world.token("honest").address, final=chain.node.head_number()
            )


async def test_a_node_that_lies_about_old_code_names_nobody(
    chain: Chain, context: ChainContext
) -> None:
    """It has no old state and reports no code: the first block it shows is a trade's."""
    token = chain.world.token("honest")
    trader = chain.fresh_account()
    bought = chain.buy(token, trader)
    assert bought.success

    class Forgetful(CountingNode):
        async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
            answers = await super().batch(requests)
            return [
                msgspec.Raw(b'"0x"')
                if request.method == "eth_getCode"
                and int(str(request.params[1]), 16) < bought.sent.block_number
                else answer
                for request, answer in zip(requests, answers, strict=True)
            ]

    found = await find_creation(
        Forgetful(context.node), token.address, final=chain.node.head_number()
    )
    assert found is not None
    assert (found.block_number, found.creator) == (bought.sent.block_number, None)


async def test_the_report_is_amended_and_the_next_one_knows(
    chain: Chain, context: ChainContext, store: Store
) -> None:
    creator = chain.fresh_account()
    token = deploy(chain, creator)
    assert chain.transfer(token, creator, chain.fresh_account(), SUPPLY // 4).success
    known = ChainContext(
        chain=context.chain,
        node=context.node,
        index=ReportStore(store, AnalysisSettings()),
        settings=context.settings,
        now_s=context.now_s,
    )
    clock = [time.time()]
    creators = Creators(
        contexts={"ethereum": known}, store=store, settings=context.settings, now_s=lambda: clock[0]
    )
    report = await judge(known, token)
    record_report(store, report, next_refresh(report, known.settings))
    await creators.go("ethereum")
    young = read_report(store, chain_id=1, address=token)
    assert young is not None
    assert young.token.creator_address is None  # its block is not final
    chain.mine(context.chain.finality_blocks)
    clock[0] += 3_601
    assert chain.transfer(token, creator, chain.fresh_account(), SUPPLY // 4).success
    await creators.go("ethereum")
    amended = read_report(store, chain_id=1, address=token)
    assert amended is not None
    assert amended.token.creator_address == creator
    assert amended.token.creator_balance_raw == SUPPLY * 3 // 4  # at the report's block
    assert read_creator(store, chain_id=1, token=token) is not None
    again = await judge(known, token)
    assert again.token.creator_address == creator
    assert again.token.creator_balance_raw == chain.balance(token, creator) == SUPPLY // 2


# --- tokens whose launch was announced ----------------------------------------------------------


def launched_row(chain: Chain, token: Address, tx_hash: Hash32 | None) -> LaunchRow:
    """As the index keeps an event that names no creator."""
    return LaunchRow(
        chain_id=1,
        token=token,
        slug=DIRECT_PAD,
        emitter=chain.world.issued("seeded").pad,
        creator=None,
        tx_hash=tx_hash,
        block_number=chain.node.head_number(),
        log_index=0,
    )


def last_transaction(chain: Chain) -> Hash32:
    block = chain.node.rpc("eth_getBlockByNumber", "latest", False)
    return Hash32(msgspec.convert(block, dict[str, Any])["transactions"][0])


def launch_bundled(chain: Chain, creator: Address) -> Address:
    """Another account sends the transaction for the creator."""
    (pad,) = {one.pad for one in chain.world.launched if one.launchpad == DIRECT_PAD}
    bundler, token = chain.deploy("Bundler"), next_made_by(chain, pad)
    data = bytes.fromhex(call_data("launch(string,string)", "Pad", "PAD")[2:])
    call = Call(
        to=bundler,
        data=call_data("carryOut(address,address,bytes)", creator, pad, data),
        value_wei=ETHER,
    )
    sender = chain.fresh_account()
    assert chain.node.execute(call.sent_by(sender, gas=6_000_000))["status"] == "0x1"
    return token


async def creator_by_launch(
    chain: Chain,
    context: ChainContext,
    store: Store,
    token: Address,
    row: LaunchRow,
    *,
    refused: str = "eth_getCode",
    why: str = "missing trie node",
) -> CreatorRow | None:
    """Find the creator on a node that refuses a method, at first one without old states."""
    with store.transaction() as tx:
        insert_launches(tx, [row])
    chain.mine(context.chain.finality_blocks)
    node = Hindered(context.node, refused, answer=RpcFault(code=-32000, message=why))
    creators = Creators(
        contexts={"ethereum": with_node(context, node)},
        store=store,
        settings=context.settings,
        now_s=time.time,
    )
    report = await judge(context, token)
    record_report(store, report, next_refresh(report, context.settings))
    await creators.go("ethereum")
    return read_creator(store, chain_id=1, token=token)


async def test_who_sent_the_launch_made_the_token_where_its_event_names_nobody(
    chain: Chain, context: ChainContext, store: Store
) -> None:
    creator = chain.fresh_account()
    token = launch(chain, creator)
    row = launched_row(chain, token, last_transaction(chain))
    found = await creator_by_launch(chain, context, store, token, row)
    assert found is not None
    assert (found.creator, found.block_number) == (creator, row.block_number)
    report = read_report(store, chain_id=1, address=token)
    assert report is not None
    assert report.token.creator_address == creator


@pytest.mark.parametrize("launched", [False, True], ids=["by its code", "by its launch"])
async def test_a_bundler_is_nobodys_creator(
    chain: Chain, context: ChainContext, store: Store, launched: bool
) -> None:
    token = launch_bundled(chain, chain.fresh_account())
    row = launched_row(chain, token, last_transaction(chain))
    if launched:
        kept = await creator_by_launch(chain, context, store, token, row)
        assert kept is not None
        assert (kept.creator, kept.tx_hash) == (None, row.tx_hash)
    else:
        found = await find_creation(context.node, token, final=chain.node.head_number())
        assert found is not None
        assert (found.creator, found.tx_hash) == (None, row.tx_hash)


@pytest.mark.parametrize("named_account", ["another transaction", "one that is gone", "none"])
async def test_a_launch_that_does_not_show_the_making_names_nobody(
    chain: Chain, context: ChainContext, store: Store, named_account: str
) -> None:
    """The node without old states then cannot show it either."""
    token = launch(chain, chain.fresh_account())
    maker = chain.fresh_account()
    deploy(chain, maker)
    hashes = {
        "another transaction": last_transaction(chain),
        "one that is gone": Hash32("0x" + "ab" * 32),
        "none": None,
    }
    row = launched_row(chain, token, hashes[named_account])
    assert await creator_by_launch(chain, context, store, token, row) is None


async def test_a_node_without_the_launchs_receipt_is_asked_for_the_code(
    chain: Chain, context: ChainContext, store: Store
) -> None:
    creator = chain.fresh_account()
    token = launch(chain, creator)
    row = launched_row(chain, token, last_transaction(chain))
    found = await creator_by_launch(
        chain,
        context,
        store,
        token,
        row,
        refused="eth_getTransactionReceipt",
        why="transaction indexing is in progress",
    )
    assert found is not None
    assert found.creator == creator
