"""Protects the dependencies of a transfer's condition, by whatever way the code reads them.

Code of compilers and honest authors has no condition.
"""

import pytest

from analysis.static.analyse_code import analyse_code
from analysis.static.evm.path_state import BALANCE_OF, TRANSFER
from tests.harness.static.assembler import functions

ENTRY = "0 MSTORE 0 0x20 MSTORE 0x40 0 SHA3"
"""Slot of the balance of the account on the stack."""

MOVE = f"""
    0x24 CALLDATALOAD CALLER {ENTRY} SLOAD SUB CALLER {ENTRY} SSTORE
    0x24 CALLDATALOAD 4 CALLDATALOAD {ENTRY} SLOAD ADD 4 CALLDATALOAD {ENTRY} SSTORE
    1 0 MSTORE 0x20 0 RETURN
"""
GETTER = f"4 CALLDATALOAD {ENTRY} SLOAD 0 MSTORE 0x20 0 RETURN"


def sources(transfer: str, *, balance_of: str = GETTER, **others: str) -> set[str]:
    """Return the dependencies of a token with this transfer.

    `others`: more functions, by selector after an underscore.
    """
    more = {int(selector[1:], 16): body for selector, body in others.items()}
    code = functions({TRANSFER: transfer, BALANCE_OF: balance_of, **more})
    found = analyse_code(code).conditions
    assert found.is_complete
    return {source for condition in found.conditions for source in condition.sources}


def refusing(word: str, then: str = "") -> str:
    """A transfer that reverts where the word is not zero."""
    return f"{word} @bad JUMPI {then} {MOVE} bad: 0 0 REVERT"


@pytest.mark.parametrize(
    ("word", "then", "expected"),
    [
        pytest.param("TIMESTAMP 1 TSTORE 9000 1 TLOAD LT", "", {"time"}, id="transient clock"),
        pytest.param(
            "TIMESTAMP CALLER TSTORE 9000 4 CALLDATALOAD TLOAD LT", "", {"time"}, id="under a key"
        ),
        pytest.param(
            "9000 TIMESTAMP LT @skip JUMPI 1 1 TSTORE skip: 1 TLOAD",
            "",
            {"time"},
            id="transient mark by the clock",
        ),
        pytest.param("1 TLOAD", "1 1 TSTORE", set(), id="transient lock"),
        pytest.param("TIMESTAMP 1 TSTORE 2 TLOAD", "", set(), id="another transient slot"),
        pytest.param(
            "0 0 TIMESTAMP 0 4 GAS STATICCALL POP 9 RETURNDATASIZE LT",
            "",
            {"time"},
            id="size of what the identity returns",
        ),
        pytest.param(
            "TIMESTAMP 0 MSTORE 0 0 0x80 0 6 1000 STATICCALL ISZERO",
            "",
            {"time"},
            id="a point that is on no curve",
        ),
        pytest.param(
            "0 0 0x20 0 4 TIMESTAMP STATICCALL ISZERO", "", {"time"}, id="gas for the identity"
        ),
        pytest.param("0 0 0x20 0 4 GAS STATICCALL ISZERO", "", set(), id="identity with all gas"),
        pytest.param("0 0 0x20 0 4 100 GAS SUB STATICCALL ISZERO", "", set(), id="nearly all gas"),
    ],
)
def test_a_laundered_word_keeps_its_sources(word: str, then: str, expected: set[str]) -> None:
    assert sources(refusing(word, then)) == expected


ASKED = "{selector} 0xe0 SHL 0 MSTORE {first} 4 MSTORE 0 0x24 MSTORE 0x20 0x60 0x44 0 ADDRESS GAS"
"""A call of the contract's own getter, with a word as its first argument."""


@pytest.mark.parametrize(
    ("selector", "first", "balance_of", "expected"),
    [
        pytest.param("0x70a08231", "ADDRESS", GETTER, {"balance"}, id="own balance"),
        pytest.param("0x70a08231", "TIMESTAMP", GETTER, {"balance", "time"}, id="asked by clock"),
        pytest.param(
            "0x70a08231",
            "ADDRESS",
            f"4 CALLDATALOAD {ENTRY} SLOAD TIMESTAMP ADD 0 MSTORE 0x20 0 RETURN",
            {"balance", "time"},
            id="a clock that is shown as a balance",
        ),
        pytest.param("0x12345678", "ADDRESS", GETTER, {"unknown"}, id="no known getter"),
    ],
)
def test_an_own_getter_has_the_sources_of_its_answer(
    selector: str, first: str, balance_of: str, expected: set[str]
) -> None:
    getter = ASKED.format(selector=selector, first=first)
    word = f"{getter} STATICCALL POP 1000 0x60 MLOAD LT"
    assert sources(refusing(word), balance_of=balance_of) - {"answer"} == expected


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        pytest.param(
            "7 SLOAD EXTCODESIZE ISZERO @bad JUMPI 0 0 0 0 7 SLOAD GAS STATICCALL",
            set(),
            id="before a call",
        ),
        pytest.param(
            "0 0 0 0 7 SLOAD GAS STATICCALL POP 7 SLOAD EXTCODESIZE", {"code"}, id="code refuses"
        ),
        pytest.param("0xabcdef EXTCODESIZE", {"code"}, id="of an address that is a number"),
        pytest.param("9 7 SLOAD EXTCODESIZE EQ @bad JUMPI 0", {"code"}, id="its size"),
        pytest.param("4 CALLDATALOAD EXTCODESIZE", {"wallet"}, id="of a party"),
    ],
)
def test_code_at_an_address_is_a_source_but_before_a_call(word: str, expected: set[str]) -> None:
    assert sources(refusing(f"{word} ISZERO ISZERO")) - {"callee"} == expected


SHOWN = "8 SLOAD 0 MSTORE 0x20 0 RETURN"
SUMMED = "0x24 CALLDATALOAD 8 SLOAD ADD 8 SSTORE"
COUNTED = "1 8 SLOAD ADD 8 SSTORE"
SCALED = f"8 SLOAD 4 CALLDATALOAD {ENTRY} SLOAD MUL 0 MSTORE 0x20 0 RETURN"


@pytest.mark.parametrize(
    ("balance_of", "others"),
    [
        pytest.param(GETTER, {"_18160ddd": SHOWN}, id="supply"),
        pytest.param(SCALED, {}, id="factor of all balances"),
    ],
)
def test_what_scales_amounts_is_a_counter_in_a_test(
    balance_of: str, others: dict[str, str]
) -> None:
    tested = refusing("9 8 SLOAD LT", SUMMED)
    assert sources(tested, balance_of=balance_of, **others) == {"counter"}
    limit = refusing("100 5 8 SLOAD MUL DIV 0x24 CALLDATALOAD GT", SUMMED)
    assert sources(limit, balance_of=balance_of, **others) == {"amount"}
    computed = MOVE.replace("0x24 CALLDATALOAD", "0x24 CALLDATALOAD 8 SLOAD MUL")
    assert sources(f"{SUMMED} {computed}", balance_of=balance_of, **others) == set()
    # Trades that are counted one by one scale nothing.
    assert sources(f"{COUNTED} {computed}", balance_of=balance_of, **others) == {"counter"}


def test_the_length_of_a_partys_list_is_a_mark_in_a_test() -> None:
    slot = "{key} 0 MSTORE 9 0x20 MSTORE 0x40 0 SHA3"
    mine, callers_slot = slot.format(key="4 CALLDATALOAD"), slot.format(key="CALLER")
    noted = f"1 {mine} SLOAD ADD {mine} SSTORE 1 {mine} 0 MSTORE 0x20 0 SHA3 SSTORE STOP"
    assert sources(refusing(f"{callers_slot} SLOAD"), _12345678=noted) == {"unguarded"}


@pytest.mark.parametrize(
    ("deed", "expected"),
    [
        pytest.param("0 1 TIMESTAMP AND 40 SHL MSTORE", {"time"}, id="memory far away"),
        pytest.param("TIMESTAMP 0 LOG0", {"time"}, id="a log of any length"),
        pytest.param(
            "1 TIMESTAMP AND RETURNDATASIZE 0x80 RETURNDATACOPY", {"time"}, id="copied too much"
        ),
        pytest.param("CALLDATASIZE 0 0x80 CALLDATACOPY", set(), id="calldata"),
        pytest.param(
            "0 0 0 0 9 SLOAD GAS STATICCALL POP 0 0x1f RETURNDATASIZE ADD MSTORE",
            {"callee", "unguarded"},
            id="room for what was returned",
        ),
        pytest.param(
            "0 0 0 0 7 SLOAD GAS STATICCALL POP RETURNDATASIZE 0 0x80 RETURNDATACOPY",
            {"callee"},
            id="all that was returned",
        ),
    ],
)
def test_an_operand_that_halts_the_call_is_a_condition(deed: str, expected: set[str]) -> None:
    anybody = "4 CALLDATALOAD 9 SSTORE STOP"
    assert sources(f"{deed} {MOVE}", _12345678=anybody) == expected


@pytest.mark.parametrize(
    ("account", "expected"),
    [
        pytest.param("1 4 CALLDATALOAD XOR", {"mark"}, id="beside the recipient"),
        pytest.param("CALLER 0 MSTORE 0x20 0 SHA3", {"mark"}, id="at a hash"),
        pytest.param("7 SLOAD", {"balance"}, id="stored"),
        pytest.param("8 7 SLOAD SWAP1 SHR", {"balance"}, id="stored in a packed slot"),
        pytest.param("CALLER", {"amount"}, id="the payer"),
    ],
)
def test_the_balance_of_nobody_is_a_mark(account: str, expected: set[str]) -> None:
    assert sources(refusing(f"{account} {ENTRY} SLOAD")) == expected
