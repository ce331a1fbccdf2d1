"""Privileged candidates: accounts that the code may treat specially, worth simulating as attackers.

Sends no request.
"""

from collections.abc import Iterable, Sequence, Set

from analysis.static.custody.custody_report import StoredAddress
from analysis.static.custody.simulation_hints import SimulationHints
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ADDRESS_MASK, Address, address_of

MOST_SUSPECTS = 20


def stored_addresses(
    stored: Sequence[StoredAddress], words: Sequence[int | None]
) -> dict[StoredAddress, Address]:
    """Return the addresses in the storage slots that the code compares callers with. `words`: one
    value per slot; None where the node did not answer."""
    read = (
        (place, address_of(word >> place.shift & ADDRESS_MASK))
        for place, word in zip(stored, words, strict=True)
        if word is not None
    )
    return {place: address for place, address in read if address is not None}


def suspects(
    *,
    token: Address,
    owners: Iterable[Address],
    creator: Address | None,
    hints: SimulationHints,
    stored: Iterable[Address],
    venues: Iterable[Address],
    consenting: Set[Address] = frozenset(),
) -> tuple[Address, ...]:
    """Return the candidates, the likeliest first, each once. Burn addresses, which cannot act, and
    `consenting` contracts, which act for the holder alone, are left out.

    `owners`: addresses from owner getters and owner-check slots; `venues`: pools, routers,
    launchpads.
    """
    known = [*owners, *([creator] if creator else ()), *hints.addresses, *stored, token, *venues]
    live = dict.fromkeys(each for each in known if each not in BURN_ADDRESSES | consenting)
    return tuple(live)[:MOST_SUSPECTS]
