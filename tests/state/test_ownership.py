"""The verdict on ownership follows the specification's table, row by row."""

import pytest

from analysis.reads.read_batch import ReadBatch
from analysis.token import ownership
from analysis.token.owner_slots import OwnerSlotReads
from analysis.token.ownership import OwnerReads, Ownership
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer, RpcRequest
from tests.harness.node.answers import (
    BLOCK,
    LOST_BLOCK,
    REVERTED,
    address,
    answer_each,
    answer_in_turn,
    requests_of,
    sent,
    word,
)

BURNED = Address("0x" + "00" * 18 + "dead")
LIVE = Address("0x" + "aa" * 20)
OTHER = Address("0x" + "bb" * 20)
TOKEN = Address("0x" + "11" * 20)
SLOTS = (Hash32("0x" + "00" * 32), Hash32("0x" + "00" * 31 + "05"))


@pytest.mark.parametrize(
    ("getters", "wallets", "owner", "renounced"),
    [
        ((LIVE,), (), LIVE, False),
        ((BURNED,), (), BURNED, True),
        ((BURNED,), (LIVE,), BURNED, True),
        ((BURNED, LIVE), (), LIVE, False),
        ((LIVE, BURNED), (), LIVE, False),
        ((LIVE, OTHER), None, LIVE, False),
        ((), (), None, True),
        ((), None, None, True),
        ((), (LIVE,), None, None),
    ],
)
def test_table(
    getters: tuple[Address, ...],
    wallets: tuple[Address, ...] | None,
    owner: Address | None,
    renounced: bool | None,
) -> None:
    verdict = ownership.find_ownership(getters, wallets)
    assert verdict == Ownership(owner_address=owner, ownership_renounced=renounced)


@pytest.mark.parametrize(
    ("answers", "owners"),
    [
        ((address(LIVE), REVERTED, REVERTED), (LIVE,)),
        ((REVERTED, REVERTED, address(BURNED)), (BURNED,)),
        ((sent(b""), sent(bytes(20)), REVERTED), ()),
        ((word(2**160 + 7), REVERTED, REVERTED), ()),
    ],
)
def test_getters(answers: tuple[RpcAnswer, ...], owners: tuple[Address, ...]) -> None:
    assert read(answers) == owners


def read(answers: tuple[RpcAnswer, ...]) -> tuple[Address, ...]:
    batch = ReadBatch(BLOCK)
    getters = OwnerReads(batch, TOKEN)
    answer_in_turn(batch, answers)
    return getters.read()


def test_a_getter_the_node_lost_is_not_a_getter_without_answer() -> None:
    with pytest.raises(UpstreamError):
        read((REVERTED, LOST_BLOCK, REVERTED))


@pytest.mark.parametrize(
    ("in_slot", "code", "wallets"),
    [
        (address(LIVE), sent(b""), (LIVE,)),
        (address(LIVE), sent(bytes.fromhex("ef0100" + "33" * 20)), (LIVE,)),
        (address(LIVE), sent(b"\x60\x80"), ()),
        (address(LIVE), LOST_BLOCK, ()),
        (address(BURNED), None, ()),
        (word(0), None, ()),
        (word(2**160 + int(LIVE, 16)), sent(b"\x60\x80"), (LIVE,)),
        (LOST_BLOCK, None, ()),
    ],
    ids=[
        "wallet",
        "wallet with borrowed code",
        "contract",
        "code not read",
        "burn address",
        "empty",
        "more than an address",
        "slot not read",
    ],
)
def test_owner_slots(
    in_slot: RpcAnswer, code: RpcAnswer | None, wallets: tuple[Address, ...]
) -> None:
    def answer(request: RpcRequest) -> RpcAnswer:
        if request.method == "eth_getCode":
            return sent(b"") if code is None else code
        return in_slot if request.params[1] == SLOTS[0] else word(0)

    batch = ReadBatch(BLOCK)
    slots = OwnerSlotReads(batch, TOKEN, SLOTS)
    answer_each(batch, answer)
    assert slots.read().wallets == wallets


def test_slots_are_read_at_the_token() -> None:
    batch = ReadBatch(BLOCK)
    OwnerSlotReads(batch, TOKEN, SLOTS)
    assert [request.params for request in requests_of(batch)] == [
        (TOKEN, slot, {"blockHash": BLOCK}) for slot in SLOTS
    ]
