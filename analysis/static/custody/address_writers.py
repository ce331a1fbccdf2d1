"""Writers of the slots that hold privileged addresses, and dead addresses in them.

A burn address cannot act, but a caller that may store another address in its place can. *Inferred*
from the caller checks before each store.
"""

from collections.abc import Iterable, Iterator, Mapping

import msgspec

from analysis.static.custody.custody_report import PrivilegedParty, StoredAddress, party_of
from analysis.static.custody.privileged_callers import PrivilegedCallers
from analysis.static.evm.cfg import FunctionId
from analysis.static.token_model.contract_model import ContractModel
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ADDRESS_MASK, Address

_MOST_PLACES = 24


class AddressWriters(msgspec.Struct, frozen=True, kw_only=True):
    """Writers of one place, in one code."""

    place: StoredAddress
    parties: tuple[PrivilegedParty, ...]
    """Callers that the storing functions require. One without address and slot: any caller, or an
    unknown one. Empty: no function stores to it."""


def find_address_writers(
    code: ContractModel, gates: PrivilegedCallers, places: Iterable[StoredAddress]
) -> Iterator[AddressWriters]:
    """Yield the writers of the places, and of the places that name those in turn."""
    waiting = list(places)
    seen: set[StoredAddress] = set()
    while waiting and len(seen) < _MOST_PLACES:
        place = waiting.pop(0)
        if place in seen:
            continue
        seen.add(place)
        parties = tuple(dict.fromkeys(_writers(code, gates, place)))
        yield AddressWriters(place=place, parties=parties)
        waiting += [party.place for party in parties if party.place is not None]


def _writers(
    code: ContractModel, gates: PrivilegedCallers, place: StoredAddress
) -> Iterator[PrivilegedParty]:
    variable = (int(place.slot, 16), ADDRESS_MASK << place.shift)
    stores: dict[FunctionId, set[int]] = {}
    for write in code.writes.to(variable):
        stores.setdefault(write.entry, set()).add(write.pc)
    for entry, pcs in stores.items():
        required_callers = gates.callers_required_before(entry, pcs)
        if required_callers is None:
            yield PrivilegedParty()
        else:
            parties, lists = required_callers
            yield from (party_of(code, each) for each in parties)
            yield from (PrivilegedParty() for _ in lists)


def is_dead(
    place: StoredAddress,
    stored_addresses: Mapping[StoredAddress, Address],
    writers: Iterable[AddressWriters],
) -> bool:
    """True if a burn address is stored there, and nobody who can act may store another.

    `stored_addresses`: those now in storage. A place with unknown writers is not dead.
    """
    by_place: dict[StoredAddress, list[PrivilegedParty]] = {}
    for each in writers:
        by_place.setdefault(each.place, []).extend(each.parties)
    waiting, seen = [place], set[StoredAddress]()
    while waiting:
        at = waiting.pop()
        if at in seen:
            continue  # its own holder would have to act first
        seen.add(at)
        if stored_addresses.get(at) not in BURN_ADDRESSES or at not in by_place:
            return False
        for party in by_place[at]:
            if party.place is not None:
                waiting.append(party.place)
            elif party.address not in BURN_ADDRESSES:
                return False
    return True
