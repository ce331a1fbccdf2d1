"""Names the storage words of a creation: variables, elements of lists, and entries by their keys.

A mapping's entry lies at a hash of its key and of the mapping's slot. Keys are tried that the
creation knows: parties of its events, addresses in its data, its constants and its storage, the
token's pools and the exchanges. Every search is bounded. Pure.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from typing import Final

import msgspec

from analysis.static.evm.expressions import MASK
from analysis.static.evm.opcodes import NUMBER
from analysis.static.token_model.storage.constant_slots import is_hash_like, standard_slots
from config.burn import BURN_ADDRESSES
from core.evm.keccak import keccak
from core.evm.primitives import ADDRESS_MASK, Address, Hash32, low_address

_WORD: Final = 32
_SMALL_BITS: Final = 64
"""A slot of fewer bits was numbered by a compiler; a larger one is a hash or a chosen constant."""
_LOWEST_ACCOUNT: Final = 2**64
_PUSH1: Final = NUMBER["PUSH1"]
_PUSH32: Final = NUMBER["PUSH32"]
_NOT: Final = bytes([NUMBER["NOT"]])
_ADDRESS_BYTES: Final = range(16, 21)
_MOST_CONSTANTS: Final = 64
_MOST_ARGUMENTS: Final = 512
_MOST_OTHERS: Final = 8
_MOST_PARTIES: Final = 512
_MOST_KEYS: Final = 160
_MOST_ROOTS: Final = 96
_HIGHEST_ROOT: Final = 0x400
_FIELDS: Final = 8
"""Words of one entry: a struct's fields."""
_NAMESPACE_MAPPINGS: Final = 4
_DEEPEST: Final = 3
_ROOT_BYTES: Final = 2
_NAMESPACE: Final = 32
"""Slots after a constant one that belong to the same struct."""
_LONGEST: Final = 2**16
"""Words of one list or text."""
_INNER: Final = 40
_OUTER_ROOTS: Final = 24
_MOST_HASHES: Final = 80_000
_SOLADY_SEED: Final = bytes.fromhex("87a211a2")
"""Source: Solady, src/tokens/ERC20.sol, _BALANCE_SLOT_SEED."""
_SOLADY_ALLOWANCE: Final = bytes.fromhex("7f5e9f20")
"""Source: Solady, src/tokens/ERC20.sol, _ALLOWANCE_SLOT_SEED."""


class Entry(msgspec.Struct, frozen=True, kw_only=True):
    """A word of a mapping."""

    slot: Hash32
    keys: tuple[int, ...]
    """Outermost first."""
    mapping: bytes | None
    """Same for two entries of one mapping, at the same field. None: of a mapping in a mapping, or
    not known."""

    @property
    def accounts(self) -> tuple[Address, ...]:
        """Return the keys that are accounts, outermost first."""
        return tuple(low_address(key) for key in self.keys if _is_key(key))


class NamedWords(msgspec.Struct, frozen=True, kw_only=True):
    """The words of a creation by what they are."""

    plain: tuple[Hash32, ...]
    """Variables, and elements of lists and texts."""
    entries: tuple[Entry, ...]
    unknown: tuple[Hash32, ...]


class SearchSpace(msgspec.Struct, frozen=True, kw_only=True):
    """Keys and slots that are tried."""

    keys: tuple[int, ...]
    """The likely first."""
    roots: tuple[int, ...]
    """Slots of mappings."""
    constants: frozenset[int]
    """Large numbers in the runtime code, which may be slots of variables."""


def search_space(
    accounts: Iterable[Address],
    data: bytes,
    *,
    known: Iterable[Address],
    runtime: Sequence[bytes],
    others: Sequence[bytes],
    words: Mapping[Hash32, int],
) -> SearchSpace:
    """Return what to try. `accounts`: parties of the creation; `data`: of the transaction;
    `known`: other accounts; `runtime`: codes of the token; `others`: of contracts that took part.
    """
    own = [push for code in runtime for push in pushes(code)]
    made = list(pushes(data))
    foreign = [push for code in others[:_MOST_OTHERS] for push in pushes(code)]
    # Compilers keep some constants behind the code, in front of the arguments.
    wide_words = [*_last_words(data), *(value for _, value in made + own)]
    stored = (part for word in words.values() for part in _addresses_in(word))
    parties = [int(account, 16) for account in accounts][:_MOST_PARTIES]
    keys = chain(
        _arguments(data),
        islice(stored, _MOST_CONSTANTS),
        _constants(own, _ADDRESS_BYTES),
        _constants(made, _ADDRESS_BYTES),
        (int(account, 16) for account in known),
        (
            part
            for slot in words
            for part in _addresses_in(int(slot, 16))
            if _is_bare(int(slot, 16))
        ),
        _constants(foreign, _ADDRESS_BYTES),
        range(8),
        islice(dict.fromkeys(filter(_may_be_hash, wide_words)), _MOST_CONSTANTS),
    )
    large = frozenset(value for _, value in own if value >> _SMALL_BITS and not _is_account(value))
    small = {value for size, value in own + made if size <= _ROOT_BYTES and value <= _HIGHEST_ROOT}
    taken = {int(slot, 16) for slot in words}
    free = [root for root in sorted(small.union(range(8))) if root not in taken]
    wide = [
        base + at
        for base in sorted(filter(_may_be_hash, large))
        for at in range(_NAMESPACE_MAPPINGS)
    ]
    return SearchSpace(
        keys=tuple(dict.fromkeys((*parties, *islice(dict.fromkeys(keys), _MOST_KEYS)))),
        roots=(*free[:_MOST_ROOTS], *wide[:_MOST_ROOTS]),
        constants=large,
    )


def name_words(
    words: Mapping[Hash32, int], space: SearchSpace, preimages: Sequence[bytes] = ()
) -> NamedWords:
    """Name the words. `preimages`: what the creation hashed, where that is known."""
    slots = {int(slot, 16): slot for slot in words}
    plain = {at for at in slots if at >> _SMALL_BITS == 0}
    entries = {
        at: entry
        for at, entry in _named(slots.keys() - plain, space, preimages).items()
        if at not in plain
    }
    bases = {*space.constants, *standard_slots()}
    near = {base + at for base in bases for at in range(_NAMESPACE)}
    plain |= {at for at in slots if at in near and at not in entries}
    plain |= _elements(slots, words, plain | entries.keys()) - entries.keys()
    unknown = slots.keys() - plain - entries.keys()
    return NamedWords(
        plain=tuple(slots[at] for at in sorted(plain)),
        entries=tuple(
            Entry(slot=slots[at], keys=keys, mapping=mapping)
            for at, (keys, mapping) in sorted(entries.items())
        ),
        unknown=tuple(slots[at] for at in sorted(unknown)),
    )


def pushes(code: bytes) -> Iterator[tuple[int, int]]:
    """Yield size and value of every constant that the code pushes, read from its beginning.

    One that the next instruction complements is a full word: compilers write large slots so.
    """
    at = 0
    while at < len(code):
        opcode = code[at]
        at += 1
        if _PUSH1 <= opcode <= _PUSH32:
            size = opcode - _PUSH1 + 1
            value = int.from_bytes(code[at : at + size])
            at += size
            is_complemented = code[at : at + 1] == _NOT
            yield (_WORD, value ^ MASK) if is_complemented else (size, value)


def _keys_in(preimage: bytes) -> Iterator[int]:
    """Yield the accounts that hashed bytes may hold: in two words, or packed at either end."""
    parts = (preimage[:20], preimage[-20:])
    if len(preimage) == 2 * _WORD:
        parts = (preimage[:_WORD], preimage[_WORD:])
    yield from dict.fromkeys(one for one in map(int.from_bytes, parts) if one and _is_key(one))


def _is_key(number: int) -> bool:
    """True for an account: not too small for one, or a burn address."""
    return number <= ADDRESS_MASK and (
        number >= _LOWEST_ACCOUNT or low_address(number) in BURN_ADDRESSES
    )


def _is_account(number: int) -> bool:
    """True for a number as long as addresses are."""
    return 2**128 <= number <= ADDRESS_MASK


def _may_be_hash(number: int) -> bool:
    """True for a constant that is neither an address, a mask nor a text."""
    return number > ADDRESS_MASK and is_hash_like(number)


def _is_bare(slot: int) -> bool:
    """True for a slot that may be an address itself, with zeros around it."""
    return slot >> _SMALL_BITS > 0 and not _may_be_hash(slot)


def _constants(found: Sequence[tuple[int, int]], sizes: range) -> Iterator[int]:
    values = (value for size, value in found if size in sizes and value >= _LOWEST_ACCOUNT)
    return islice(dict.fromkeys(values), _MOST_CONSTANTS)


def _arguments(data: bytes) -> Iterator[int]:
    """Yield the addresses among the words of calldata, and of arguments behind creation code."""
    for word in (*_last_words(data), *_words(data, 4)):
        if _LOWEST_ACCOUNT <= word <= ADDRESS_MASK:
            yield word


def _last_words(data: bytes) -> list[int]:
    return _words(data, len(data) % _WORD)[::-1]


def _words(data: bytes, start: int) -> list[int]:
    """Return the words of data from a byte on, at most the last `_MOST_ARGUMENTS`."""
    first = range(start, len(data) - _WORD + 1, _WORD)
    return [int.from_bytes(data[at : at + _WORD]) for at in first[-_MOST_ARGUMENTS:]]


def _addresses_in(word: int) -> Iterator[int]:
    """Yield what may be an address in a word, also next to other fields."""
    for shift in (0, 8, 16, 96):
        number = (word >> shift) & ADDRESS_MASK
        if _is_account(number):
            yield number


_Place = tuple[tuple[int, ...], bytes | None]
"""Keys and mapping of an entry."""


def _named(
    slots: Iterable[int], space: SearchSpace, preimages: Sequence[bytes]
) -> dict[int, _Place]:
    """Return the entries by slot, as far as they are found."""
    found = _hashed(slots, preimages)
    open_slots = set(slots) - found.keys()
    fields = {slot - field: slot for slot in open_slots for field in range(_FIELDS)}
    for at, (keys, mapping) in chain(_single(space), _double(space)) if open_slots else ():
        if at in fields:
            for field in range(_FIELDS):
                if at + field in open_slots:
                    found[at + field] = keys, _field(mapping, field)
                    open_slots.remove(at + field)
            if not open_slots:
                break
    return found


def _field(mapping: bytes | None, field: int) -> bytes | None:
    return None if mapping is None else mapping + bytes([field])


def _single(space: SearchSpace) -> Iterator[tuple[int, _Place]]:
    roots = [root.to_bytes(_WORD) for root in space.roots]
    for number in space.keys:
        key = number.to_bytes(_WORD)
        yield _hash(key[12:] + bytes(8) + _SOLADY_SEED), ((number,), bytes(8) + _SOLADY_SEED)
        if number <= ADDRESS_MASK:
            yield number, ((number,), b"low")
            yield number << 96, ((number,), b"high")
        for root in roots:
            yield _hash(key + root), ((number,), root)
            yield _hash(root + key), ((number,), root)


def _double(space: SearchSpace) -> Iterator[tuple[int, _Place]]:
    """Yield entries of mappings in mappings, at most `_MOST_HASHES`, the likely keys first."""
    inner = [(number, number.to_bytes(_WORD)) for number in space.keys[:_INNER]]
    wide = [key for key in space.keys if key > ADDRESS_MASK]
    outer = [(number, number.to_bytes(_WORD)) for number in (*space.keys[:_INNER], *wide)]
    small = [root for root in space.roots if root <= _HIGHEST_ROOT][:_OUTER_ROOTS]
    roots = [root.to_bytes(_WORD) for root in (*small, *space.roots[-_OUTER_ROOTS:])]
    pairs = sorted(
        ((one, other) for one in range(len(outer)) for other in range(len(inner))), key=max
    )
    hashed: dict[int, list[tuple[bytes, bytes]]] = {}
    for one, other in pairs[: _MOST_HASHES // (2 * len(roots))]:
        (number, key), (last, word) = outer[one], inner[other]
        packed = key[12:] + bytes(8) + _SOLADY_ALLOWANCE + word[12:]
        yield _hash(packed), ((number, last), None)
        if one not in hashed:
            hashed[one] = [(keccak(key + root), keccak(root + key)) for root in roots]
        for first, second in hashed[one]:
            yield _hash(word + first), ((number, last), None)
            yield _hash(second + word), ((number, last), None)


def _hashed(slots: Iterable[int], preimages: Sequence[bytes]) -> dict[int, _Place]:
    """Return the entries at hashes of these bytes, or a few words behind one."""
    by_hash = {_hash(preimage): preimage for preimage in preimages}

    def keys_of(preimage: bytes, depth: int) -> tuple[int, ...]:
        outer: tuple[int, ...] = ()
        for at in range(0, len(preimage) - _WORD + 1, _WORD) if depth else ():
            base = by_hash.get(int.from_bytes(preimage[at : at + _WORD]))
            if base is not None:
                outer = keys_of(base, depth - 1)
        return (*outer, *_keys_in(preimage))

    found: dict[int, _Place] = {}
    for slot in slots:
        for field in range(_FIELDS):
            preimage = by_hash.get(slot - field)
            if preimage is not None:
                keys = keys_of(preimage, _DEEPEST)
                found[slot] = keys, _field(_without(preimage, keys), field)
                break
    return found


def _without(preimage: bytes, keys: tuple[int, ...]) -> bytes | None:
    """Return the bytes around the key. None: there is not one key, or it stands inside."""
    if len(keys) != 1:
        return None
    for size in (_WORD, 20):
        key = keys[0].to_bytes(size)
        if preimage.startswith(key):
            return preimage.removeprefix(key)
        if preimage.endswith(key):
            return preimage.removesuffix(key)
    return None


def _elements(
    slots: Mapping[int, Hash32], words: Mapping[Hash32, int], bases: Iterable[int]
) -> set[int]:
    """Return the slots that are elements of a list or a text that one of the bases declares."""
    spans = []
    for base in bases:
        word = words[slots[base]]
        if word >> 32 == 0:  # a length; that of a text is stored twice and one more
            spans.append((_hash(base.to_bytes(_WORD)), min(word * _FIELDS, _LONGEST)))
    return {at for at in slots for start, count in spans if start <= at < start + count}


def _hash(data: bytes) -> int:
    return int.from_bytes(keccak(data))
