"""Protects packed reads: they return the same as single ones."""

from collections.abc import Sequence

import msgspec
import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.answer_address import pushed_address
from analysis.reads.chain_reads import AnswerAddress, Handle
from analysis.reads.eth_reads import NoAnswer
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.balance_slot import BalanceProbe
from analysis.token.metadata import GETTERS
from analysis.token.ownership import OWNER_GETTERS
from analysis.token.proxy_resolution import STANDARD_SLOTS
from assay.demo.layout import World, named_account
from config.burn import BURN_ADDRESSES
from core.errors import TokenRefusedError
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.node.answers import raw
from tests.harness.node.counting import CountingNode
from tests.harness.node.faults import NO_CODE, UNKNOWN_PARAMETER, WithoutCodeOverrides
from tests.harness.static.proxy_codes import CLONES


def add_reads(batch: ReadBatch, token: Address) -> list[Handle[object]]:
    return [
        batch.code(token),
        *(batch.call(token, getter) for getter in (*GETTERS, *OWNER_GETTERS, "implementation()")),
        *(batch.slot(token, slot) for slot in STANDARD_SLOTS),
        *(batch.call(token, "balanceOf(address)", owner) for owner in sorted(BURN_ADDRESSES)),
        batch.code(named_account("nobody")),
        *(batch.slot(token, Hash32(f"0x{slot:064x}")) for slot in range(12)),
    ]


def batch_result(batch: ReadBatch, handle: Handle[object]) -> object:
    reply = batch[handle]
    return "refused" if isinstance(reply, NoAnswer) else reply


async def test_packed_answers_are_the_plain_ones(
    chain: Chain, context: ChainContext, demo_world: World
) -> None:
    """For every token of the zoo, those that burn gas or return a megabyte included."""
    head = await context.node.fetch_head()
    for token in demo_world.tokens:
        node = CountingNode(context.node)
        packed, plain = ReadBatch(head.hash), ReadBatch(head.hash)
        reads, again = add_reads(packed, token.address), add_reads(plain, token.address)
        await packed.send(node, NodeCapabilities())
        await plain.send(context.node)
        found = [batch_result(packed, one) for one in reads]
        assert found == [batch_result(plain, one) for one in again], token.key
        assert node.calls <= (4 if token.key.startswith("symbol_") else 2), token.key


async def test_reads_that_write_leave_no_trace(
    chain: Chain, context: ChainContext, demo_world: World
) -> None:
    """Any caller may move the balances of this token's holders, so a read can too."""
    head = await context.node.fetch_head()
    token, friend = demo_world.token("bypass_universal"), chain.fresh_account()
    transfer = ("transferFrom(address,address,uint256)", token.holders[0], friend, 1)
    balance = ("balanceOf(address)", friend)
    batch = ReadBatch(head.hash)
    reads = [batch.call(token.address, *each) for each in (transfer, balance, transfer, balance)]
    node = CountingNode(context.node)
    await batch.send(node, NodeCapabilities())
    moved, before, again, after = (batch_result(batch, one) for one in reads)
    assert moved == again != "refused"
    assert before == after == bytes(32)
    assert node.calls == 1


async def test_an_address_of_an_earlier_answer_is_the_same_packed_and_plain(
    chain: Chain, context: ChainContext, demo_world: World
) -> None:
    head = await context.node.fetch_head()
    dex, token = demo_world.venues.v2, demo_world.token("honest")
    results = []
    for capabilities in (NodeCapabilities(), None):
        batch = ReadBatch(head.hash)
        pairs = [
            AnswerAddress(batch.call(dex.factory, "getPair(address,address)", token.address, quote))
            for quote in (token.pool.quote, named_account("no quote"))
        ]
        reserves = [batch.call(pair, "getReserves()") for pair in pairs]
        balance_handles = [batch.call(token.address, "balanceOf(address)", pair) for pair in pairs]
        codes = [batch.code(pair, first_bytes=4) for pair in pairs]
        node = CountingNode(context.node)
        await batch.send(node, capabilities)
        assert [batch.resolve(pair) for pair in pairs] == [token.pool.address, None]
        assert node.trips == (1 if capabilities else 2)
        told_codes = [batch[code][:4] for code in codes]
        results.append(
            [*(batch_result(batch, one) for one in (*reserves, *balance_handles)), *told_codes]
        )
    packed, plain = results
    assert packed == plain
    balance = chain.balance(token.address, token.pool.address)
    assert packed[2] == balance.to_bytes(32)
    assert packed[1] == packed[3] == "refused"


async def test_what_memory_answers_is_not_sent(context: ChainContext, demo_world: World) -> None:
    head = await context.node.fetch_head()
    token = demo_world.token("honest").address
    first = ReadBatch(head.hash)
    reads = add_reads(first, token)
    await first.send(context.node)
    node = CountingNode(context.node)
    again = ReadBatch(head.hash, memory=first.answers(reads[:-1]))
    same = add_reads(again, token)
    await again.send(node, NodeCapabilities())
    assert [batch_result(again, one) for one in same] == [batch_result(first, one) for one in reads]
    assert [request.method for request in node.requests] == ["eth_getStorageAt"]


@pytest.mark.parametrize("form", CLONES)
async def test_the_code_behind_every_clone_comes_in_the_same_trip(
    chain: Chain, context: ChainContext, demo_world: World, form: str
) -> None:
    code, example = CLONES[form]
    token = demo_world.token("honest").address
    behind = str(chain.node.rpc("eth_getCode", token, "latest"))
    target = Address("0x00000000" + "be" * 16) if example.startswith("0x00000000") else token
    chain.node.rpc("anvil_setCode", target, behind)
    clone = named_account(form)
    bare = target[10 if example.startswith("0x00000000") else 2 :]
    chain.node.rpc("anvil_setCode", clone, "0x" + code.format(bare))
    chain.mine()
    head = await context.node.fetch_head()
    assert pushed_address(bytes.fromhex(code.format(bare))) == target
    batch = ReadBatch(head.hash)
    found = batch.code(AnswerAddress(batch.code(clone)))
    padding = batch.code(target)
    node = CountingNode(context.node)
    await batch.send(node, NodeCapabilities())
    assert batch[found] == bytes.fromhex(behind[2:]) == batch[padding]
    assert node.calls == 1


async def test_balance_slots_are_found_together(
    chain: Chain, context: ChainContext, demo_world: World
) -> None:
    head = await context.node.fetch_head()
    prober = chain.fresh_account(native_wei=0)
    assets = [
        demo_world.token("honest").address,
        *(one.address for one in demo_world.venues.stables),
    ]
    packed, plain = ReadBatch(head.hash), ReadBatch(head.hash)
    probes = [BalanceProbe(packed, asset, prober) for asset in assets]
    alone = [BalanceProbe(plain, asset, prober) for asset in assets]
    node = CountingNode(context.node)
    await packed.send(node, NodeCapabilities())
    await plain.send(context.node)
    found = [probe.read() for probe in probes]
    assert found == [probe.read() for probe in alone]
    assert None not in found
    assert node.calls == 1


@pytest.mark.parametrize("answer", [UNKNOWN_PARAMETER, NO_CODE])
async def test_a_node_that_packs_nothing_gives_the_same_report(
    chain: Chain, context: ChainContext, answer: RpcAnswer
) -> None:
    token = chain.world.token("proxy_1967").address
    packed = await judge(context, token)
    node = WithoutCodeOverrides(context.node, answer)
    context = msgspec.structs.replace(context, node=node, capabilities=NodeCapabilities())
    plain = await judge(context, token)
    assert plain.pools == packed.pools
    assert plain.static == packed.static
    assert plain.holders == packed.holders
    tried = node.refusals
    assert tried > 0
    again = await judge(context, token)
    assert again.pools == packed.pools
    assert node.refusals == tried  # it is not requested again so soon


async def test_a_power_is_tried_again_after_a_while() -> None:
    now_s = 0.0
    capabilities = NodeCapabilities(lambda: now_s)
    capabilities.packs.note_refusal()
    assert not capabilities.packs.is_worth_trying
    assert capabilities.simulation.is_worth_trying
    now_s = 3_600.0
    assert capabilities.packs.is_worth_trying


async def test_an_account_that_borrows_code_is_seen_as_one(
    chain: Chain, context: ChainContext
) -> None:
    """EIP-7702: a contract that reads its own code may get another answer than we do."""
    account = named_account("borrows")
    code = "ef0100" + chain.world.token("honest").address[2:]
    chain.node.rpc("anvil_setCode", account, "0x" + code)
    chain.mine()
    with pytest.raises(TokenRefusedError) as refusal:
        await judge(context, account)
    assert refusal.value.code == "not_a_contract"


async def test_one_pack_that_is_refused_says_nothing_of_the_others(
    chain: Chain, context: ChainContext
) -> None:
    """Code cannot be put over a contract that the node itself implements, as some tokens are."""
    token = chain.world.token("honest").address

    class Native(CountingNode):
        async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
            answers = await super().batch(requests)
            return [
                raw("0x00") if replaces_code(request, token) else answer
                for request, answer in zip(requests, answers, strict=True)
            ]

    whole = await judge(context, token)
    context = msgspec.structs.replace(context, node=Native(context.node))
    report = await judge(context, token)
    assert (report.pools, report.static) == (whole.pools, whole.static)
    assert context.capabilities.packs.is_worth_trying


def replaces_code(request: RpcRequest, address: Address) -> bool:
    match request.params:
        case ({"to": to}, _, dict(overrides)):
            return to == address and "code" in overrides.get(address, {})
    return False
