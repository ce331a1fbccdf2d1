"""Check of pools: factory and pool name each other, and CREATE2 gives the pool's address.

Source: EIP-1014. Forks pack the key or encode it; both are tried.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.venue_registry import venue_of
from assay.doctor.check import Asking, Check, CheckFinding, ProbeAnswer, Steps, Subject, ok
from assay.doctor.contract_reads import ContractGetter, address_in, read_all
from config.facts.chain import Chain, Dex
from core.evm.abi import argument_types, encode_values
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address


class KnownPool(msgspec.Struct, frozen=True, kw_only=True):
    """A pool named by a factory."""

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


_POOL_GETTERS = ("factory()", "token0()", "token1()")
_WORD = 32


def _check_known_pools(subject: Subject) -> Steps:
    pools = yield from find_pools(subject)
    answers = yield from read_all(
        subject.head,
        [ContractGetter(pool.address, name) for pool in pools for name in _POOL_GETTERS],
    )
    return [
        _pool_finding(dex, [pool for pool in pools if pool.lookup.dex == dex], answers)
        for dex in subject.chain.dexes
        if _has_getter(dex, subject.chain)
    ]


def _has_getter(dex: Dex, chain: Chain) -> bool:
    return bool(venue_of(dex).lookups(dex, chain.wrapped_native.address, chain.stables[0].address))


def _pool_finding(
    dex: Dex, pools: Sequence[KnownPool], answers: Mapping[ContractGetter, ProbeAnswer]
) -> CheckFinding:
    if not pools:
        seen = "the factory names no pool of the wrapped coin and a stable coin"
        return CheckFinding(status="unknown", subject=dex.name, seen=seen, costs=_NO_POOL_COSTS)
    computed = 0
    for pool in pools:
        factory, *tokens = (
            address_in(answers[ContractGetter(pool.address, name)]) for name in _POOL_GETTERS
        )
        if factory not in (None, dex.factory):
            seen = f"pool {pool.address} names the factory {factory}"
            return CheckFinding(status="failed", subject=dex.name, seen=seen)
        if tuple(tokens) != pool.tokens:
            seen = f"pool {pool.address} is one of other tokens, or no pool"
            return CheckFinding(status="failed", subject=dex.name, seen=seen)
        if dex.init_code_hash is None:
            continue
        if pool.address not in _computed_addresses(dex, pool):
            seen = f"pool {pool.address} is not where init_code_hash puts it"
            return CheckFinding(status="failed", subject=dex.name, seen=seen)
        computed += 1
    seen = f"{len(pools)} pools name it back, {computed} addresses recomputed"
    return ok(seen, subject=dex.name)


def _computed_addresses(dex: Dex, pool: KnownPool) -> Iterator[Address]:
    """Yield the possible addresses of a pool with this key."""
    maker = bytes.fromhex((dex.pool_deployer or dex.factory)[2:])
    code_hash = bytes.fromhex((dex.init_code_hash or "")[2:])
    for salt in _salts(pool):
        made = keccak(b"\xff" + maker + keccak(salt) + code_hash)
        yield Address("0x" + made[-20:].hex())


def _salts(pool: KnownPool) -> Iterator[bytes]:
    key = pool.lookup.key
    types = argument_types(pool.lookup.getter)
    encoded = bytes.fromhex(encode_values(types, (*pool.tokens, *key)))
    yield encoded
    packed = b"".join(bytes.fromhex(token[2:]) for token in pool.tokens)
    yield packed + b"".join(
        encoded[at : at + _WORD][-_packed_size(kind) :]
        for at, kind in zip(range(2 * _WORD, len(encoded), _WORD), types[2:], strict=True)
    )


def _packed_size(kind: str) -> int:
    """Return the bytes of a packed value: of uint24 three, of bool one."""
    bits = "".join(filter(str.isdigit, kind))
    return int(bits) // 8 if bits else 1


_NO_POOL_COSTS = "nothing, if the exchange has none; its pools are checked by their events only"

KNOWN_POOL = Check(
    name="known pools",
    group="facts",
    question="are pools of the wrapped coin where they should be",
    look=_check_known_pools,
    costs="pools of another factory would be traded: every trade fails, as of a honeypot",
    mend="correct factory, pool_deployer or init_code_hash in the overlay's [[dex]]",
)
