"""The verdict on ownership follows the specification's table, row by row."""

import pytest

from analysis.token import ownership
from analysis.token.ownership import Ownership
from core.errors import UpstreamError
from core.primitives import Address, Hash32
from core.rpc.messages import RpcAnswer
from tests.analysis.state.answers import LOST_BLOCK, REVERTED, address, sent, word

BURNED = Address("0x" + "00" * 18 + "dead")
LIVE = Address("0x" + "aa" * 20)
OTHER = Address("0x" + "bb" * 20)
TOKEN = Address("0x" + "11" * 20)
BLOCK = Hash32("0x" + "22" * 32)
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
    verdict = ownership.judge(getters, wallets)
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
    assert ownership.read(answers) == owners


def test_a_getter_the_node_lost_is_not_a_getter_without_answer() -> None:
    with pytest.raises(UpstreamError):
        ownership.read((REVERTED, LOST_BLOCK, REVERTED))


@pytest.mark.parametrize(
    ("in_slot", "code", "wallets"),
    [
        (address(LIVE), sent(b""), (LIVE,)),
        (address(LIVE), sent(bytes.fromhex("ef0100" + "33" * 20)), (LIVE,)),
        (address(LIVE), sent(b"\x60\x80"), ()),
        (address(LIVE), LOST_BLOCK, ()),
        (address(BURNED), None, ()),
        (word(0), None, ()),
        (word(2**160 + int(LIVE, 16)), None, ()),
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
    slots = ownership.read_slots(SLOTS, (in_slot, word(0)))
    asked = ownership.holder_requests(slots, block=BLOCK)
    assert len(asked) == (code is not None)
    assert ownership.read_wallets(slots, () if code is None else (code,)) == wallets


def test_slots_are_read_at_the_token() -> None:
    asked = ownership.slot_requests(TOKEN, SLOTS, block=BLOCK)
    assert [request.params for request in asked] == [
        (TOKEN, slot, {"blockHash": BLOCK}) for slot in SLOTS
    ]
