"""Reuse of analysis results among codes that differ only in immutables.

Compilers keep immutables as operands of PUSH32. Codes that are equal but for such numbers form a
family. A result of one code holds for the others, with their numbers substituted, if nothing else
in it depends on the numbers. A proof establishes that by analysing the code with opaque immutables
(`evm/opaque_immutables.py`). It does not cover numbers that occur elsewhere in the code or in the
analysis: a code with one of these as an immutable is analysed by itself.

Only numbers that look random qualify: addresses, hashes. Small or regular ones (a time, a limit, a
flag, a mask) are part of the family's hash.
"""

import hashlib
import re
import secrets
from collections.abc import Container, Iterable, Mapping
from typing import Final

import msgspec
from eth_hash.auto import keccak

from analysis.static.analyse_code import CodeAnalysis, Functions, analyse_program, functions_of
from analysis.static.evm.budget import Budget
from analysis.static.evm.disassembly import hash_of, split
from analysis.static.evm.opaque_immutables import (
    ADDRESS_BYTES,
    FEWEST_BYTES,
    LOWEST,
    WORD,
    OpaqueCode,
    OpaqueInt,
    RecordingPool,
    ValueInspectedError,
    width_of,
)
from core.primitives import Hash32

_FEWEST_DIFFERENT: Final = 10
"""Distinct bytes in a number that looks random. Masks, powers of ten and times have fewer."""

_MOST_NUMBERS: Final = 64
_MOST_OTHERS: Final = 4096
_SECRET_BITS: Final = 96

_SHORTER_PUSHES: Final = b"|".join(b"\\x%02x.{%d}" % (0x5F + size, size) for size in range(1, WORD))
_UP_TO_WORD: Final = re.compile(
    rb"(?:[^\x60-\x7f]++|" + _SHORTER_PUSHES + rb")*+\x7f(.{32})", re.DOTALL
)
"""Whole instructions up to the next PUSH32. A loop over them would be slow."""


class CodeShape(msgspec.Struct, frozen=True, kw_only=True):
    """The family of one code, and its candidate immutables."""

    family: Hash32
    """Hash that is equal for codes that differ in nothing else. It covers which of the numbers
    equal each other, and their widths."""
    numbers: tuple[int, ...]
    """The distinct candidates, in the order of first occurrence."""
    places: tuple[tuple[int, int], ...]
    """Pairs of operand offset in bytes and index into `numbers`."""


class FamilyProof(msgspec.Struct, frozen=True, kw_only=True):
    """Proof that some numbers of a family do not influence the result. Numbers are in hex."""

    stand_ins: dict[int, str]
    """By index of the number: the placeholder for it in `found`."""
    others: tuple[str, ...]
    """Numbers that the proof does not cover."""
    functions: str
    """Digest of the functions that evmole found: evmole is not part of the proof."""
    found: str
    """The `CodeAnalysis` with placeholders, as JSON."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """Stored state of one family of codes."""

    numbers: tuple[str, ...]
    """Numbers of the code that was analysed first, in hex."""
    proof: FamilyProof | None = None
    is_closed: bool = False
    """True if a proof has failed: no other is tried."""


def shape_of(stripped: bytes) -> CodeShape | None:
    """Return the shape of a code. None: it has no candidate immutable, or too many."""
    names: dict[int, int] = {}
    places = []
    end = 0
    while (found := _UP_TO_WORD.match(stripped, end)) is not None:
        end = found.end()
        number = int.from_bytes(found[1])
        if _looks_random(found[1]):
            places.append((end - WORD, names.setdefault(number, len(names))))
    if not 0 < len(names) <= _MOST_NUMBERS:
        return None
    widths = [width_of(number) for number in names]
    rest = _without(stripped, places)
    name = keccak(msgspec.json.encode(("family", places, widths)) + rest)
    return CodeShape(family=Hash32("0x" + name.hex()), numbers=tuple(names), places=tuple(places))


def _looks_random(operand: bytes) -> bool:
    core = operand.strip(b"\0")
    return len(core) >= FEWEST_BYTES and len(set(core)) >= _FEWEST_DIFFERENT


# --- families -----------------------------------------------------------------------------------


def new_family(shape: CodeShape) -> Family:
    """Return a new family of which this code is the first."""
    return Family(numbers=tuple(f"{number:x}" for number in shape.numbers))


def instantiate(family: Family, stripped: bytes, shape: CodeShape) -> CodeAnalysis | None:
    """Return the result that analysing this code would have. None: no proof covers it."""
    proof = family.proof
    if proof is None or not _differing(family, shape) <= proof.stand_ins.keys():
        return None
    values = {name: shape.numbers[name] for name in proof.stand_ins}
    rest = _without(stripped, _places(shape, proof.stand_ins))
    others = {int(number, 16) for number in proof.others}
    for value in values.values():
        # any part of the code may be copied to memory and read as a number
        if value in others or value.to_bytes(WORD).strip(b"\0") in rest:
            return None
    if _digest(functions_of(stripped)) != proof.functions:
        return None
    return _filled(proof, values, stripped)


def extend_proof(
    family: Family, stripped: bytes, shape: CodeShape, found: CodeAnalysis
) -> Family | None:
    """Return the family with a proof that covers this code, whose analysis was `found`.

    If the proof fails, the returned family is closed. None: nothing changes.
    """
    if family.is_closed:
        return None
    proved = frozenset(family.proof.stand_ins) if family.proof is not None else frozenset[int]()
    which = proved | _differing(family, shape)
    if which == proved:
        return None
    proof = _prove(stripped, shape, which)
    values = {name: shape.numbers[name] for name in which}
    if proof is None or _filled(proof, values, stripped) != found:
        return msgspec.structs.replace(family, is_closed=True)
    return msgspec.structs.replace(family, proof=proof)


def _differing(family: Family, shape: CodeShape) -> frozenset[int]:
    """Return the indices of the numbers that differ from the code that was analysed first."""
    pairs = zip(family.numbers, shape.numbers, strict=True)
    return frozenset(name for name, (one, other) in enumerate(pairs) if int(one, 16) != other)


# --- proofs -------------------------------------------------------------------------------------


def _prove(stripped: bytes, shape: CodeShape, which: frozenset[int]) -> FamilyProof | None:
    """Return a proof that these numbers do not influence the result. None: they do, or may.

    The code is analysed twice, with numbers near the lowest of their width in ascending order and
    near the highest in descending order: that also detects influence that `OpaqueInt` misses.
    """
    widths = {name: width_of(shape.numbers[name]) for name in which}
    few = secrets.randbits(_SECRET_BITS)  # random, so that no code can contain them
    low = {name: LOWEST[width] + few + name for name, width in widths.items()}
    high = {name: 2 ** (8 * width) - 1 - few - name for name, width in widths.items()}
    try:
        proofs = [_examined_with(values, stripped, shape) for values in (low, high)]
    except ValueInspectedError:
        return None
    one, other = proofs
    if one is None or other is None:
        return None
    if _filled(one, high, stripped) != _filled(other, high, stripped):
        return None
    return msgspec.structs.replace(one, others=tuple({*one.others, *other.others}))


def _examined_with(
    values: Mapping[int, int], stripped: bytes, shape: CodeShape
) -> FamilyProof | None:
    """Return a proof for these values, still to be compared with one for other values."""
    others: set[int] = set()
    sealed = {
        name: OpaqueInt.make(value, name=name, others=others) for name, value in values.items()
    }
    places = _places(shape, values)
    code = OpaqueCode(stripped)
    code.parts = tuple(range(place, place + WORD) for place, _ in places)
    program = split(stripped)
    pushed = {**program.pushed, **{place - 1: sealed[name] for place, name in places}}
    program = msgspec.structs.replace(program, code=code, pushed=pushed)
    functions = functions_of(stripped)
    found = analyse_program(program, functions, RecordingPool(others), Budget())
    large = sorted(number for number in others if number >= LOWEST[ADDRESS_BYTES])
    if found.is_timed_out or len(large) > _MOST_OTHERS:
        return None
    return FamilyProof(
        stand_ins={name: _text(value, like=value) for name, value in values.items()},
        others=tuple(f"{number:x}" for number in large),
        functions=_digest(functions),
        found=msgspec.json.encode(found).decode(),
    )


def _filled(proof: FamilyProof, values: Mapping[int, int], stripped: bytes) -> CodeAnalysis:
    """Return the stored result with the placeholders replaced by the real numbers."""
    text = proof.found
    for name, stand_in in proof.stand_ins.items():
        text = text.replace(stand_in, _text(values[name], like=int(stand_in, 16)))
    found = msgspec.json.decode(text, type=CodeAnalysis)
    return msgspec.structs.replace(found, code_hash=hash_of(stripped))


def _text(number: int, *, like: int) -> str:
    return f"{number:0{2 * width_of(like)}x}"


def _places(shape: CodeShape, which: Container[int]) -> tuple[tuple[int, int], ...]:
    return tuple((place, name) for place, name in shape.places if name in which)


def _without(code: bytes, places: Iterable[tuple[int, int]]) -> bytes:
    """Return the code with zeros in place of these operands."""
    rest = bytearray(code)
    for place, _ in places:
        rest[place : place + WORD] = bytes(WORD)
    return bytes(rest)


def _digest(functions: Functions) -> str:
    return hashlib.sha256(msgspec.json.encode(sorted(functions.items()))).hexdigest()
