"""Protects the reads behind a timebomb: the clock, the slots, the limits of patience."""

import asyncio

import pytest
from msgspec import structs

from analysis.reads.block_reader import BlockReader
from analysis.reads.read_batch import ReadBatch
from analysis.static.custody.custody_report import StoredAddress
from analysis.static.token_model.clock.clock_limits import ClockLimit
from analysis.token import deadline_state, owner_slots, ownership
from analysis.token.contract_clock import ClockRead, ClockReading, ContractClock, clock_at
from analysis.token.deadline_state import ClockState, read_clock_state
from analysis.token.owner_slots import OwnerSlots, read_owner_slots
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32
from core.report.report import ClockLimitRow
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from tests.harness.node.answers import (
    BLOCK,
    LOST_BLOCK,
    REVERTED,
    ScriptedAnswers,
    address,
    answer_in_turn,
    raw,
    sent,
    word,
)

TOKEN = Address("0x" + "11" * 20)
CONTRACT, WALLET = Address("0x" + "aa" * 20), Address("0x" + "bb" * 20)
DEAD = Address("0x" + "00" * 18 + "dead")
BOTH = sent((20_000_000).to_bytes(32) + (1_790_000_000).to_bytes(32))
READING = ClockReading(block_number=20_000_000, time_s=1_790_000_000)


def at_block(node: ScriptedAnswers) -> BlockReader:
    return BlockReader(node, block=BLOCK)


def slot(number: int) -> Hash32:
    return Hash32(f"0x{number:064x}")


def stored(at: int) -> ClockLimit:
    return ClockLimit(source="storage", slot=slot(at), compared_with="timestamp")


def row(at: int | None, value: int | None) -> ClockLimitRow:
    name = None if at is None else slot(at)
    return ClockLimitRow(source="storage", slot=name, value=value, compared_with="timestamp")


# --- the clock ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("answer", "reading"),
    [
        (BOTH, READING),
        (sent(b""), None),
        (word(7), None),
        (REVERTED, None),
        (LOST_BLOCK, None),
    ],
)
def test_the_clock_is_two_words(answer: RpcAnswer, reading: ClockReading | None) -> None:
    batch = ReadBatch(BLOCK)
    clock = ClockRead(batch)
    answer_in_turn(batch, [answer])
    assert clock.read() == reading


def test_a_clock_moves_on_by_whole_blocks() -> None:
    moved = clock_at(READING, block_interval_s=12.0).moved_on(25)
    assert moved == ContractClock(
        time_s=READING.time_s + 25,
        block_number=READING.block_number + 2,
        block_time_s=READING.time_s + 24,
        block_interval_s=12.0,
    )


# --- clock and slots ---------------------------------------------------------------------------


def telling(words: dict[int, RpcAnswer], *, clock_answer: RpcAnswer = BOTH) -> ScriptedAnswers:
    def answer(request: RpcRequest) -> RpcAnswer:
        if request.method == "eth_call":
            return clock_answer
        return words[int(str(request.params[1]), 16)]

    return ScriptedAnswers(answer)


async def read(node: ScriptedAnswers, *limits: ClockLimit) -> ClockState:
    return await read_clock_state(at_block(node), TOKEN, limits)


async def test_clock_and_slots_come_in_one_round_trip() -> None:
    node = telling({5: word(1_800_000_000), 6: word(9)})
    state = await read(
        node,
        ClockLimit(source="constant", value=2**32),
        stored(5),
        stored(6),
        stored(5),
        ClockLimit(source="storage", compared_with="timestamp"),
    )
    assert state.reading == READING
    assert state.limits == (
        ClockLimitRow(source="constant", slot=None, value=2**32, compared_with=None),
        row(5, 1_800_000_000),
        row(6, 9),
        row(None, None),
    )
    assert [len(batch) for batch in node.requests] == [3]
    assert {request.params[-1]["blockHash"] for request in node.requests[0]} == {BLOCK}  # type: ignore[index]


async def test_a_packed_value_is_cut_out_and_what_the_code_adds_is_added() -> None:
    node = telling({5: word((77 << 200) + (1_800_000_000 << 160) + int(WALLET, 16))})
    packed = structs.replace(stored(5), bit_offset=160, bit_width=40, addend=1_800)
    assert (await read(node, packed)).limits == (row(5, 1_800_001_800),)


async def test_without_limits_nothing_is_asked() -> None:
    node = ScriptedAnswers()
    assert await read(node) == ClockState(reading=None, limits=())
    assert node.requests == []


async def test_a_slot_the_node_refuses_has_no_value() -> None:
    node = telling({5: LOST_BLOCK, 6: word(9)})
    state = await read(node, stored(5), stored(6))
    assert (state.reading, state.limits) == (READING, (row(5, None), row(6, 9)))


async def test_a_node_that_refuses_the_clock_still_tells_the_slots() -> None:
    state = await read(telling({5: word(9)}, clock_answer=LOST_BLOCK), stored(5))
    assert (state.reading, state.limits) == (None, (row(5, 9),))
    assert [*state.words.values()] == [9]


async def test_nonsense_is_as_good_as_silence() -> None:
    state = await read(telling({5: raw(7), 6: word(9)}), stored(5), stored(6))
    assert state.limits == (row(5, None), row(6, None))


async def test_a_chain_that_is_silent_for_too_long_is_not_waited_for(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert deadline_state.CLOCK_WAIT_S == 5.0
    monkeypatch.setattr(deadline_state, "CLOCK_WAIT_S", 0.01)
    state = await asyncio.wait_for(read(ScriptedAnswers(), stored(5)), 1)
    assert state == ClockState(reading=None, limits=(row(5, None),))


async def test_a_dead_node_is_no_error_here() -> None:
    def die(_: RpcRequest) -> RpcAnswer:
        raise UpstreamError(service="node", reason="gone")

    state = await read(ScriptedAnswers(die), stored(5))
    assert state == ClockState(reading=None, limits=(row(5, None),))


async def test_reads_are_bounded() -> None:
    many = [stored(at) for at in range(1_000)]
    node = telling({at: word(at) for at in range(1_000)})
    state = await read(node, *many)
    assert len(node.requests[0]) == 65
    assert len(state.limits) == 1_000
    assert state.limits[-1] == row(999, None)


# --- owner-check slots -------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "vacant"),
    [
        ((0,), True),
        ((0, int(DEAD, 16), 1), True),
        ((0, int(CONTRACT, 16)), False),
        ((0, 2**200), False),  # a value that is more than an address
        ((0, None), None),
        ((None, int(WALLET, 16)), False),
        ((), True),
    ],
)
def test_vacant_slots(words: tuple[int | None, ...], vacant: bool | None) -> None:
    slots = [
        ownership.OwnerSlot(slot=slot(at), word=slot_word) for at, slot_word in enumerate(words)
    ]
    assert ownership.are_vacant(slots) is vacant


def holding(slot_word: RpcAnswer) -> ScriptedAnswers:
    def code(request: RpcRequest) -> RpcAnswer:
        return sent(b"" if request.params[0] == WALLET else b"\x60\x80")

    return ScriptedAnswers(lambda _: slot_word, code)


@pytest.mark.parametrize(
    ("slot_word", "expected"),
    [
        (address(WALLET), OwnerSlots(wallets=(WALLET,), are_vacant=False)),
        (address(CONTRACT), OwnerSlots(wallets=(), are_vacant=False)),
        (address(DEAD), OwnerSlots(wallets=(), are_vacant=True)),
        (RpcFault(code=1, message="no"), OwnerSlots(wallets=(), are_vacant=None)),
    ],
)
async def test_what_owner_slots_tell(slot_word: RpcAnswer, expected: OwnerSlots) -> None:
    found = await read_owner_slots(at_block(holding(slot_word)), TOKEN, [slot(1)])
    assert found == expected


PACKED = 1 + (int(WALLET, 16) << 40) + (7 << 200)
"""The wallet between two other fields."""


@pytest.mark.parametrize(
    ("slot_word", "expected"),
    [
        (word(PACKED), OwnerSlots(wallets=(WALLET,), are_vacant=False)),
        (word(1 + (7 << 200)), OwnerSlots(wallets=(), are_vacant=True)),
        (word(1 + (int(DEAD, 16) << 40)), OwnerSlots(wallets=(), are_vacant=True)),
        (RpcFault(code=1, message="no"), OwnerSlots(wallets=(), are_vacant=None)),
    ],
)
async def test_an_owner_who_shares_a_slot_is_found(
    slot_word: RpcAnswer, expected: OwnerSlots
) -> None:
    places = [StoredAddress(slot=slot(1), shift=40)]
    found = await read_owner_slots(at_block(holding(slot_word)), TOKEN, [], packed=places)
    assert found == expected
    assert ownership.find_ownership((), found.wallets).ownership_renounced is (
        None if found.wallets else True
    )


async def test_an_owner_below_another_field_is_found() -> None:
    low = word(int(WALLET, 16) + (1 << 160))
    found = await read_owner_slots(at_block(holding(low)), TOKEN, [slot(1)])
    assert found == OwnerSlots(wallets=(WALLET,), are_vacant=False)


@pytest.mark.parametrize("words_come", [False, True])
async def test_owner_slots_are_waited_for_two_seconds(
    monkeypatch: pytest.MonkeyPatch, words_come: bool
) -> None:
    assert owner_slots.OWNER_SLOTS_WAIT_S == 2.0
    monkeypatch.setattr(owner_slots, "OWNER_SLOTS_WAIT_S", 0.01)
    node = ScriptedAnswers(lambda _: address(CONTRACT)) if words_come else ScriptedAnswers()
    reading = read_owner_slots(at_block(node), TOKEN, [slot(1)])
    found = await asyncio.wait_for(reading, 1)
    assert found == OwnerSlots(wallets=None, are_vacant=False if words_come else None)
