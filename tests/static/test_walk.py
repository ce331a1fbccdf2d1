"""The walk reads tables whole, and reports the jumps that it has not followed."""

from typing import Final

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from analysis.static.analyse_code import analyse_code
from analysis.static.evm.budget import Budget
from analysis.static.evm.disassembly import split
from analysis.static.evm.function_cfg import FunctionCfg
from analysis.static.evm.path_explorer import explore
from tests.harness.static.assembler import assemble, functions

TRANSFER, BALANCE_OF, ALLOWANCE, APPROVE = 0xA9059CBB, 0x70A08231, 0xDD62ED3E, 0x095EA7B3
RETURN_TRUE: Final = "1 0 MSTORE 32 0 RETURN"

# --- tables -----------------------------------------------------------------------------------


def dispatcher(index: str, entries: int) -> tuple[bytes, tuple[int, int]]:
    """A token-like code whose jumps come from a table behind it, and the two selectors it knows.

    `index` leaves an index on the stack above the selector; even entries lead to a body that
    destructs, odd ones to one that returns.
    """
    jump = f"0 CALLDATALOAD 0xe0 SHR DUP1 {index} 2 MUL @table 1 ADD ADD 2 SWAP1 30 CODECOPY"
    start = (
        f"{jump} 0 MLOAD JUMP "
        f"even: {APPROVE:#x} EQ @destroy JUMPI 0 0 REVERT destroy: CALLER SELFDESTRUCT "
        f"odd: {TRANSFER:#x} EQ @good JUMPI 0 0 REVERT good: {RETURN_TRUE} table:"
    )
    code = assemble(start)
    targets = [code.index(bytes.fromhex("5b63") + each.to_bytes(4)) for each in (APPROVE, TRANSFER)]
    return code + b"".join(targets[n % 2].to_bytes(2) for n in range(entries)), (APPROVE, TRANSFER)


@pytest.mark.parametrize("index", ["2 SWAP1 MOD", "7 SWAP1 MOD", "15 AND"])
def test_a_jump_table_is_read_entry_by_entry(index: str) -> None:
    code, _ = dispatcher(index, entries=32)
    exploration = explore(split(code), budget=Budget())
    assert not exploration.notes.unresolved
    assert not exploration.notes.unfinished
    assert {note.entry for note in exploration.notes.returns.values()} == {TRANSFER}
    assert {note.entry for note in exploration.notes.destructions.values()} == {APPROVE}


def test_a_jump_computed_from_a_small_index_leads_to_all_of_its_places() -> None:
    source = (
        "@first 0 CALLDATALOAD 1 AND 16 MUL ADD JUMP "
        f"{'0 POP ' * 4} first: {RETURN_TRUE} 0 0 0 second: CALLER SELFDESTRUCT"
    )
    code = assemble(source)
    first, second = (pc for pc in range(len(code)) if code[pc] == 0x5B)
    code = code.replace(bytes.fromhex("6010"), bytes([0x60, second - first]))
    exploration = explore(split(code), budget=Budget())
    assert not exploration.notes.unresolved
    assert exploration.notes.returns
    assert exploration.notes.destructions


def test_a_table_too_large_to_read_is_entered_by_selector() -> None:
    code, selectors = dispatcher("1023 AND", entries=1024)
    lost = explore(split(code), budget=Budget())
    assert lost.notes.unresolved
    assert None in lost.notes.unfinished
    entered = explore(split(code), selectors=selectors, budget=Budget())
    assert {note.entry for note in entered.notes.returns.values()} <= {TRANSFER}
    assert {note.entry for note in entered.notes.destructions.values()} <= {APPROVE}


# --- what is not followed -----------------------------------------------------------------------


def merging(name: int) -> str:
    """Build code in which paths meet in more states than are distinguished.

    From everywhere a call can succeed.
    """
    diamonds_in_a_row = " ".join(
        f"{n} CALLDATALOAD @one{name}x{n} JUMPI {n + 5} @both{name}x{n} JUMP "
        f"one{name}x{n}: {n + 50} both{name}x{n}: MUL"
        for n in range(4)
    )
    return f"CALLER {diamonds_in_a_row} 0 SSTORE STOP"


MERGES: Final = split(functions({name: merging(name) for name in range(1, 9)}))


@given(st.integers(min_value=1, max_value=1500))
@example(400)
def test_whatever_the_budget_a_call_that_can_succeed_is_not_said_to_fail(steps: int) -> None:
    exploration = explore(MERGES, budget=Budget(steps=steps))
    for entry, roots in exploration.graph.roots.items():
        if entry is not None:
            flow = FunctionCfg(exploration.graph, entry)
            assert flow.can_succeed.issuperset(roots)
            assert not flow.revert_branches()


def test_budgets_that_end_inside_the_merging_are_tried() -> None:
    """Covers the property above."""
    assert not explore(MERGES, budget=Budget(steps=1500)).notes.unfinished
    assert explore(MERGES, budget=Budget(steps=400)).notes.unfinished


def test_functions_that_use_up_their_share_leave_some_for_the_others() -> None:
    blocks = " ".join(
        f"CALLVALUE {n} CALLDATALOAD @x{n} JUMPI 7 ADD x{n}: {n} SSTORE" for n in range(120)
    )
    hungry = {0x10000000 + n: blocks.replace("x", f"y{n}x") + " STOP" for n in range(6)}
    exploration = explore(
        split(functions({**hungry, BALANCE_OF: RETURN_TRUE})), budget=Budget(steps=9000)
    )
    assert exploration.notes.unfinished
    assert BALANCE_OF not in exploration.notes.unfinished
    assert BALANCE_OF in {note.entry for note in exploration.notes.returns.values()}


def test_a_list_of_addresses_that_are_checked_one_by_one_is_followed_to_its_end() -> None:
    body = (
        "4 CALLDATALOAD 4 ADD CALLDATALOAD 0 next: DUP2 DUP2 LT ISZERO @end JUMPI "
        "DUP1 32 MUL 36 ADD 4 CALLDATALOAD ADD CALLDATALOAD "
        f"{2**160 - 1:#x} AND DUP1 @set JUMPI 0 0 REVERT "
        "set: 1 SWAP1 SSTORE 1 ADD @next JUMP end: STOP"
    )
    exploration = explore(split(functions({TRANSFER: body})), budget=Budget())
    assert not exploration.notes.unfinished
    assert {note.entry for note in exploration.notes.writes.values()} == {TRANSFER}


# --- calls to oneself ---------------------------------------------------------------------------

STORE: Final = "36 CALLDATALOAD 4 CALLDATALOAD 0 MSTORE 3 32 MSTORE 64 0 SHA3 SSTORE STOP"
GET_BALANCE: Final = "4 CALLDATALOAD 0 MSTORE 3 32 MSTORE 64 0 SHA3 SLOAD 0 MSTORE 32 0 RETURN"


def call(selector: int, target: str = "ADDRESS", kind: str = "CALL") -> str:
    """Calls `target` with a selector and one argument."""
    value = "0 " if kind == "CALL" else ""
    return (
        f"{selector:#x} 0xe0 SHL 0x80 MSTORE CALLER 0x84 MSTORE "
        f"0 0 36 0x80 {value}{target} GAS {kind} POP STOP"
    )


@pytest.mark.parametrize(
    ("body", "is_writer"),
    [
        (call(TRANSFER), True),
        (call(TRANSFER, kind="DELEGATECALL"), True),
        (call(0x10000002), True),
        (call(TRANSFER, kind="STATICCALL"), False),
        (call(TRANSFER, target="CALLER"), False),
        (call(BALANCE_OF), False),
    ],
    ids=["call", "delegated", "by a detour", "static", "to another", "of a getter"],
)
def test_a_function_that_calls_a_writer_on_itself_writes(body: str, is_writer: bool) -> None:
    code = functions(
        {
            BALANCE_OF: GET_BALANCE,
            TRANSFER: STORE,
            0x10000001: body,
            0x10000002: call(TRANSFER),
            0x06FDDE03: body,
        }
    )
    found = analyse_code(code).findings
    writers = {"0xa9059cbb", "0x10000002"} | ({"0x10000001", "0x06fdde03"} if is_writer else set())
    assert set(found.balance_update_function or ()) == writers
    assert found.view_function_modifies_state is is_writer
