"""Protects answers that codes share: each is what examining the code itself would find."""

import re
from pathlib import Path

import pytest
from eth_hash.auto import keccak
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis import examiner as module
from analysis.code.bytecode import split, strip_metadata
from analysis.code.examine import Findings, examine
from analysis.code.families import shape_of
from analysis.examiner import Examiner
from analysis.shelf import StoreShelf
from config.burn import BURN_ADDRESSES
from sql.store import Store
from tests.analysis.cases import load_cases
from tests.analysis.cases_compile import BUILDS, runtime_of
from tests.analysis.code.assembler import assemble

SECRET = int.from_bytes(keccak(b"secret"))
ADDRESS = SECRET >> 96
PADDING = "raw:" + "fe" * 300
HIDDEN = "hidden: 0x1234 SELFDESTRUCT"
MASK = 2**256 - 1


def word(number: int) -> str:
    """PUSH32."""
    return f"raw:7f{number:064x}"


def ordinary(seed: int, width: int) -> int:
    """A number that looks random; no two are equal."""
    return int.from_bytes(keccak(b"ordinary %d" % seed)[:width])


class Counted:
    """The real examination, with a count of how often it was done."""

    def __init__(self) -> None:
        self.codes: list[bytes] = []

    def __call__(self, code: bytes) -> Findings:
        self.codes.append(code)
        return examine(code)


async def examine_all(codes: list[bytes]) -> list[bytes]:
    """One after another with the same tables, each checked. Those that were examined."""
    store = Store.open(Path(":memory:"))
    with pytest.MonkeyPatch.context() as patched:
        counted = Counted()
        patched.setattr(module, "examine", counted)
        for code in codes:
            examiner = Examiner(StoreShelf(store))
            found = await examiner.examine(code)
            examiner.close()
            assert found == examine(code), code.hex()
    return counted.codes


HARMLESS = {
    "returned": "{v} 0 MSTORE 0x20 0 RETURN",
    "logged": "{v} 0 0 LOG1 STOP",
    "compared with oneself": "{v} ADDRESS EQ @same JUMPI STOP same: 1 0 SSTORE STOP",
    "hashed with the chain": "{v} 0 MSTORE CHAINID 0x20 MSTORE 0x40 0 SHA3 0 MSTORE 0x20 0 RETURN",
    "zero or not": "{v} ISZERO @hidden JUMPI STOP {hidden}",
}
NAMED = {
    "called": "0 0 0 0 0 {v} GAS CALL STOP",
    "masked": "0 0 0 0 0 {v} 0x{mask:x} AND GAS CALL STOP",
    "owner": "{v} CALLER EQ @hidden JUMPI STOP {hidden}",
}


@pytest.mark.parametrize("body", [*HARMLESS.values(), *NAMED.values()], ids=[*HARMLESS, *NAMED])
async def test_the_third_of_a_family_is_looked_up(body: str) -> None:
    codes = [code_of(body, ordinary(seed, 20)) for seed in range(4)]
    assert await examine_all(codes) == codes[:2]


def code_of(body: str, number: int, **more: str) -> bytes:
    return assemble(
        body.format(v=word(number), hidden=HIDDEN, mask=2**160 - 1, **more) + " " + PADDING
    )


WHERE_EQUAL = "EQ @hidden JUMPI STOP {hidden}"
MEANINGFUL = {
    "a constant of the code": ("{v} {k} " + WHERE_EQUAL, SECRET),
    "a constant in a shorter push": (f"{{v}} {ADDRESS:#x} " + WHERE_EQUAL, ADDRESS),
    "a constant, negated": ("{v} {not_k} NOT " + WHERE_EQUAL, SECRET),
    "a constant, shifted": (f"{{v}} {ADDRESS:#x} 0x20 SHL " + WHERE_EQUAL, ADDRESS << 32),
    "a sum": (f"{{v}} {SECRET - 5:#x} 5 ADD " + WHERE_EQUAL, SECRET),
    "a hash": (
        "0 0 MSTORE {v} 0x20 0 SHA3 " + WHERE_EQUAL,
        int.from_bytes(keccak(bytes(32))),
    ),
    "a power of it": (f"{{v}} 3 EXP {pow(3, SECRET, 2**256):#x} " + WHERE_EQUAL, SECRET),
    "one bit of it": ("{v} 1 AND @hidden JUMPI STOP {hidden}", SECRET | 1),
    "its highest bit": ("{v} 0xff SHR @hidden JUMPI STOP {hidden}", SECRET | 1 << 255),
    "a difference": ("{k} {v} SUB @end JUMPI 0x1234 SELFDESTRUCT end: STOP", SECRET),
    "a limit": ("{v} {k} LT @hidden JUMPI STOP {hidden}", SECRET + 1),
    "a bound": ("{v} {k} GT @hidden JUMPI STOP {hidden}", SECRET - 1),
    "a signed bound": ("0 {v} SLT @hidden JUMPI STOP {hidden}", SECRET | 1 << 255),
    "its bytes in memory": (
        f"{{v}} 0 MSTORE 1 MLOAD {SECRET << 8 & MASK:#x} " + WHERE_EQUAL,
        SECRET,
    ),
    "the hash of it": (
        f"{{v}} 0 MSTORE 0x20 0 SHA3 {int.from_bytes(keccak(SECRET.to_bytes(32))):#x} "
        + WHERE_EQUAL,
        SECRET,
    ),
    "a copy of it": ("{v} POP 0x20 1 0 CODECOPY 0 MLOAD {k} " + WHERE_EQUAL, SECRET),
    "a copy of other code": (
        f"{{v}} 0x20 @data 1 ADD 0 CODECOPY 0 MLOAD {WHERE_EQUAL} data: raw:{SECRET:064x}",
        SECRET,
    ),
    "the balances' slot": (
        "{v} 0 CALLDATALOAD 0xe0 SHR 0x70a08231 EQ @balance JUMPI 1 SWAP1 SSTORE STOP"
        " balance: {k} SLOAD 0 MSTORE 0x20 0 RETURN",
        SECRET,
    ),
    "a time": ("{v} TIMESTAMP LT @hidden JUMPI STOP {hidden}", SECRET),
    "a jump": ("{v} JUMP {hidden}", SECRET),
    "a selector": (
        f"0 CALLDATALOAD {{v}} XOR {SECRET ^ (0x41C0E1B5 << 224):#x} XOR @end JUMPI {HIDDEN}"
        " end: STOP",
        SECRET,
    ),
    "the same person twice": (
        "{v} CALLER EQ @a JUMPI STOP a: " + f"{ADDRESS:#x} CALLER EQ @hidden JUMPI STOP {HIDDEN}",
        ADDRESS,
    ),
    "a word of another path": (
        "{v} CALLVALUE @a JUMPI {k} @b JUMP a: DUP1 b: " + WHERE_EQUAL,
        SECRET,
    ),
    "a burn address": (
        "{v} CALLER EQ @hidden JUMPI STOP {hidden}",
        int(max(BURN_ADDRESSES), 16),
    ),
}


@pytest.mark.parametrize(("body", "number"), MEANINGFUL.values(), ids=MEANINGFUL)
async def test_a_number_that_means_something_is_never_answered_for(body: str, number: int) -> None:
    width = 20 if number < 2**160 else 32
    body = body.replace("{k}", word(SECRET)).replace("{not_k}", word(SECRET ^ MASK))
    others = [ordinary(seed, width) for seed in range(3)]
    await examine_all([code_of(body, each) for each in (*others, number, ordinary(4, width))])


def test_what_looks_like_no_address_and_no_hash_is_part_of_the_name() -> None:
    special = [0, 1, 10**30, MASK, 2**160 - 1, 0xA9059CBB << 224, 1_700_000_000]
    names = [shape_of(assemble(f"{word(each)} {word(SECRET)} STOP")) for each in special]
    assert len({shape.family for shape in names if shape is not None}) == len(special)
    assert shape_of(assemble(f"{word(1)} STOP")) is None


def test_which_numbers_are_equal_is_part_of_the_name() -> None:
    one, two = ordinary(1, 20), ordinary(2, 20)
    same = [shape_of(assemble(f"{word(a)} {word(a)} STOP")) for a in (one, two)]
    other = shape_of(assemble(f"{word(one)} {word(two)} STOP"))
    assert same[0] is not None
    assert same[1] is not None
    assert other is not None
    assert same[0].family == same[1].family != other.family


# --- compiled tokens ------------------------------------------------------------------------------

COMPILED = [
    (case, build)
    for case in load_cases()
    for build in BUILDS
    if case.name in ("ImmutableOwner", "ImmutableAnswerIgnored") and build.name.startswith("0.8")
]
