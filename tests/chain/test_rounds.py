"""Protects that reads packed into one call tell what the same reads tell one by one."""

from collections.abc import Sequence

import pytest

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.eth_reads import NoAnswer, call, code_at, read_reply, word_at
from analysis.reads.multicall import pushed_address
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.balance_slot import probe_request, read_probe
from analysis.token import admission, burned_supply, ownership, proxy_resolution
from core.errors import TokenRefusedError
from core.primitives import Address, BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from demo.layout import World, named_account
from harness.chain.counting import CountingNode
from harness.chain.verbs import Chain
from tests.analysis.state.answers import raw
from tests.analysis.static.test_delegation import CLONES
from tests.chain.judging import judge

NO_CODE = raw("0x")
"""What calling an address without code returns: the node took no notice of the override."""


class WithoutCodeOverrides:
    """A real node that cannot put code at an address."""

    def __init__(self, node: Node, answer: RpcAnswer) -> None:
        self._node = node
        self._answer = answer
        self.refusals = 0

    async def fetch_head(self) -> BlockRef:
        return await self._node.fetch_head()

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        answers = await self._node.batch(requests)
        refused = [request.method == "eth_call" and "code" in str(request) for request in requests]
        self.refusals += sum(refused)
        return [
            self._answer if is_refused else answer
            for is_refused, answer in zip(refused, answers, strict=True)
        ]


UNKNOWN_PARAMETER = RpcFault(code=-32602, message="too many arguments, want at most 2")


def questions(token: Address, block: Hash32) -> list[RpcRequest]:
    return [
        *admission.requests(token, block=block),
        *proxy_resolution.first_requests(token, block=block),
        *burned_supply.requests(token, block=block),
        *ownership.requests(token, block=block),
        code_at(named_account("nobody"), block=block),
        *(word_at(token, Hash32(f"0x{slot:064x}"), block=block) for slot in range(12)),
    ]


def told(answer: RpcAnswer) -> bytes | str:
    reply = read_reply(answer)
    return "refused" if isinstance(reply, NoAnswer) else reply


async def test_packed_answers_are_the_plain_ones(
    chain: Chain, context: ChainContext, world: World
) -> None:
    """For every token of the zoo, those that burn gas or return a megabyte included."""
    head = await context.node.fetch_head()
    for token in world.tokens:
        node = CountingNode(context.node)
        trip = ReadBatch()
        asked = trip.ask(questions(token.address, head.hash))
        await trip.send(node, NodeCapabilities())
        plain = await context.node.batch(questions(token.address, head.hash))
        assert [told(one) for one in trip[asked]] == [told(one) for one in plain], token.key
        assert node.calls <= (4 if token.key.startswith("symbol_") else 2), token.key


async def test_reads_that_write_leave_no_trace(
    chain: Chain, context: ChainContext, world: World
) -> None:
    """Anybody may move this token's holders' balances, so a read can too."""
    head = await context.node.fetch_head()
    token, friend = world.token("bypass_universal"), chain.fresh_account()
    moving = call(
        token.address,
        "transferFrom(address,address,uint256)",
        token.holders[0],
        friend,
        1,
        block=head.hash,
    )
    reading = call(token.address, "balanceOf(address)", friend, block=head.hash)
    trip = ReadBatch()
    asked = trip.ask([moving, reading, moving, reading])
    node = CountingNode(context.node)
    await trip.send(node, NodeCapabilities())
    moved, before, again, after = map(told, trip[asked])
    assert moved == again != "refused"
    assert before == after == bytes(32)
    assert node.calls == 1


async def test_a_promise_is_kept_packed_and_plain(
    chain: Chain, context: ChainContext, world: World
) -> None:
    head = await context.node.fetch_head()
    dex, token = world.venues.v2, world.token("honest")
    results = []
    for capabilities in (NodeCapabilities(), None):
        trip = ReadBatch()
        quotes = (token.pool.quote, named_account("no quote"))
        pairs = trip.ask(
            [
                call(dex.factory, "getPair(address,address)", token.address, quote, block=head.hash)
                for quote in quotes
            ]
        )
        promised = [trip.promise(at) for at in range(pairs.start, pairs.stop)]
        reserves = trip.ask([call(pair, "getReserves()", block=head.hash) for pair in promised])
        held = trip.ask(
            [call(token.address, "balanceOf(address)", pair, block=head.hash) for pair in promised]
        )
        codes = trip.ask([code_at(pair, block=head.hash) for pair in promised], first_bytes=4)
        node = CountingNode(context.node)
        await trip.send(node, capabilities)
        assert [trip.kept(pair) for pair in promised] == [token.pool.address, None]
        assert node.trips == (1 if capabilities else 2)
        told_codes = [told(answer)[:4] for answer in trip[codes]]
        results.append([*map(told, [*trip[reserves], *trip[held]]), *told_codes])
    packed, plain = results
    assert packed == plain
    assert int.from_bytes(bytes(packed[2])) == chain.balance(token.address, token.pool.address)  # type: ignore[arg-type]  # bytes, as it was told
    assert packed[1] == packed[3] == "refused"


@pytest.mark.parametrize("form", CLONES)
async def test_the_code_behind_every_clone_comes_in_the_same_trip(
    chain: Chain, context: ChainContext, world: World, form: str
) -> None:
    code, example = CLONES[form]
    token = world.token("honest").address
    behind = str(chain.node.rpc("eth_getCode", token, "latest"))
    target = Address("0x00000000" + "be" * 16) if example.startswith("0x00000000") else token
    chain.node.rpc("anvil_setCode", target, behind)
    clone = named_account(form)
    bare = target[10 if example.startswith("0x00000000") else 2 :]
    chain.node.rpc("anvil_setCode", clone, "0x" + code.format(bare))
    chain.mine()
    head = await context.node.fetch_head()
    assert pushed_address(bytes.fromhex(code.format(bare))) == target
    trip = ReadBatch()
    asked = trip.ask([code_at(clone, block=head.hash)])
    found = trip.ask([code_at(trip.promise(asked.start), block=head.hash)])
    padding = trip.ask([code_at(target, block=head.hash)])
    node = CountingNode(context.node)
    await trip.send(node, NodeCapabilities())
    assert told(trip[found][0]) == bytes.fromhex(behind[2:]) == told(trip[padding][0])
    assert node.calls == 1


async def test_balance_slots_are_found_together(
    chain: Chain, context: ChainContext, world: World
) -> None:
    head = await context.node.fetch_head()
    prober = chain.fresh_account(native_wei=0)
    assets = [world.token("honest").address, *(one.address for one in world.venues.stables)]
    alone = await context.node.batch(
        [probe_request(one, prober, block=head.hash) for one in assets]
    )
    trip = ReadBatch()
    asked = trip.ask([probe_request(asset, prober, block=head.hash) for asset in assets])
    node = CountingNode(context.node)
    await trip.send(node, NodeCapabilities())
    found = [read_probe(answer) for answer in trip[asked]]
    assert found == [read_probe(answer) for answer in alone]
    assert None not in found
    assert node.calls == 1


@pytest.mark.parametrize("answer", [UNKNOWN_PARAMETER, NO_CODE])
async def test_a_node_that_packs_nothing_gives_the_same_report(
    chain: Chain, context: ChainContext, answer: RpcAnswer
) -> None:
    token = chain.world.token("proxy_1967").address
    packed = await judge(context, token)
    node = WithoutCodeOverrides(context.node, answer)
    context.node, context.capabilities = node, NodeCapabilities()
    plain = await judge(context, token)
    assert plain.pools == packed.pools
    assert plain.static == packed.static
    assert plain.holders == packed.holders
    tried = node.refusals
    assert tried > 0
    again = await judge(context, token)
    assert again.pools == packed.pools
    assert node.refusals == tried  # it is not asked again so soon


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
    """EIP-7702: a contract that asks for its code may be told otherwise than we are."""
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
    context.node = Native(context.node)
    report = await judge(context, token)
    assert (report.pools, report.static) == (whole.pools, whole.static)
    assert context.capabilities.packs.is_worth_trying


def replaces_code(request: RpcRequest, address: Address) -> bool:
    match request.params:
        case ({"to": to}, _, dict(overrides)):
            return to == address and "code" in overrides.get(address, {})
    return False
