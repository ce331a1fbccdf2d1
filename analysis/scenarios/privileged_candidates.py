"""Who may be able to do what strangers cannot: everybody worth trying on stage. Pure."""

from collections.abc import Iterable, Sequence

from analysis.reads.eth_reads import address_of
from analysis.static.custody.simulation_hints import SimulationHints, StoredAddress
from config.burn import BURN_ADDRESSES
from config.primitives import Address

MOST_SUSPECTS = 20

_ADDRESS_MASK = 2**160 - 1


def stored_addresses(
    stored: Sequence[StoredAddress], words: Sequence[int | None]
) -> dict[StoredAddress, Address]:
    """Who is in the places that the code compares people with. `words`: one a place; None where
    the node did not tell."""
    held = (
        (place, address_of(word >> place.shift & _ADDRESS_MASK))
        for place, word in zip(stored, words, strict=True)
        if word is not None
    )
    return {place: address for place, address in held if address is not None}


def suspects(
    *,
    token: Address,
    owners: Iterable[Address],
    creator: Address | None,
    hints: SimulationHints,
    stored: Iterable[Address],
    venues: Iterable[Address],
) -> tuple[Address, ...]:
    """The likeliest first, each once. Burn addresses cannot act, so they are none.

    `owners`: what owner getters and owner-check slots name; `venues`: pools, routers, launchpads.
    """
    known = [*owners, *([creator] if creator else ()), *hints.addresses, *stored, token, *venues]
    live = dict.fromkeys(each for each in known if each not in BURN_ADDRESSES)
    return tuple(live)[:MOST_SUSPECTS]
