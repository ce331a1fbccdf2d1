"""What a code tells an examiner to try: whom it knows, which functions reach other people's
balances, and whether `transferFrom` can pass an allowance by."""

from collections.abc import Iterator, Mapping
from typing import Final

import msgspec

from analysis.code.delegation import slot_name
from analysis.code.facts import TRANSFER_FROM, Code
from analysis.code.graph import Entry
from analysis.code.places import UNKNOWN
from analysis.code.shapes import skips_allowance, takes_for_listed
from analysis.code.sources import CALLERS
from analysis.code.terms import MASK, Term, Word, address_in, subterms
from config.burn import BURN_ADDRESSES
from config.primitives import Address, Hash32

_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_ADDRESS_BITS: Final = 160
_ADDRESS_MASK: Final = 2**_ADDRESS_BITS - 1
_LOWEST_ADDRESS: Final = 2**64
"""A number compared with somebody is an address from here on; deployed ones are hashes."""

_PEOPLE: Final = CALLERS | {"CALLDATALOAD"}

_MOST_NAMED: Final = 16
_MOST_MOVERS: Final = 12

_ALLOWANCE_FUNCTIONS: Final = frozenset(
    {0x095EA7B3, 0x39509351, 0xA457C2D7, 0xD73DD623, 0x66188463}
)
"""approve, increaseAllowance, decreaseAllowance, increaseApproval, decreaseApproval."""

_HANDING_ON: Final = frozenset({"DELEGATECALL", "CALLCODE"})
_HEAD: Final = 4
_FROM, _TO = 4, 36
"""Where `transferFrom` has its two addresses in calldata."""


class StoredAddress(msgspec.Struct, frozen=True, kw_only=True):
    """An address that storage keeps."""

    slot: Hash32
    shift: int
    """Bits to the right of it in its slot."""


class KeyPlace(msgspec.Struct, frozen=True, kw_only=True):
    """A word of calldata that names whose balance is written."""

    offset: int
    """Bytes from the start of calldata."""
    is_left: bool
    """The address is in the word's high bytes."""


class Mover(msgspec.Struct, frozen=True, kw_only=True):
    """A function that may change what others hold, or what they allow."""

    selector: int | None
    """None: code that runs without a matched selector."""
    arguments: str | None = None
    """ABI types, separated by commas. None: not known."""
    keys: tuple[KeyPlace, ...] = ()


class Leads(msgspec.Struct, frozen=True, kw_only=True):
    """All *inferred*, and no promise of being all: the hash of an address tells no address."""

    addresses: tuple[Address, ...] = ()
    """Constants that the caller, or a party of a transfer, is compared with."""
    stored: tuple[StoredAddress, ...] = ()
    """Storage that the same are compared with."""
    movers: tuple[Mover, ...] = ()
    """But `transferFrom`, and functions for one's own allowances unless they write balances."""
    skips_allowance: bool = False
    """There is a way to take tokens from others that asks for no allowance, and whoever may go it
    need not be among the above."""


UNKNOWN_LEADS: Final = Leads(skips_allowance=True)
"""Of code that was not examined: it may do anything, so attempts that fail settle nothing."""


def find_leads(code: Code, arguments: Mapping[int, str]) -> Leads:
    """Of code that answers holders; of any other it is empty or little.

    `arguments`: ABI types by selector, separated by commas.
    """
    named = list(_named(code))
    return Leads(
        addresses=tuple(dict.fromkeys(each for each in named if isinstance(each, str)))[
            :_MOST_NAMED
        ],
        stored=tuple(dict.fromkeys(each for each in named if isinstance(each, StoredAddress)))[
            :_MOST_NAMED
        ],
        movers=tuple(_movers(code, arguments))[:_MOST_MOVERS],
        skips_allowance=skips_allowance(code) or takes_for_listed(code),
    )


# --- who is known ------------------------------------------------------------------------------


def _named(code: Code) -> Iterator[Address | StoredAddress]:
    for term in list(code.pool.terms()):
        if term.operation not in _EQUALITIES:
            continue
        for one, other in (term.arguments, term.arguments[::-1]):
            person = _person_in(code, one, is_equality=term.operation == "EQ")
            if person is not None:
                yield from _meant(code, person, other)


def _person_in(code: Code, word: Word, *, is_equality: bool) -> Word | None:
    """The word, where it is about the caller or a party of a transfer. None: it is not."""
    bare = address_in(code.sources.single(word))
    if not isinstance(bare, Term):
        return None
    if any(term.operation in CALLERS for term in subterms(bare)):
        return bare
    is_party = bare.operation == "CALLDATALOAD" and bare.arguments[0] in (_FROM, _TO)
    # A difference between an argument and a number need not be a comparison at all.
    return bare if is_party and is_equality and bare is not word else None


def _meant(code: Code, person: Word, other: Word) -> Iterator[Address | StoredAddress]:
    for word in code.sources.meanings(other):
        if isinstance(word, int):
            solved = _solve(person, word)
            if solved is not None:
                address = Address(f"0x{solved & _ADDRESS_MASK:040x}")
                if solved >= _LOWEST_ADDRESS and address not in BURN_ADDRESSES:
                    yield address
        else:
            for slot, bits in code.sources.reads(word):
                number = code.sources.single(slot)
                if isinstance(number, int):
                    yield StoredAddress(slot=slot_name(number), shift=_shift(bits))


def _solve(word: Word, target: int) -> int | None:
    """Which address makes the word this number. None: not told (a hash, several operands)."""
    while isinstance(word, Term) and word.operation not in _PEOPLE:
        undone = _undo(word, target)
        if undone is None:
            return None
        word, target = undone
    return target if isinstance(word, Term) else None


def _undo(term: Term, target: int) -> tuple[Term, int] | None:
    """The one unknown operand, and what it must be for the term to be the target."""
    inner = [word for word in term.arguments if isinstance(word, Term)]
    numbers = [word for word in term.arguments if isinstance(word, int)]
    if len(inner) != 1:
        return None
    key = numbers[0] if numbers else 0
    undone = {
        "ADD": target - key,
        "AND": target,
        "NOT": ~target,
        "SHL": target >> min(key, MASK.bit_length()),
        "SUB": target + key if term.arguments[0] is inner[0] else key - target,
        "XOR": target ^ key,
    }.get(term.operation)
    return None if undone is None else (inner[0], undone & MASK)


def _shift(bits: int) -> int:
    return (bits & -bits).bit_length() - 1 if bits else 0


# --- what reaches balances ----------------------------------------------------------------------


def _movers(code: Code, arguments: Mapping[int, str]) -> Iterator[Mover]:
    """Those known to write balances first, then writers of allowances, then those that hide what
    they do. Where it is not known which storage balances are in: all that store anything."""
    plain = {TRANSFER_FROM, *(_ALLOWANCE_FUNCTIONS - {note.entry for note in code.balances.notes})}
    keys: dict[Entry, dict[KeyPlace, None]] = {}
    for note in (*code.balances.notes, *code.allowances.notes):
        keys.setdefault(note.entry, {}).update(dict.fromkeys(_key_places(code, note.words[0])))
    for write in code.writes:
        if write.place.root in code.roles.balances or not code.roles.balances:
            keys.setdefault(write.entry, {})
    for entry in sorted(_hiding(code), key=str):
        keys.setdefault(entry, {})
    for entry, places in keys.items():
        if entry not in plain:
            types = None if entry is None else arguments.get(entry)
            yield Mover(selector=entry, arguments=types, keys=tuple(places))


def _hiding(code: Code) -> set[Entry]:
    """Functions that store where no variable is known to be, or run other code on our storage."""
    if code.delegation.is_proxy is not False:
        return set()
    unknown = {write.entry for write in code.writes if write.place.root == UNKNOWN}
    return unknown | {
        entry
        for entry, deed in code.calls()
        if deed.kind in _HANDING_ON or (deed.kind == "CALL" and _is_self(deed.words[0]))
    }


def _is_self(target: Word) -> bool:
    bare = address_in(target)
    return isinstance(bare, Term) and bare.operation == "ADDRESS"


def _key_places(code: Code, slot: Word) -> Iterator[KeyPlace]:
    """Calldata words among the keys of a mapping."""
    for place in code.places.of(slot):
        for key in place.keys:
            for word in code.sources.meanings(key):
                for term in subterms(word):
                    offset = term.arguments[0] if term.operation == "CALLDATALOAD" else None
                    if isinstance(offset, int):
                        yield KeyPlace(offset=offset, is_left=_is_left(word))


def _is_left(word: Word) -> bool:
    return any(
        term.operation in ("SHR", "DIV") and term.arguments[0] == MASK.bit_length() - _ADDRESS_BITS
        for term in subterms(word)
    )
