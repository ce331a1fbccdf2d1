"""What is read of a token's state equals what a real node holds, also for hostile tokens."""

from collections.abc import Sequence

import pytest

from analysis.reads.eth_reads import code_at, read_code
from analysis.static.analyse_code import analyse_code
from analysis.token import admission, burned_supply, ownership, proxy_resolution
from core.errors import TokenRefusedError, UpstreamError
from core.primitives import Address, BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcRequest
from demo.anvil import AnvilNode, NodeRefusedError, quantity
from demo.layout import World, named_account
from harness.chain.verbs import Chain
from tests.analysis.state.answers import raw
from tests.analysis.static.test_delegation import CLONES

FRONTS = ("proxy_1967", "proxy_beacon", "clone_1167")


class Reader:
    """Asks the fixture's node at its head, faults as values."""

    def __init__(self, node: AnvilNode) -> None:
        self._node = node
        head = node.rpc("eth_getBlockByNumber", "latest", False)
        assert isinstance(head, dict)
        self.block = BlockRef(
            number=quantity(head["number"]),
            hash=Hash32(head["hash"]),
            parent_hash=Hash32(head["parentHash"]),
            time_s=quantity(head["timestamp"]),
        )

    def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: RpcRequest) -> RpcAnswer:
        try:
            return raw(self._node.rpc(request.method, *request.params))
        except NodeRefusedError as refused:
            return refused.fault

    def admit(self, token: Address) -> admission.Admitted:
        return admission.read(self.batch(admission.requests(token, block=self.block.hash)))

    def owners(self, token: Address) -> tuple[Address, ...]:
        return ownership.read(self.batch(ownership.requests(token, block=self.block.hash)))

    def trail(self, token: Address) -> proxy_resolution.Trail:
        [code] = self.batch([code_at(token, block=self.block.hash)])
        answers = self.batch(proxy_resolution.first_requests(token, block=self.block.hash))
        trail = proxy_resolution.begin(token, code=read_code(code), answers=answers)
        while trail.wants is not None:
            if isinstance(trail.wants, proxy_resolution.FactsOf):
                trail = proxy_resolution.learn(trail, analyse_code(trail.wants.code))
                continue
            asked = proxy_resolution.requests(trail, block=self.block.hash)
            trail = proxy_resolution.read(trail, self.batch(asked))
        return trail


@pytest.fixture
def reader(chain: Chain, anvil_node: AnvilNode) -> Reader:
    """At the head of a world that is rolled back afterwards, which is what `chain` is for."""
    return Reader(anvil_node)


def put_code(node: AnvilNode, name: str, code: str) -> Address:
    address = named_account(name)
    node.rpc("anvil_setCode", address, "0x" + code)
    node.mine()
    return address


def test_metadata_of_every_token_that_answers(reader: Reader, world: World) -> None:
    for token in world.tokens:
        if token.key.startswith("symbol_"):
            continue
        metadata = reader.admit(token.address).metadata
        assert (metadata.symbol, metadata.decimals) == (token.symbol, token.decimals), token.key
        assert metadata.supply_raw == 10**24


def test_a_megabyte_of_symbol_is_cut_and_no_refusal(reader: Reader, world: World) -> None:
    assert reader.admit(world.token("symbol_megabyte").address).metadata.symbol == "\ufffd"


@pytest.mark.parametrize("key", ["symbol_burns_gas", "symbol_reverts"])
def test_a_symbol_that_fails_is_a_clear_refusal(reader: Reader, world: World, key: str) -> None:
    with pytest.raises(TokenRefusedError, match=r"symbol\(\)") as caught:
        reader.admit(world.token(key).address)
    assert caught.value.code == "not_a_token"


def test_what_is_no_token(chain: Chain, anvil_node: AnvilNode, world: World) -> None:
    delegated = put_code(anvil_node, "delegated", "ef0100" + "11" * 20)
    reader = Reader(anvil_node)
    for address, code in (
        (chain.fresh_account(), "not_a_contract"),
        (delegated, "not_a_contract"),
        (world.venues.v2.factory, "not_a_token"),
    ):
        with pytest.raises(TokenRefusedError) as caught:
            reader.admit(address)
        assert caught.value.code == code


def test_an_unknown_block_is_the_nodes_fault(reader: Reader, world: World) -> None:
    lost = Hash32("0x" + "77" * 32)
    token = world.token("honest").address
    with pytest.raises(UpstreamError):
        admission.read(reader.batch(admission.requests(token, block=lost)))
    with pytest.raises(UpstreamError):
        ownership.read(reader.batch(ownership.requests(token, block=lost)))


def test_owners(reader: Reader, world: World) -> None:
    for key in ("mintable", "pausable", *FRONTS):
        owners = reader.owners(world.token(key).address)
        assert ownership.judge(owners, None).owner_address == world.owner, key
    verdict = ownership.judge(reader.owners(world.token("renounced").address), None)
    assert verdict.ownership_renounced is True
    assert verdict.owner_address == "0x" + "0" * 40


def test_an_owner_without_a_getter_is_found_in_its_slot(reader: Reader, world: World) -> None:
    token = world.token("mintable").address
    slots = analyse_code(reader.admit(token).code).owner_slots
    assert slots
    asked = ownership.slot_requests(token, slots, block=reader.block.hash)
    held = ownership.read_slots(slots, reader.batch(asked))
    codes = reader.batch(ownership.holder_requests(held, block=reader.block.hash))
    assert ownership.read_wallets(held, codes) == (world.owner,)


def test_burned_supply(reader: Reader, world: World, chain: Chain) -> None:
    for key in ("honest", "burned"):
        token = world.token(key).address
        burned = burned_supply.read(
            reader.batch(burned_supply.requests(token, block=reader.block.hash))
        )
        held = sum(chain.balance(token, row.owner) for row in burned.holders)
        assert burned.burned_raw == held
        assert (burned.burned_raw > 0) is (key == "burned")


def test_proxies_lead_to_their_implementation(
    reader: Reader, world: World, anvil_node: AnvilNode
) -> None:
    for token in world.tokens:
        trail = reader.trail(token.address)
        assert trail.is_proxy is (token.key in FRONTS), token.key
        if token.key in FRONTS:
            assert trail.implementation is not None
            code = anvil_node.rpc("eth_getCode", trail.implementation, "latest")
            assert trail.code == bytes.fromhex(str(code)[2:])
            assert analyse_code(trail.code).findings.is_proxy is False


def test_every_form_of_clone_works_and_is_followed(
    chain: Chain, anvil_node: AnvilNode, world: World
) -> None:
    token = world.token("honest")
    behind = anvil_node.rpc("eth_getCode", token.address, "latest")
    short = Address("0x00000000" + "be" * 16)
    anvil_node.rpc("anvil_setCode", short, behind)
    for form, (code, example) in CLONES.items():
        is_short = example.startswith("0x00000000")
        target = short if is_short else token.address
        clone = put_code(anvil_node, form, code.format(target[10 if is_short else 2 :]))
        reader = Reader(anvil_node)
        assert reader.admit(clone).metadata.decimals == token.decimals, form
        assert reader.trail(clone).implementation == target, form


@pytest.mark.parametrize("length", [1, 2, 6])
def test_a_ring_of_clones_ends(chain: Chain, anvil_node: AnvilNode, length: int) -> None:
    ring = [named_account(f"ring {length} {at}") for at in range(length)]
    code, _ = CLONES["EIP-1167"]
    for at, address in enumerate(ring):
        target = ring[(at + 1) % length]
        anvil_node.rpc("anvil_setCode", address, "0x" + code.format(target[2:]))
    anvil_node.mine()
    trail = Reader(anvil_node).trail(ring[0])
    assert (trail.is_proxy, trail.implementation, trail.code) == (True, None, None)
    assert trail.hops == tuple(ring[1:5])


def test_a_clone_of_a_storage_proxy_uses_its_own_storage(
    chain: Chain, anvil_node: AnvilNode, world: World
) -> None:
    front = world.token("proxy_1967").address
    code, _ = CLONES["EIP-1167"]
    clone = put_code(anvil_node, "clone of a proxy", code.format(front[2:]))
    honest = world.token("honest").address
    anvil_node.rpc(
        "anvil_setStorageAt",
        clone,
        proxy_resolution.IMPLEMENTATION_SLOT,
        "0x" + "0" * 24 + honest[2:],
    )
    anvil_node.mine()
    assert Reader(anvil_node).trail(clone).hops == (front, honest)


def test_writers_of_the_zoo(reader: Reader, world: World) -> None:
    transfer, transfer_from, approve = "0xa9059cbb", "0x23b872dd", "0x095ea7b3"
    for token in world.tokens:
        if token.key in FRONTS or token.key.startswith("symbol_"):
            continue
        findings = analyse_code(reader.admit(token.address).code).findings
        assert {transfer, transfer_from} <= set(findings.balance_update_function or ()), token.key
        assert approve in (findings.allowance_update_function or ()), token.key
        assert findings.can_selfdestruct is False, token.key
