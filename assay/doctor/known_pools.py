"""Pools of the wrapped coin against the stable coins, by their factories' getters. No I/O."""

from collections.abc import Sequence

import msgspec

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.venue_registry import venue_of
from assay.doctor.check import Asking, Subject
from assay.doctor.contract_reads import ContractGetter, address_in, read_all
from core.evm.primitives import ZERO_ADDRESS, Address


class KnownPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool that a factory names."""

    lookup: Lookup
    address: Address

    @property
    def tokens(self) -> tuple[Address, Address]:
        """Return both tokens in the order that pools keep them."""
        lower, upper = sorted((self.lookup.token, self.lookup.quote))
        return lower, upper


def find_pools(subject: Subject) -> Asking[Sequence[KnownPool]]:
    """Return the pools of the wrapped coin and a stable coin on every exchange with a getter."""
    chain = subject.chain
    lookups = [
        lookup
        for dex in chain.dexes
        for stable in chain.stables
        for lookup in venue_of(dex).lookups(dex, chain.wrapped_native.address, stable.address)
    ]
    getters = [_getter(lookup) for lookup in lookups]
    answers = yield from read_all(subject.head, getters)
    found = [
        (lookup, address_in(answers[getter]))
        for lookup, getter in zip(lookups, getters, strict=True)
    ]
    return [
        KnownPool(lookup=lookup, address=address)
        for lookup, address in found
        if address is not None and address != ZERO_ADDRESS
    ]


def _getter(lookup: Lookup) -> ContractGetter:
    arguments = (lookup.token, lookup.quote, *lookup.key)
    return ContractGetter(lookup.dex.factory, lookup.getter, arguments)
