"""Protects answers that codes share: each is what examining the code itself would find."""

import asyncio
from functools import cache
from pathlib import Path

import pytest
from eth_hash.auto import keccak
from hypothesis import given, settings
from hypothesis import strategies as st

from analysis.pipeline.store_adapter import ReportStore
from analysis.static import result_cache as module
from analysis.static.analyse_code import analyse_code
from analysis.static.evm.disassembly import PUSH32, split, strip_metadata
from analysis.static.immutable_families import (
    CodeShape,
    extend_proof,
    instantiate,
    new_family,
    shape_of,
)
from analysis.static.result_cache import StaticResultCache
from config.burn import BURN_ADDRESSES
from sql.store import Store
from tests.analysis.cases import load_cases
from tests.analysis.cases_compile import builds_of, runtime_of
from tests.analysis.counted import Counted
from tests.analysis.static.assembler import assemble
from tests.examples import one_in

SECRET = int.from_bytes(keccak(b"secret"))
ADDRESS = SECRET >> 96
PADDING = "raw:" + "fe" * 300
HIDDEN = "hidden: 0x1234 SELFDESTRUCT"
MASK = 2**256 - 1


def word(number: int) -> str:
    """PUSH32."""
    return f"raw:7f{number:064x}"


def ordinary(seed: int, width: int) -> int:
    """A number that looks random, and is odd; no two are equal."""
    return int.from_bytes(keccak(b"ordinary %d" % seed)[:width]) | 1


async def examine_all(codes: list[bytes]) -> list[bytes]:
    """One after another with the same tables, each checked. Those that were examined."""
    store = Store.open(Path(":memory:"))
    with pytest.MonkeyPatch.context() as patched:
        counted = Counted()
        patched.setattr(module, "analyse_code", counted)
        for code in codes:
            examiner = StaticResultCache(ReportStore(store))
            found = await examiner.analyse(code)
            examiner.close()
            assert found == analyse_code(code), code.hex()
    return counted.codes


def known_shape(code: bytes) -> CodeShape:
    shape = shape_of(code)
    assert shape is not None
    return shape


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
    "one bit of it": ("{v} 1 AND @end JUMPI 0x1234 SELFDESTRUCT end: STOP", SECRET & ~1),
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
    "a byte of a copy": (
        "{v} POP 1 0x20 0 CODECOPY 0 MLOAD 0xf8 SHR 6 " + WHERE_EQUAL,
        SECRET & ~0xFF | 6,
    ),
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
}


@pytest.mark.parametrize(("body", "number"), MEANINGFUL.values(), ids=MEANINGFUL)
async def test_a_number_that_means_something_is_never_answered_for(body: str, number: int) -> None:
    width = 20 if number < 2**160 else 32
    body = body.replace("{k}", word(SECRET)).replace("{not_k}", word(SECRET ^ MASK))
    others = [ordinary(seed, width) for seed in range(3)]
    await examine_all([code_of(body, each) for each in (*others, number, ordinary(4, width))])


def test_what_looks_like_no_address_and_no_hash_is_part_of_the_name() -> None:
    special = [0, 1, 10**30, MASK, 2**160 - 1, 0xA9059CBB << 224, 1_700_000_000]
    codes = [assemble(f"{word(each)} {word(SECRET)} STOP") for each in special]
    assert len({known_shape(code).family for code in codes}) == len(special)
    assert shape_of(assemble(f"{word(1)} STOP")) is None


def test_a_number_that_stands_elsewhere_in_the_code_is_not_answered_for() -> None:
    body = f"{{v}} 0 SSTORE STOP raw:{SECRET:064x}"
    first, second, third, same = (
        code_of(body, number) for number in (*(ordinary(seed, 32) for seed in range(3)), SECRET)
    )
    family = extend_proof(
        new_family(known_shape(first)), second, known_shape(second), analyse_code(second)
    )
    assert family is not None
    assert instantiate(family, third, known_shape(third)) == analyse_code(third)
    assert instantiate(family, same, known_shape(same)) is None


def test_no_burn_address_is_in_question() -> None:
    """What is found can hang on that, and no walk of the code shows it."""
    for address in BURN_ADDRESSES:
        assert shape_of(assemble(f"{word(int(address, 16))} STOP")) is None


def test_which_numbers_are_equal_is_part_of_the_name() -> None:
    one, two = ordinary(1, 20), ordinary(2, 20)
    first, second, other = (
        known_shape(assemble(f"{word(a)} {word(b)} STOP")).family
        for a, b in ((one, one), (two, two), (one, two))
    )
    assert first == second != other


# --- compiled tokens ------------------------------------------------------------------------------

NAMES = (
    "ImmutableOwner",
    "ImmutableAnswerIgnored",
    "Namespaced",
    "HandMadeSlots",
    "Roles",
    "Eip1967",
)
BUILDS_TRIED = ("0.8", "0.8-opt", "0.8-ir")


@cache
def compiled() -> tuple[bytes, ...]:
    """Immutables, namespaces, roles, slots made by hand; topics in all."""
    codes = [
        strip_metadata(runtime_of(case, build))
        for case in load_cases()
        for build in builds_of(case)
        if case.name in NAMES and build.name in BUILDS_TRIED
    ]
    return tuple(code for code in codes if operands(code))


def operands(code: bytes) -> dict[int, list[int]]:
    """By number, where PUSH32s have it."""
    found: dict[int, list[int]] = {}
    for pc, number in split(code).pushed.items():
        if code[pc] == PUSH32 and pc + 33 <= len(code):
            found.setdefault(number, []).append(pc)
    return found


def replaced(code: bytes, numbers: dict[int, int]) -> bytes:
    """With other operands; those that were equal stay so."""
    made = bytearray(code)
    for number, places in operands(code).items():
        for pc in places if number in numbers else ():
            made[pc + 1 : pc + 33] = numbers[number].to_bytes(32)
    return bytes(made)


@settings(max_examples=one_in(4), derandomize=True)
@given(st.data())
def test_whatever_a_constructor_writes_the_answer_is_of_that_code(data: st.DataObject) -> None:
    """Constants are written over as well: slots, topics, hashes, masks."""
    code = data.draw(st.sampled_from(compiled()))
    there = sorted(operands(code))
    chosen = data.draw(st.lists(st.sampled_from(there), min_size=1, max_size=3, unique=True))
    constants = sorted(set(split(code).pushed.values()))
    roots = [int.from_bytes(keccak(slot.to_bytes(32))) for slot in range(4)]
    special = st.sampled_from([*constants, *roots, 0, 1, MASK, 2**160 - 1, 2**255])
    fresh = st.integers(0, 10**6).flatmap(
        lambda seed: st.sampled_from([ordinary(seed, 20), ordinary(seed, 32)])
    )
    codes = [code]
    for number in chosen:
        width = 20 if number < 2**160 else 32
        codes += [replaced(code, {number: ordinary(seed, width)}) for seed in (1, 2)]
    for _ in range(3):
        drawn = data.draw(st.tuples(*[fresh | special | special for _ in chosen]))
        codes.append(replaced(code, dict(zip(chosen, drawn, strict=True))))
    asyncio.run(examine_all(codes))
