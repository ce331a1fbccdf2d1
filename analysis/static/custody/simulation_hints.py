"""Hints for attack simulations, inferred from bytecode.

They list addresses that callers are compared with, functions that may debit third parties, stores
whose custody is not proved, and arguments that reach such stores.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

import msgspec

from analysis.static.custody.address_writers import AddressWriters, find_address_writers
from analysis.static.custody.argument_solving import SolvedArguments, solve_arguments
from analysis.static.custody.custody_proof import CustodyProver
from analysis.static.custody.custody_report import (
    CustodyReport,
    PrivilegedParty,
    StoredAddress,
    ThirdPartyGrant,
    UnprovedWrite,
    party_of,
)
from analysis.static.custody.front_writes import find_front_writes
from analysis.static.custody.open_functions import OpenFunctions, find_open_functions
from analysis.static.dataflow.dependencies import CALLERS, is_own_address
from analysis.static.dataflow.inversion import solve
from analysis.static.dataflow.linear_amounts import delta_of
from analysis.static.dataflow.storage_layout import UNKNOWN
from analysis.static.evm.cfg import FunctionId
from analysis.static.evm.expressions import MASK, Expr, Value, address_in, lowest_bit, subterms
from analysis.static.evm.path_state import TRANSFER_FROM
from analysis.static.token_model.contract_model import ContractModel
from config.burn import BURN_ADDRESSES
from core.evm.primitives import (
    ADDRESS_BITS,
    ADDRESS_MASK,
    Address,
    low_address,
    to_hash32,
)

_EQUALITIES: Final = frozenset({"EQ", "XOR", "SUB"})
_LOWEST_ADDRESS: Final = 2**64
"""Smaller numbers compared with a caller are no addresses: those of contracts are hashes."""

_MOST_NAMED: Final = 16
_MOST_MOVERS: Final = 12

_ALLOWANCE_FUNCTIONS: Final = frozenset(
    {0x095EA7B3, 0x39509351, 0xA457C2D7, 0xD73DD623, 0x66188463}
)
"""approve, increaseAllowance, decreaseAllowance, increaseApproval, decreaseApproval."""

_HANDING_ON: Final = frozenset({"DELEGATECALL", "CALLCODE"})
_HEAD: Final = 4
_FROM, _TO = 4, 36
"""Calldata offsets, in bytes, of the two addresses of `transferFrom`."""


class KeyArgument(msgspec.Struct, frozen=True, kw_only=True):
    """A calldata word that is the mapping key of a written balance or allowance."""

    offset: int
    """Bytes from the start of calldata."""
    is_left: bool
    """True if the address is in the high bytes of the word."""


class DebitingFunction(msgspec.Struct, frozen=True, kw_only=True):
    """A function that may change balances or allowances of other accounts."""

    selector: int | None
    """None: code that runs without a matched selector."""
    arguments: str | None = None
    """ABI types, separated by commas. None: not known."""
    keys: tuple[KeyArgument, ...] = ()


class SimulationHints(msgspec.Struct, frozen=True, kw_only=True):
    """Hints of one code. All *inferred*; incomplete: an address compared by hash is not found."""

    addresses: tuple[Address, ...] = ()
    """Constants compared with the caller or a party of a transfer."""
    stored: tuple[StoredAddress, ...] = ()
    """Storage compared with the caller or a party of a transfer."""
    writers: tuple[AddressWriters, ...] = ()
    """Accounts that may store to these places."""
    movers: tuple[DebitingFunction, ...] = ()
    """Without `transferFrom`, and without allowance functions that write no balances."""
    open_writes: tuple[UnprovedWrite, ...] = ()
    """Stores that lower balances or set allowances, and are not proved to be authorised."""
    front_writes: tuple[UnprovedWrite, ...] = ()
    """Stores by a proxy's own code that may reach the balances of the code behind it."""
    grants: tuple[ThirdPartyGrant, ...] = ()
    """Allowances over holders' tokens given to spenders that the holders did not name."""
    accounts_used: tuple[PrivilegedParty, ...] = ()
    """Accounts named by code or storage whose tokens ordinary callers may lower or approve.

    Nobody gives consent for them, so none of them may be a pool.
    """
    openings: tuple[SolvedArguments, ...] = ()
    """Arguments that reach some of the open writes."""
    open_functions: OpenFunctions = OpenFunctions()
    """Functions that ordinary accounts can call, and that may change what accounts hold."""
    is_proved: bool = True
    """True if the proof of custody could be attempted."""
    has_several_balances: bool = False
    """True if `balanceOf` reads several mappings, so that one word does not give a balance."""


UNKNOWN_LEADS: Final = SimulationHints(
    is_proved=False, open_functions=OpenFunctions(is_complete=False)
)
"""Hints of code that was not analysed. It may do anything, so failed attempts prove nothing."""


def find_simulation_hints(
    code: ContractModel,
    prover: CustodyProver,
    custody: CustodyReport,
    arguments: Mapping[int, str],
) -> SimulationHints:
    """Return the hints of one code; mostly empty for code without the getters of a token.

    `arguments`: ABI types by selector, separated by commas.
    """
    used = tuple(dict.fromkeys(_accounts_used(code, prover)))[:_MOST_NAMED]
    named = [*_parties(custody, used), *_named(code)]
    stored = list(dict.fromkeys(each for each in named if isinstance(each, StoredAddress)))
    writers = tuple(find_address_writers(code, prover.gates, stored[:_MOST_NAMED]))
    return SimulationHints(
        addresses=tuple(dict.fromkeys(each for each in named if isinstance(each, str)))[
            :_MOST_NAMED
        ],
        stored=tuple(each.place for each in writers),
        writers=writers,
        movers=tuple(_movers(code, arguments))[:_MOST_MOVERS],
        accounts_used=used,
        open_writes=custody.writes,
        front_writes=find_front_writes(code, prover.gates),
        grants=custody.grants,
        openings=solve_arguments(code, custody.opens, arguments),
        open_functions=find_open_functions(code, prover, arguments),
        is_proved=bool(code.storage.roles.balances) or not code.answers_holders,
        has_several_balances=len(code.storage.roles.balances) > 1,
    )


def _accounts_used(code: ContractModel, prover: CustodyProver) -> Iterator[PrivilegedParty]:
    """Yield the fixed accounts whose balances fall, or that give an approval, at open stores."""
    roles = code.storage.roles
    for write in code.writes.all:
        whose = prover.holder_of(write.place)
        if whose is None or is_own_address(whose):
            continue
        is_used = write.place.root in roles.allowances and write.value != 0
        if write.place.root in roles.balances:
            delta = delta_of(write.value, write.slot)
            is_used = delta is None or bool(delta.subtracted)
        if is_used and not prover.gates.is_gated(write.entry, {write.pc}):
            for each in code.dependencies.phi_values(whose):
                party = party_of(code, each)
                if party != PrivilegedParty():
                    yield party


def _parties(
    custody: CustodyReport, used: Iterable[PrivilegedParty]
) -> Iterator[Address | StoredAddress]:
    """Yield the callers that privileged stores require, the spenders of third-party grants, and
    the stored accounts whose tokens are used."""
    parties = (party for write in custody.writes for party in write.parties)
    for party in (*(grant.spender for grant in custody.grants), *parties):
        if party.place is not None:
            yield party.place
        elif party.address is not None and party.address not in BURN_ADDRESSES:
            yield party.address
    for party in used:
        if party.place is not None:
            yield party.place


# --- named addresses ---------------------------------------------------------------------------


def _named(code: ContractModel) -> Iterator[Address | StoredAddress]:
    for term in list(code.pool.terms()):
        if term.operation == "ADD":
            # newer compilers compare by adding the negated constant and testing for zero
            yield from _meant_by_sum(code, term)
        if term.operation not in _EQUALITIES:
            continue
        for one, other in (term.arguments, term.arguments[::-1]):
            person = _person_in(code, one, is_equality=term.operation == "EQ")
            if person is not None:
                yield from _meant(code, person, other)


def _meant_by_sum(code: ContractModel, term: Expr) -> Iterator[Address | StoredAddress]:
    number, word = term.arguments
    if not isinstance(number, int) or -number & MASK > ADDRESS_MASK:
        return
    if _person_in(code, word, is_equality=False) is not None:
        yield from _meant(code, term, 0)


def _person_in(code: ContractModel, word: Value, *, is_equality: bool) -> Value | None:
    """Return the expression without masks, if it is the caller or a party of a transfer."""
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
                address = low_address(solved)
                if solved >= _LOWEST_ADDRESS and address not in BURN_ADDRESSES:
                    yield address
        else:
            for slot, bits in code.dependencies.reads(word):
                number = code.dependencies.single_value(slot)
                if isinstance(number, int):
                    yield StoredAddress(slot=to_hash32(number), shift=lowest_bit(bits))


# --- functions that reach balances --------------------------------------------------------------


def _movers(code: ContractModel, arguments: Mapping[int, str]) -> Iterator[DebitingFunction]:
    """Yield writers of balances, then of allowances, then functions with unknown effects.

    If the storage of balances is not known, yield every function that stores anything.
    """
    plain = {
        TRANSFER_FROM,
        *(_ALLOWANCE_FUNCTIONS - {note.entry for note in code.storage.balances.notes}),
    }
    keys: dict[FunctionId, dict[KeyArgument, None]] = {}
    for note in (*code.storage.balances.notes, *code.storage.allowances.notes):
        keys.setdefault(note.entry, {}).update(dict.fromkeys(_key_places(code, note.words[0])))
    for write in code.writes.all:
        if write.place.root in code.storage.roles.balances or not code.storage.roles.balances:
            keys.setdefault(write.entry, {})
    for entry in sorted(_hiding(code), key=str):
        keys.setdefault(entry, {})
    for entry, places in keys.items():
        if entry not in plain:
            types = None if entry is None else arguments.get(entry)
            yield DebitingFunction(selector=entry, arguments=types, keys=tuple(places))


def _hiding(code: ContractModel) -> set[FunctionId]:
    """Return functions that store to unknown locations, or run foreign code on this storage."""
    if code.delegation.is_proxy is not False:
        return set()
    unknown = {write.entry for write in code.writes.all if write.place.root == UNKNOWN}
    return unknown | {
        entry
        for entry, effect in code.calls()
        if effect.kind in _HANDING_ON or (effect.kind == "CALL" and _is_self(effect.words[0]))
    }


def _is_self(target: Value) -> bool:
    bare = address_in(target)
    return isinstance(bare, Expr) and bare.operation == "ADDRESS"


def _key_places(code: ContractModel, slot: Value) -> Iterator[KeyArgument]:
    """Yield the calldata words that the mapping keys of a slot are computed from."""
    for place in code.layout.of(slot):
        for key in place.keys:
            for word in code.dependencies.phi_values(key):
                for term in subterms(word):
                    offset = term.arguments[0] if term.operation == "CALLDATALOAD" else None
                    if isinstance(offset, int):
                        yield KeyArgument(offset=offset, is_left=_is_left(word))


def _is_left(word: Value) -> bool:
    return any(
        term.operation in ("SHR", "DIV") and term.arguments[0] == MASK.bit_length() - ADDRESS_BITS
        for term in subterms(word)
    )
