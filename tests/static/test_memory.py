"""Memory equals the EVM's, modelled as a plain row of bytes."""

from collections.abc import Callable
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.static.evm.expressions import FOLDED, Expr, ExprPool, Value
from analysis.static.evm.symbolic_memory import SymbolicMemory
from core.evm.keccak import keccak

_SIZE: Final = 512
_INPUT: Final = bytes(range(1, 129))
"""Input read by CALLDATALOAD in the plain memory."""


class Both:
    """One memory of words and one of bytes, with the same writes. Places count from a base."""

    def __init__(self, pool: ExprPool, base: Value) -> None:
        self.pool = pool
        self.base = base
        self.memory = SymbolicMemory(pool)
        self.bytes = bytearray(_SIZE)
        self.is_known = bytearray(_SIZE) if isinstance(base, Expr) else bytearray(b"\1" * _SIZE)
        self.is_stored = bytearray(_SIZE)

    def place(self, offset: int) -> Value:
        return self.pool.build("ADD", offset, self.base)

    def put(self, offset: int, given: bytes) -> None:
        self.bytes[offset : offset + len(given)] = given
        for row in (self.is_known, self.is_stored):
            row[offset : offset + len(given)] = b"\1" * len(given)

    def store(self, offset: int, word: Value) -> None:
        self.memory.store(self.place(offset), word)
        self.put(offset, _number(word).to_bytes(32))

    def store_byte(self, offset: int, word: Value) -> None:
        self.memory.store_byte(self.place(offset), word)
        self.put(offset, bytes([_number(word) & 0xFF]))

    def copy(self, offset: int, word: Value) -> None:
        """As much as 40 bytes: a word, and a part of another."""
        self.memory.store_words(self.place(offset), [word, word], 40)
        self.put(offset, (2 * _number(word).to_bytes(32))[:40])

    def forget(self, offset: int, word: Value) -> None:
        length = _number(word) % 70
        self.memory.forget(self.place(offset), length)
        for row in (self.is_known, self.is_stored):
            row[offset : offset + length] = bytes(length)

    def check(self, offset: int) -> None:
        """A load equals the bytes, or is unknown where some byte was never stored."""
        word = self.memory.load(self.place(offset))
        if _is_unknown(word):
            assert not all(self.is_stored[offset : offset + 32])
        else:
            assert all(self.is_known[offset : offset + 32])
            assert _number(word) == int.from_bytes(self.bytes[offset : offset + 32])

    def check_hash(self, offset: int, length: int) -> None:
        """A hash that is a number is that of the bytes."""
        digest = self.memory.hash(self.place(offset), length)
        if isinstance(digest, int):
            assert all(self.is_known[offset : offset + length])
            assert digest == int.from_bytes(keccak(bytes(self.bytes[offset : offset + length])))


def _number(word: Value) -> int:
    if isinstance(word, int):
        return word
    if word.operation == "selector":
        return int.from_bytes(_INPUT[:4])
    if word.operation == "selector_high":
        return int.from_bytes(_INPUT[:4].ljust(32, b"\0"))
    if word.operation == "CALLDATALOAD":
        [at] = word.arguments
        assert isinstance(at, int)
        return int.from_bytes(_INPUT[at : at + 32])
    return FOLDED[word.operation](*map(_number, word.arguments))


def _is_unknown(word: Value) -> bool:
    return isinstance(word, Expr) and (
        word.operation == "memory" or any(map(_is_unknown, word.arguments))
    )


Deed = Callable[[Both, int, Value], None]
effects = st.sampled_from((Both.store, Both.store, Both.store_byte, Both.copy, Both.forget))
offsets = st.one_of(st.sampled_from(range(0, 192, 32)), st.integers(0, 192))
words = st.one_of(st.integers(0, 2**256 - 1), st.sampled_from((None, 4, 36)))


@given(
    done=st.lists(st.tuples(effects, offsets, words), max_size=12),
    reads=st.lists(offsets, min_size=1, max_size=8),
    hashed=st.tuples(offsets, st.integers(1, 96)),
    is_number=st.booleans(),
)
def test_loads_and_hashes_are_those_of_the_bytes(
    done: list[tuple[Deed, int, int | None]],
    reads: list[int],
    hashed: tuple[int, int],
    is_number: bool,
) -> None:
    pool = ExprPool()
    both = Both(pool, 0 if is_number else pool.intern("CALLVALUE"))
    for effect, offset, word in done:
        small = word in (None, 4, 36)
        effect(both, offset, pool.intern("CALLDATALOAD", word or 0) if small else word or 0)
    for offset in reads:
        both.check(offset)
    both.check_hash(*hashed)


def test_a_later_store_over_a_part_of_a_word_counts() -> None:
    memory = SymbolicMemory(ExprPool())
    memory.store(0, 2**256 - 1)
    memory.store(16, 0)
    assert memory.load(0) == (2**128 - 1) << 128


def test_a_calls_selector_is_seen_under_its_arguments() -> None:
    pool = ExprPool()
    memory = SymbolicMemory(pool)
    memory.store(0x80, 0xA9059CBB << 224)
    memory.store(0x84, pool.intern("CALLER"))
    assert memory.head(0x80) == 0xA9059CBB << 224


def test_copies_go_their_own_ways() -> None:
    memory = SymbolicMemory(ExprPool())
    memory.store(0, 1)
    other = memory.copy()
    memory.store(0, 2)
    other.store(32, 3)
    assert (memory.load(0), memory.load(32)) == (2, 0)
    assert (other.load(0), other.load(32)) == (1, 3)


@pytest.mark.parametrize("base", [0, "term"])
def test_where_memories_differ_a_word_stands_for_both(base: int | str) -> None:
    pool = ExprPool()
    start = pool.intern("CALLVALUE") if base else 0
    one, two = SymbolicMemory(pool), SymbolicMemory(pool)
    for memory, patch in ((one, 7), (two, 8)):
        memory.store(start, 1)
        memory.store(pool.build("ADD", 96, start), patch)
    both = one.common(two, lambda place, a, b: pool.intern("both", place, a, b))
    patched = pool.build("ADD", 96, start)
    assert both.load(start) == 1
    assert both.load(patched) is pool.intern("both", patched, 7, 8)
    assert not both.is_same(one)


@pytest.mark.parametrize("base", [0, "term"])
def test_what_only_one_of_two_memories_holds_is_unknown_in_both(base: int | str) -> None:
    pool = ExprPool()
    start = pool.intern("CALLVALUE") if base else 0
    one, two = SymbolicMemory(pool), SymbolicMemory(pool)
    one.store(start, 1)
    both = one.common(two, lambda _, a, __: a)
    assert _is_unknown(both.load(start))


def test_a_length_is_the_distance_of_two_places_behind_one_pointer() -> None:
    """As compilers compute it where paths with different free memory meet."""
    pool = ExprPool()
    memory = SymbolicMemory(pool)
    pointer = pool.either()
    start, end = pool.build("ADD", 32, pointer), pool.build("ADD", 96, pointer)
    memory.store(start, 7)
    memory.store(pool.build("ADD", 64, pointer), 8)
    digest = int.from_bytes(keccak((7).to_bytes(32) + (8).to_bytes(32)))
    assert memory.hash(start, pool.build("SUB", end, start)) == digest
    assert not isinstance(memory.hash(start, pool.build("SUB", end, pool.either())), int)
