"""A proxy is known by the effect of its fallback, in any form of code."""

import pytest

from analysis.scenarios.theft.unproved_stores import open_custody
from analysis.static.analyse_code import analyse_code
from analysis.static.custody.simulation_hints import SimulationHints
from analysis.token.deployed_code import behind_front
from analysis.token.proxy_resolution import BEACON_SLOT, IMPLEMENTATION_SLOT
from tests.harness.static.assembler import assemble, functions
from tests.harness.static.proxy_codes import CLONES, TARGET

FORWARD = (
    "CALLDATASIZE 0 0 CALLDATACOPY 0 0 CALLDATASIZE 0 {target} GAS DELEGATECALL "
    "RETURNDATASIZE 0 0 RETURNDATACOPY @good JUMPI RETURNDATASIZE 0 REVERT "
    "good: RETURNDATASIZE 0 RETURN"
)


@pytest.mark.parametrize("form", CLONES)
def test_clones(form: str) -> None:
    code, target = CLONES[form]
    found = analyse_code(bytes.fromhex(code.format(target[2:].removeprefix("00000000")))).delegation
    assert (found.is_proxy, found.targets) == (True, (target,))


def test_a_storage_proxy_names_its_slot() -> None:
    slot = int(IMPLEMENTATION_SLOT, 16)
    found = analyse_code(assemble(FORWARD.format(target=f"{slot:#x} SLOAD"))).delegation
    assert (found.is_proxy, found.slots, found.targets) == (True, (IMPLEMENTATION_SLOT,), ())


def test_a_slot_of_its_own_is_named_too() -> None:
    mask = "0xffffffffffffffffffffffffffffffffffffffff AND"
    found = analyse_code(assemble(FORWARD.format(target=f"0 SLOAD {mask}"))).delegation
    assert found.slots == ("0x" + "00" * 32,)


def test_a_beacon_proxy_names_whom_it_asks() -> None:
    slot = int(BEACON_SLOT, 16)
    ask = f"32 0 4 0 {slot:#x} SLOAD GAS STATICCALL POP 0 MLOAD"
    found = analyse_code(assemble(FORWARD.format(target=ask))).delegation
    assert (found.beacon_slots, found.slots) == ((BEACON_SLOT,), ())


def test_a_diamond_has_no_one_target() -> None:
    facet = "0 CALLDATALOAD 0xe0 SHR 0 MSTORE 9 32 MSTORE 64 0 SHA3 SLOAD"
    found = analyse_code(assemble(FORWARD.format(target=facet))).delegation
    assert (found.is_proxy, found.slots, found.targets) == (True, (), ())


def test_what_an_implementation_does_is_not_known_from_its_proxy() -> None:
    findings = analyse_code(assemble(FORWARD.format(target=TARGET))).findings
    assert findings.is_proxy is True
    assert findings.can_selfdestruct is None


def test_a_library_call_is_no_proxy() -> None:
    library = f"0 0 36 0 {TARGET} GAS DELEGATECALL POP 1 0 MSTORE 32 0 RETURN"
    found = analyse_code(functions({0xA9059CBB: library}))
    assert found.findings.is_proxy is False
    assert found.findings.can_selfdestruct is False


def test_one_function_that_hands_on_its_calldata_is_no_proxy() -> None:
    found = analyse_code(functions({0xA9059CBB: FORWARD.format(target=TARGET)}))
    assert found.findings.is_proxy is False


def test_a_token_with_a_delegating_fallback_answers_holders_itself() -> None:
    own = "1 0 MSTORE 32 0 RETURN"
    found = analyse_code(
        functions(
            {
                0xA9059CBB: own,
                0x70A08231: own,
                0x13AF4035: f"3 SLOAD CALLER EQ @ok JUMPI ok: {own}",
            },
            fallback=FORWARD.format(target=TARGET),
        )
    )
    assert found.findings.is_proxy is True
    assert found.answers_holders
    assert found.owner_slots == (f"0x{3:064x}",)


def test_a_fallback_that_could_not_be_followed_is_unknown() -> None:
    found = analyse_code(assemble(f"0 CALLDATALOAD JUMP {FORWARD.format(target=TARGET)}"))
    assert found.delegation.is_proxy is None


SLOT = int(IMPLEMENTATION_SLOT, 16)
BALANCE = "4 CALLDATALOAD 0 MSTORE 0 32 MSTORE 64 0 SHA3"
ASKED = "7 SLOAD CALLER EQ @ok{0} JUMPI 0 0 REVERT ok{0}:"
RUN = f"0 0 0 0 {SLOT:#x} SLOAD GAS DELEGATECALL POP STOP"
WRITE = f"36 CALLDATALOAD {BALANCE} SSTORE STOP"
UPGRADE = f"{ASKED.format(1)} 4 CALLDATALOAD {SLOT:#x} SSTORE STOP"

FRONTS = {
    "who may replace the target": ({0x3659CFE6: UPGRADE}, ()),
    "runs what it has just stored as its target": (
        {
            0x4F1EF286: f"4 CALLDATALOAD {SLOT:#x} SSTORE 0 0 0 0 4 CALLDATALOAD GAS "
            "DELEGATECALL POP STOP"
        },
        (),
    ),
    "names another administrator": (
        {0x3659CFE6: UPGRADE, 0x8F283970: f"{ASKED.format(2)} 4 CALLDATALOAD 7 SSTORE STOP"},
        (),
    ),
    "runs its target by another function": ({0x0933C1ED: RUN}, ()),
    "its administrator writes anywhere": (
        {
            0x3659CFE6: UPGRADE,
            0x12345678: f"{ASKED.format(2)} {WRITE}",
        },
        (),
    ),
    "anybody writes anywhere": (
        {0x12345678: WRITE},
        (("unknown", 0),),
    ),
    "somebody writes who could not replace the target": (
        {0x12345678: f"{ASKED.format(1)} {WRITE}"},
        (("unknown", 1),),
    ),
    "runs any code": (
        {0x12345678: "0 0 0 0 4 CALLDATALOAD GAS DELEGATECALL POP STOP"},
        (("code", 0),),
    ),
}


@pytest.mark.parametrize("front", FRONTS)
def test_what_a_front_itself_may_do_to_balances(front: str) -> None:
    bodies, expected = FRONTS[front]
    code = functions(bodies, fallback=FORWARD.format(target=f"{SLOT:#x} SLOAD"))
    written = analyse_code(code).hints.front_writes
    assert tuple((each.kind, len(each.parties)) for each in written) == expected


def test_the_stores_of_a_front_are_judged_with_the_code_behind_it() -> None:
    behind = {0x12345678: WRITE}
    front = analyse_code(functions(behind, fallback=FORWARD.format(target=TARGET))).hints
    joined = behind_front(SimulationHints(), front)
    doubts = open_custody(joined, {}, trusted=frozenset())
    assert [each.selector for each in doubts] == [0x12345678]
