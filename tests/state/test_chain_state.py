"""Token state, as read, equals a real node's, also for hostile tokens."""

import asyncio
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.reads.block_reader import BlockReader
from analysis.reads.read_batch import ReadBatch
from analysis.static.analyse_code import analyse_code
from analysis.token import ownership, proxy_resolution
from analysis.token.admission import AdmissionReads, Admitted
from analysis.token.burned_supply import Burned, BurnReads
from analysis.token.owner_slots import OwnerSlotReads
from analysis.token.ownership import OwnerReads
from analysis.token.proxy_resolution import ProxyReads, ProxySearch
from assay.demo.anvil import AnvilNode, NodeRefusedError, quantity
from assay.demo.layout import World, named_account
from config.burn import BURN_ADDRESSES
from core.errors import TokenRefusedError, UpstreamError
from core.evm.primitives import Address, BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.chain.transactions import Chain
from tests.harness.node.answers import BLOCK, REVERTED, answer_in_turn, raw, requests_of, sent, word
from tests.harness.static.proxy_codes import CLONES

T = TypeVar("T")

FRONTS = ("proxy_1967", "proxy_beacon", "clone_1167")


class Reader:
    """Calls the fixture's node at its head, faults as values."""

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

    async def fetch_head(self) -> BlockRef:
        return self.block

    async def batch(self, requests: Sequence[RpcRequest]) -> list[RpcAnswer]:
        return [self._answer(request) for request in requests]

    def _answer(self, request: RpcRequest) -> RpcAnswer:
        try:
            return raw(self._node.rpc(request.method, *request.params))
        except NodeRefusedError as refused:
            return refused.fault

    def read(self, reads: Callable[[ReadBatch], T], *, block: Hash32 | None = None) -> T:
        """Reads that were sent and answered."""
        batch = ReadBatch(block or self.block.hash)
        added = reads(batch)
        asyncio.run(batch.send(self))
        return added

    def admit(self, token: Address) -> Admitted:
        return self.read(lambda batch: AdmissionReads(batch, token)).read()

    def owners(self, token: Address) -> tuple[Address, ...]:
        return self.read(lambda batch: OwnerReads(batch, token)).read()

    def trail(self, token: Address) -> ProxySearch:
        return asyncio.run(self._trail(token))

    async def _trail(self, token: Address) -> ProxySearch:
        reader = BlockReader(self, block=self.block.hash)
        batch = reader.batch()
        code, proxy = batch.code(token), ProxyReads(batch, token)
        await reader.send(batch)
        trail = proxy_resolution.begin(token, code=batch[code], standard=proxy.read())
        while trail.wants is not None:
            if isinstance(trail.wants, proxy_resolution.AnalyseCode):
                trail = proxy_resolution.learn(trail, analyse_code(trail.wants.code))
            else:
                trail = await proxy_resolution.take_step(trail, reader)
        return trail


@pytest.fixture
def reader(chain: Chain, anvil_node: AnvilNode) -> Reader:
    """Reader at the head of a world that is rolled back, by way of `chain`."""
    return Reader(anvil_node)


def put_code(node: AnvilNode, name: str, code: str) -> Address:
    address = named_account(name)
    node.rpc("anvil_setCode", address, "0x" + code)
    node.mine()
    return address


def test_metadata_of_every_token_that_answers(reader: Reader, demo_world: World) -> None:
    for token in demo_world.tokens:
        if token.key.startswith("symbol_"):
            continue
        metadata = reader.admit(token.address).metadata
        assert (metadata.symbol, metadata.decimals) == (token.symbol, token.decimals), token.key
        assert metadata.supply_raw == 10**24


def test_a_megabyte_of_symbol_is_cut_and_no_refusal(reader: Reader, demo_world: World) -> None:
    assert reader.admit(demo_world.token("symbol_megabyte").address).metadata.symbol == "\ufffd"


@pytest.mark.parametrize("key", ["symbol_burns_gas", "symbol_reverts"])
def test_a_symbol_that_fails_is_a_clear_refusal(
    reader: Reader, demo_world: World, key: str
) -> None:
    with pytest.raises(TokenRefusedError, match=r"symbol\(\)") as caught:
        reader.admit(demo_world.token(key).address)
    assert caught.value.code == "not_a_token"


def test_what_is_no_token(chain: Chain, anvil_node: AnvilNode, demo_world: World) -> None:
    delegated = put_code(anvil_node, "delegated", "ef0100" + "11" * 20)
    reader = Reader(anvil_node)
    for address, code in (
        (chain.fresh_account(), "not_a_contract"),
        (delegated, "not_a_contract"),
        (demo_world.venues.v2.factory, "not_a_token"),
    ):
        with pytest.raises(TokenRefusedError) as caught:
            reader.admit(address)
        assert caught.value.code == code


def test_an_unknown_block_is_the_nodes_fault(reader: Reader, demo_world: World) -> None:
    lost = Hash32("0x" + "77" * 32)
    token = demo_world.token("honest").address
    with pytest.raises(UpstreamError):
        reader.read(lambda batch: AdmissionReads(batch, token), block=lost).read()
    with pytest.raises(UpstreamError):
        reader.read(lambda batch: OwnerReads(batch, token), block=lost).read()


def test_owners(reader: Reader, demo_world: World) -> None:
    for key in ("mintable", "pausable", *FRONTS):
        owners = reader.owners(demo_world.token(key).address)
        assert ownership.find_ownership(owners, None).owner_address == demo_world.owner, key
    verdict = ownership.find_ownership(reader.owners(demo_world.token("renounced").address), None)
    assert verdict.ownership_renounced is True
    assert verdict.owner_address == "0x" + "0" * 40


def test_an_owner_without_a_getter_is_found_in_its_slot(reader: Reader, demo_world: World) -> None:
    token = demo_world.token("mintable").address
    slots = analyse_code(reader.admit(token).code).owner_slots
    assert slots
    found = reader.read(lambda batch: OwnerSlotReads(batch, token, slots)).read()
    assert found.wallets == (demo_world.owner,)


def test_burned_supply(reader: Reader, demo_world: World, chain: Chain) -> None:
    for key in ("honest", "burned"):
        token = demo_world.token(key).address
        burned = reader.read(partial(BurnReads, token=token)).read()
        burned_raw = sum(chain.balance(token, row.owner) for row in burned.holders)
        assert burned.burned_raw == burned_raw
        assert (burned.burned_raw > 0) is (key == "burned")


def test_proxies_lead_to_their_implementation(
    reader: Reader, demo_world: World, anvil_node: AnvilNode
) -> None:
    for token in demo_world.tokens:
        trail = reader.trail(token.address)
        assert trail.is_proxy is (token.key in FRONTS), token.key
        if token.key in FRONTS:
            assert trail.implementation is not None
            code = anvil_node.rpc("eth_getCode", trail.implementation, "latest")
            assert trail.code == bytes.fromhex(str(code)[2:])
            assert analyse_code(trail.code).findings.is_proxy is False


def test_every_form_of_clone_works_and_is_followed(
    chain: Chain, anvil_node: AnvilNode, demo_world: World
) -> None:
    token = demo_world.token("honest")
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
    chain: Chain, anvil_node: AnvilNode, demo_world: World
) -> None:
    front = demo_world.token("proxy_1967").address
    code, _ = CLONES["EIP-1167"]
    clone = put_code(anvil_node, "clone of a proxy", code.format(front[2:]))
    honest = demo_world.token("honest").address
    anvil_node.rpc(
        "anvil_setStorageAt",
        clone,
        proxy_resolution.IMPLEMENTATION_SLOT,
        "0x" + "0" * 24 + honest[2:],
    )
    anvil_node.mine()
    assert Reader(anvil_node).trail(clone).hops == (front, honest)


def test_writers_of_the_zoo(reader: Reader, demo_world: World) -> None:
    transfer, transfer_from, approve = "0xa9059cbb", "0x23b872dd", "0x095ea7b3"
    for token in demo_world.tokens:
        if token.key in FRONTS or token.key.startswith("symbol_"):
            continue
        findings = analyse_code(reader.admit(token.address).code).findings
        assert {transfer, transfer_from} <= set(findings.balance_update_function or ()), token.key
        assert approve in (findings.allowance_update_function or ()), token.key
        assert findings.can_selfdestruct is False, token.key


# --- supply -------------------------------------------------------------------------------------

TOKEN = Address("0x" + "11" * 20)

ASKED = sorted(BURN_ADDRESSES)


def read(*answers: RpcAnswer) -> Burned:
    batch = ReadBatch(BLOCK)
    burns = BurnReads(batch, TOKEN)
    answer_in_turn(batch, answers)
    return burns.read()


def test_every_burn_address_is_asked() -> None:
    batch = ReadBatch(BLOCK)
    BurnReads(batch, TOKEN)
    addresses = [str(request.params[0]) for request in requests_of(batch)]
    assert len(addresses) == 5
    for request, owner in zip(addresses, ASKED, strict=True):
        assert "0x70a08231" + "0" * 24 + owner[2:] in request


def test_balances_are_summed_and_listed_largest_first() -> None:
    burned = read(word(0), REVERTED, word(5), word(70), sent(b""))
    assert burned.burned_raw == 75
    assert [(row.role, row.ordinal, row.owner, row.amount_raw) for row in burned.holders] == [
        ("burn", 0, ASKED[3], 70),
        ("burn", 1, ASKED[2], 5),
    ]


@given(st.lists(st.integers(0, 2**256 - 1), min_size=5, max_size=5))
def test_no_balance_breaks_the_sum(balances: list[int]) -> None:
    burned = read(*map(word, balances))
    assert burned.burned_raw == min(sum(balances), 2**256 - 1)
    assert len(burned.holders) == sum(balance > 0 for balance in balances)
