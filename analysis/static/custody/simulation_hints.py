"""Hints for the theft simulations, from bytecode: addresses that callers are compared with,
functions that may debit third parties, and stores whose custody is not proved."""

from collections.abc import Container, Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.custody.argument_solving import SolvedArguments, solve_arguments
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_report import (
    CustodyReport,
    ThirdPartyGrant,
    UnprovedWrite,
    find_custody,
)
from analysis.static.custody.unbacked_credits import creates_balances
from analysis.static.dataflow.delegate_targets import slot_name
from analysis.static.dataflow.dependencies import CALLERS
from analysis.static.dataflow.inversion import solve
from analysis.static.dataflow.storage_layout import UNKNOWN
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, lowest_bit, subterms
from analysis.static.evm.opaque_immutables import is_opaque
from analysis.static.token_model.contract_model import TRANSFER_FROM, ContractModel
from config.burn import BURN_ADDRESSES
from config.primitives import Address, Hash32

_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_ADDRESS_BITS: Final = 160
_ADDRESS_MASK: Final = 2**_ADDRESS_BITS - 1
_LOWEST_ADDRESS: Final = 2**64
"""A number compared with somebody is an address from here on; deployed ones are hashes."""

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


class KeyArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A word of calldata that names whose balance is written."""

    offset: int
    """Bytes from the start of calldata."""
    is_left: bool
    """The address is in the word's high bytes."""


class DebitingFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function that may change what others hold, or what they allow."""

    selector: int | None
    """None: code that runs without a matched selector."""
    arguments: str | None = None
    """ABI types, separated by commas. None: not known."""
    keys: tuple[KeyArgument, ...] = ()


class SimulationHints(msgspec.Struct, frozen=True, kw_only=True):
    """All *inferred*, and no promise of being all: the hash of an address tells no address."""

    addresses: tuple[Address, ...] = ()
    """Constants that the caller, or a party of a transfer, is compared with."""
    stored: tuple[StoredAddress, ...] = ()
    """Storage that the same are compared with."""
    movers: tuple[DebitingFunction, ...] = ()
    """But `transferFrom`, and functions for one's own allowances unless they write balances."""
    open_writes: tuple[UnprovedWrite, ...] = ()
    """Stores that lower balances or set allowances, and are not proved to be agreed to."""
    grants: tuple[ThirdPartyGrant, ...] = ()
    """Allowances of holders given to somebody whom they do not name."""
    openings: tuple[SolvedArguments, ...] = ()
    """How to reach some of the open writes."""
    creates_balances: bool | None = False
    """A balance can be raised without payment: by anybody, or by a function that is not shown to
    mint. None: not known."""
    is_proved: bool = True
    """Whether the proof of custody was made at all."""


UNKNOWN_LEADS: Final = SimulationHints(is_proved=False, creates_balances=None)
"""Of code that was not examined: it may do anything, so attempts that fail settle nothing."""


def find_simulation_hints(
    code: ContractModel, arguments: Mapping[int, str], *, shown: Container[FunctionId] = ()
) -> SimulationHints:
    """Of code that answers holders; of any other it is empty or little.

    `arguments`: ABI types by selector, separated by commas. `shown`: functions known to mint.
    """
    prover = CustodyProver(code)
    custody = find_custody(code, prover)
    named = [*_parties(custody), *_named(code)]
    return SimulationHints(
        addresses=tuple(dict.fromkeys(each for each in named if isinstance(each, str)))[
            :_MOST_NAMED
        ],
        stored=tuple(dict.fromkeys(each for each in named if isinstance(each, StoredAddress)))[
            :_MOST_NAMED
        ],
        movers=tuple(_movers(code, arguments))[:_MOST_MOVERS],
        open_writes=custody.writes,
        grants=custody.grants,
        openings=solve_arguments(code, custody.opens, arguments),
        creates_balances=creates_balances(code, prover, shown=shown),
        is_proved=bool(code.roles.balances) or not code.answers_holders,
    )


def _parties(custody: CustodyReport) -> Iterator[Address | StoredAddress]:
    """Whom privileged stores ask for, and who is given allowances."""
    asked = (party for write in custody.writes for party in write.parties)
    for party in (*(grant.spender for grant in custody.grants), *asked):
        if party.slot is not None:
            yield StoredAddress(slot=party.slot, shift=party.shift)
        elif party.address is not None and party.address not in BURN_ADDRESSES:
            yield party.address


# --- who is known ------------------------------------------------------------------------------


def _named(code: ContractModel) -> Iterator[Address | StoredAddress]:
    for term in list(code.pool.terms()):
        if term.operation == "ADD":
            # newer compilers add the negative of a number and ask whether that is zero
            yield from _meant_by_sum(code, term)
        if term.operation not in _EQUALITIES:
            continue
        for one, other in (term.arguments, term.arguments[::-1]):
            person = _person_in(code, one, is_equality=term.operation == "EQ")
            if person is not None:
                yield from _meant(code, person, other)


def _meant_by_sum(code: ContractModel, term: Expr) -> Iterator[Address | StoredAddress]:
    number, word = term.arguments
    if not isinstance(number, int) or is_opaque(number) or -number & MASK > _ADDRESS_MASK:
        return
    if _person_in(code, word, is_equality=False) is not None:
        yield from _meant(code, term, 0)


def _person_in(code: ContractModel, word: Value, *, is_equality: bool) -> Value | None:
    """The word, where it is about the caller or a party of a transfer. None: it is not."""
    bare = address_in(code.dependencies.single_value(word))
    if not isinstance(bare, Expr):
        return None
    if any(term.operation in CALLERS for term in subterms(bare)):
        return bare
    is_party = bare.operation == "CALLDATALOAD" and bare.arguments[0] in (_FROM, _TO)
    # A difference between an argument and a number need not be a comparison at all.
    return bare if is_party and is_equality and bare is not word else None


def _meant(code: ContractModel, person: Value, other: Value) -> Iterator[Address | StoredAddress]:
    for word in code.dependencies.phi_values(other):
        if isinstance(word, int):
            solved = solve(person, word)
            if solved is not None:
                address = Address(f"0x{solved & _ADDRESS_MASK:040x}")
                if solved >= _LOWEST_ADDRESS and address not in BURN_ADDRESSES:
                    yield address
        else:
            for slot, bits in code.dependencies.reads(word):
                number = code.dependencies.single_value(slot)
                if isinstance(number, int):
                    yield StoredAddress(slot=slot_name(number), shift=lowest_bit(bits))


# --- what reaches balances ----------------------------------------------------------------------


def _movers(code: ContractModel, arguments: Mapping[int, str]) -> Iterator[DebitingFunction]:
    """Those known to write balances first, then writers of allowances, then those that hide what
    they do. Where it is not known which storage balances are in: all that store anything."""
    plain = {TRANSFER_FROM, *(_ALLOWANCE_FUNCTIONS - {note.entry for note in code.balances.notes})}
    keys: dict[FunctionId, dict[KeyArgument, None]] = {}
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
            yield DebitingFunction(selector=entry, arguments=types, keys=tuple(places))


def _hiding(code: ContractModel) -> set[FunctionId]:
    """Functions that store where no variable is known to be, or run other code on our storage."""
    if code.delegation.is_proxy is not False:
        return set()
    unknown = {write.entry for write in code.writes if write.place.root == UNKNOWN}
    return unknown | {
        entry
        for entry, effect in code.calls()
        if effect.kind in _HANDING_ON or (effect.kind == "CALL" and _is_self(effect.words[0]))
    }


def _is_self(target: Value) -> bool:
    bare = address_in(target)
    return isinstance(bare, Expr) and bare.operation == "ADDRESS"


def _key_places(code: ContractModel, slot: Value) -> Iterator[KeyArgument]:
    """Calldata words among the keys of a mapping."""
    for place in code.layout.of(slot):
        for key in place.keys:
            for word in code.dependencies.phi_values(key):
                for term in subterms(word):
                    offset = term.arguments[0] if term.operation == "CALLDATALOAD" else None
                    if isinstance(offset, int):
                        yield KeyArgument(offset=offset, is_left=_is_left(word))


def _is_left(word: Value) -> bool:
    return any(
        term.operation in ("SHR", "DIV") and term.arguments[0] == MASK.bit_length() - _ADDRESS_BITS
        for term in subterms(word)
    )
