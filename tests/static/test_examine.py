"""Findings of the code have proofs, and nothing else is found."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.static.analyse_code import CodeAnalysis, analyse_code
from analysis.static.evm.budget import Budget
from analysis.static.evm.disassembly import hash_of, strip_metadata
from analysis.static.evm.opcodes import NUMBER, OPCODES
from core.evm.primitives import Hash32
from tests.harness.static.assembler import assemble, functions

TRANSFER, BALANCE_OF, MINT, SET_OWNER = 0xA9059CBB, 0x70A08231, 0x40C10F19, 0x13AF4035
APPROVE, ALLOWANCE = 0x095EA7B3, 0xDD62ED3E
RETURN_TOP = "0 MSTORE 32 0 RETURN"
RETURN_TRUE = f"1 {RETURN_TOP}"
SOLC_0_8_19 = bytes.fromhex("a2646970667358221220" + "ab" * 32 + "64736f6c63430008130033")


def mapping_slot(key: str, slot: str) -> str:
    """Leaves Solidity's place of `mapping[key]`; the mapping's own slot is given as code too."""
    return f"{key} 0 MSTORE {slot} 32 MSTORE 64 0 SHA3"


FIRST, SECOND = "4 CALLDATALOAD", "36 CALLDATALOAD"
GET_BALANCE = f"{mapping_slot(FIRST, '3')} SLOAD {RETURN_TOP}"
MOVE = (
    f"{SECOND} {mapping_slot('CALLER', '3')} SSTORE {SECOND} {mapping_slot(FIRST, '3')} SSTORE "
    f"{RETURN_TRUE}"
)


def nested(owner: str, spender: str) -> str:
    """Leaves the place of `mapping[owner][spender]`, the mapping at slot 4."""
    return f"{mapping_slot(owner, '4')} {spender} 0 MSTORE 32 MSTORE 64 0 SHA3"


def proof(found: CodeAnalysis, key: str) -> dict[str, list[object]]:
    [body] = [json.loads(row.body) for row in found.evidence if row.key == key]
    assert isinstance(body, dict)
    return body


def test_writers_are_those_of_the_getters_mappings() -> None:
    found = analyse_code(
        functions(
            {
                BALANCE_OF: GET_BALANCE,
                TRANSFER: MOVE,
                MINT: f"{SECOND} {mapping_slot('0x1234', '3')} SSTORE STOP",
                SET_OWNER: f"{FIRST} 3 SSTORE {FIRST} {mapping_slot(FIRST, '7')} SSTORE STOP",
                ALLOWANCE: f"{nested(FIRST, SECOND)} SLOAD {RETURN_TOP}",
                APPROVE: f"{SECOND} {nested('CALLER', FIRST)} SSTORE {RETURN_TRUE}",
            }
        )
    )
    assert found.findings.balance_update_function == ("0x40c10f19", "0xa9059cbb")
    assert found.findings.allowance_update_function == ("0x095ea7b3",)
    assert len(found.selectors) == 6
    assert proof(found, "balance_update_function")["slots"] == [f"0x{3:064x}"]
    assert found.answers_holders


def test_a_write_in_the_fallback_has_no_selector() -> None:
    deposit = f"CALLVALUE {mapping_slot('CALLER', '3')} SSTORE STOP"
    found = analyse_code(functions({BALANCE_OF: GET_BALANCE}, fallback=deposit))
    assert found.findings.balance_update_function == ("0x00000000",)


def test_a_write_behind_a_shared_function_belongs_to_its_callers() -> None:
    shared = f"@after{{0}} @shared JUMP after{{0}}: {RETURN_TRUE}"
    found = analyse_code(
        functions(
            {
                BALANCE_OF: GET_BALANCE,
                TRANSFER: shared.format(1),
                MINT: shared.format(2),
                SET_OWNER: f"STOP shared: {SECOND} {mapping_slot(FIRST, '3')} SSTORE JUMP",
            }
        )
    )
    assert found.findings.balance_update_function == ("0x40c10f19", "0xa9059cbb")


def test_a_path_that_cannot_be_taken_does_not_count() -> None:
    guarded = "CALLER CALLER EQ @done{0} JUMPI {1} done{0}: STOP"
    write = f"1 {mapping_slot(FIRST, '3')} SSTORE"
    found = analyse_code(
        functions({BALANCE_OF: GET_BALANCE, MINT: guarded.format(1, write), TRANSFER: MOVE})
    )
    assert found.findings.balance_update_function == ("0xa9059cbb",)


def test_what_follows_a_loop_is_reached() -> None:
    loop = "0 again: 1 ADD DUP1 3 GT ISZERO @out JUMPI @again JUMP out: POP"
    found = analyse_code(functions({BALANCE_OF: GET_BALANCE, TRANSFER: f"{loop} {MOVE}"}))
    assert found.findings.balance_update_function == ("0xa9059cbb",)


def test_two_looks_at_one_success_flag_agree() -> None:
    """A try statement decodes on success and then tests again: mixing the two would jump astray."""
    call = "0 0 0 0 0 CALLER GAS CALL"
    attempt = (
        f"@end {call} DUP1 ISZERO @after JUMPI CALLVALUE SWAP1 after: @good JUMPI JUMP "
        f"good: POP JUMP end: {RETURN_TRUE} raw:ff"
    )
    assert analyse_code(assemble(attempt)).findings.can_selfdestruct is False


@pytest.mark.parametrize(
    ("source", "answer"),
    [
        (f"CALLER SELFDESTRUCT {RETURN_TRUE}", True),
        (f"CALLVALUE @end JUMPI {RETURN_TRUE} end: CALLER SELFDESTRUCT", True),
        (f"{RETURN_TRUE} end: CALLER SELFDESTRUCT", False),
        (f"0xff {RETURN_TOP}", False),
        (f"{RETURN_TRUE} raw:ff", False),
        (f"CALLVALUE @end JUMPI 0 CALLDATALOAD JUMP end: {RETURN_TRUE} SELFDESTRUCT", None),
        (f"CALLVALUE @end JUMPI 0 CALLDATALOAD JUMP end: {RETURN_TRUE}", False),
        ("CALLER SELFDESTRUCT", True),
        ("CALLER POP 0 0 REVERT raw:ff", None),
    ],
    ids=[
        "at once",
        "on one branch",
        "never jumped to",
        "a pushed number",
        "data behind the code",
        "behind a jump that is not known",
        "nowhere, whatever the jump",
        "and nothing else",
        "code that answers no call says nothing",
    ],
)
def test_can_selfdestruct(source: str, answer: bool | None) -> None:
    assert analyse_code(assemble(source)).findings.can_selfdestruct is answer


def test_metadata_is_no_code() -> None:
    code = assemble(RETURN_TRUE)
    assert strip_metadata(code + SOLC_0_8_19) == code
    assert analyse_code(code + SOLC_0_8_19).code_hash == hash_of(code)
    assert strip_metadata(code) == code


@pytest.mark.parametrize(
    ("check", "slots"),
    [
        ("0 SLOAD CALLER EQ", (0,)),
        ("CALLER 5 SLOAD 0xffffffffffffffffffffffffffffffffffffffff AND EQ", (5,)),
        ("7 SLOAD ORIGIN XOR", (7,)),
        ("2 SLOAD CALLER SUB", (2,)),
        ("8 SLOAD 8 SHR CALLER EQ", ()),  # among the packed ones
        (f"{mapping_slot('CALLER', '3')} SLOAD", ()),
        ("4 CALLDATALOAD CALLER EQ", ()),
    ],
)
def test_owner_slots(check: str, slots: tuple[int, ...]) -> None:
    body = f"{check} @ok JUMPI 0 0 REVERT ok: STOP"
    found = analyse_code(functions({SET_OWNER: body, BALANCE_OF: GET_BALANCE}))
    assert found.owner_slots == tuple(Hash32(f"0x{slot:064x}") for slot in slots)


@pytest.mark.parametrize(
    ("read", "shift"),
    [("8 SLOAD 40 SHR", 40), (f"{1 << 16:#x} 9 SLOAD DIV", 16), ("8 SLOAD 8 SHR", 8)],
)
def test_owners_that_share_their_slot_are_told_with_their_place(read: str, shift: int) -> None:
    body = f"{read} {2**160 - 1:#x} AND CALLER EQ @ok JUMPI 0 0 REVERT ok: STOP"
    found = analyse_code(functions({SET_OWNER: body, BALANCE_OF: GET_BALANCE}))
    assert found.findings.has_owner_functionality is True
    assert [place.shift for place in found.packed_owners] == [shift]
    assert found.owner_slots == ()


def test_a_comparison_in_transfer_is_not_an_owner_check() -> None:
    found = analyse_code(functions({TRANSFER: f"0 SLOAD CALLER EQ @tax JUMPI tax: {MOVE}"}))
    assert found.owner_slots == ()


def test_what_is_not_followed_stays_unknown_with_its_reason() -> None:
    lost = f"CALLVALUE @end JUMPI 0 CALLDATALOAD JUMP end: {RETURN_TRUE}"
    found = analyse_code(functions({BALANCE_OF: GET_BALANCE, TRANSFER: lost, MINT: "STOP"}))
    assert found.findings.transfer_guarded_by_storage is None
    assert proof(found, "transfer_guarded_by_storage")["reason"]
    assert found.findings.transfer_from_guarded_by_storage is False
    assert found.findings.has_owner_functionality is None
    assert found.findings.timebomb is False


@pytest.mark.parametrize("marker", ["ef", "ef00", "fe", "00", "ef0001" + "00" * 30, ""])
def test_a_precompiles_marker_tells_nothing(marker: str) -> None:
    findings = analyse_code(bytes.fromhex(marker)).findings
    assert findings.can_selfdestruct is findings.is_proxy is findings.timebomb is None


def test_the_opcode_table_knows_todays_chains() -> None:
    today = {"CLZ", "BASEFEE", "BLOBHASH", "BLOBBASEFEE", "TLOAD", "TSTORE", "MCOPY", "PUSH0"}
    assert today <= set(NUMBER)
    create2 = OPCODES[NUMBER["CREATE2"]]
    assert create2 is not None
    assert create2.pops == 4


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=600))
def test_any_bytes_are_examined(code: bytes) -> None:
    found = analyse_code(code, budget=Budget(steps=20_000))
    assert found.code_hash == hash_of(strip_metadata(code))


@settings(max_examples=40, deadline=None)
@given(st.lists(st.binary(max_size=40), min_size=1, max_size=8))
def test_any_bytes_behind_the_functions_of_a_token_are_examined(bodies: list[bytes]) -> None:
    selectors = (TRANSFER, BALANCE_OF, APPROVE, ALLOWANCE, MINT, SET_OWNER, 0x18160DDD, 0x23B872DD)
    raw = dict(zip(selectors, (f"raw:{body.hex()}" for body in bodies), strict=False))
    found = analyse_code(functions(raw), budget=Budget(steps=20_000))
    assert found.answers_holders is (len(bodies) > 1)
