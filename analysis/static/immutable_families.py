"""Codes that differ only in what a constructor wrote into them, and when that makes no difference.

Compilers keep immutables as operands of PUSH32. Codes that are equal but for such numbers are a
family. What is found in one of them is found in the others, with their numbers in it, if nothing
else hangs on the numbers. A proof shows that, by examining the code with sealed ones. It shows
nothing for numbers that come up elsewhere in code or examination: a code that has one of these is
examined by itself.

Only numbers that look random can be in question: addresses, hashes. What is small or regular (a
time, a limit, a flag, a mask) stays a part of the family's name.
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
from config.primitives import Hash32

_FEWEST_DIFFERENT: Final = 10
"""Bytes of a number that looks random. Masks, powers of ten and times have fewer."""

_MOST_NUMBERS: Final = 64
_MOST_OTHERS: Final = 4096
_SECRET_BITS: Final = 96

_SHORTER_PUSHES: Final = b"|".join(b"\\x%02x.{%d}" % (0x5F + size, size) for size in range(1, WORD))
_UP_TO_WORD: Final = re.compile(
    rb"(?:[^\x60-\x7f]++|" + _SHORTER_PUSHES + rb")*+\x7f(.{32})", re.DOTALL
)
"""Whole instructions up to the next PUSH32. A loop over them would be slow."""


class CodeShape(msgspec.Struct, frozen=True, kw_only=True):
    """One code, and what may be immutables in it."""

    family: Hash32
    """The same for codes that differ in nothing else. Which of the numbers equal each other, and
    how wide they are, is part of it."""
    numbers: tuple[int, ...]
    """In the order in which they come first; each once."""
    places: tuple[tuple[int, int], ...]
    """Where operands start, and which of the numbers each is."""


class FamilyProof(msgspec.Struct, frozen=True, kw_only=True):
    """That some numbers of a family decide nothing. Numbers are in hex."""

    stand_ins: dict[int, str]
    """By which of the family's numbers: what stands for it in `found`."""
    others: tuple[str, ...]
    """Numbers that it shows nothing for."""
    functions: str
    """Digest of what evmole, which is no part of the proof, has found."""
    found: str
    """Findings as JSON."""


class Family(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of the codes of one family."""

    numbers: tuple[str, ...]
    """Of the one that was examined first, in hex."""
    proof: FamilyProof | None = None
    is_closed: bool = False
    """A proof has failed; no other is tried."""


def shape_of(stripped: bytes) -> CodeShape | None:
    """None: there is no number in it that may be an immutable."""
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
    """The family of a code that is the first of it."""
    return Family(numbers=tuple(f"{number:x}" for number in shape.numbers))


def instantiate(family: Family, stripped: bytes, shape: CodeShape) -> CodeAnalysis | None:
    """What examining this code of the family would find. None: that has not been shown."""
    proof = family.proof
    if proof is None or not _differing(family, shape) <= proof.stand_ins.keys():
        return None
    values = {name: shape.numbers[name] for name in proof.stand_ins}
    rest = _without(stripped, _places(shape, proof.stand_ins))
    others = {int(number, 16) for number in proof.others}
    for value in values.values():
        # any stretch of the code may be copied, and be taken for a number
        if value in others or value.to_bytes(WORD).strip(b"\0") in rest:
            return None
    if _digest(functions_of(stripped)) != proof.functions:
        return None
    return _filled(proof, values, stripped)


def extend_proof(
    family: Family, stripped: bytes, shape: CodeShape, found: CodeAnalysis
) -> Family | None:
    """The family with a proof that covers this code of it, in which that was found; closed where
    there is none. None: there is nothing to be shown."""
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
    """The numbers in which the code differs from the one that was examined first."""
    pairs = zip(family.numbers, shape.numbers, strict=True)
    return frozenset(name for name, (one, other) in enumerate(pairs) if int(one, 16) != other)


# --- proofs -------------------------------------------------------------------------------------


def _prove(stripped: bytes, shape: CodeShape, which: frozenset[int]) -> FamilyProof | None:
    """That these numbers of the code decide nothing. None: they do, or that is not known.

    The code is examined with the lowest and with the highest numbers that they could be, in either
    order: what hangs on a value in a way that seals do not see hangs on that as well.
    """
    widths = {name: width_of(shape.numbers[name]) for name in which}
    few = secrets.randbits(_SECRET_BITS)  # so that no code can name them
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
    """A proof, but for being the same with other values."""
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
    """What was found, with the real numbers in the place of those that stood for them."""
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
    """The code with zeros in these places."""
    rest = bytearray(code)
    for place, _ in places:
        rest[place : place + WORD] = bytes(WORD)
    return bytes(rest)


def _digest(functions: Functions) -> str:
    return hashlib.sha256(msgspec.json.encode(sorted(functions.items()))).hexdigest()
