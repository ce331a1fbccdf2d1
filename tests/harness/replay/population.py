"""Population of a replayed chain, drawn from the seed: tokens, their pools, wallets."""

import hashlib
import itertools
from bisect import bisect_left
from random import Random

import msgspec

from config.facts.chain import Chain, Dex
from config.facts.launchpad import CreationEvent
from config.facts.pool_family import FAMILIES, PoolFamily
from core.evm.primitives import ZERO_ADDRESS, Address, Hash32
from tests.harness.replay.chain_events import ReplayPool

_BORN_WITHIN = 0.5
"""Share of the chain's blocks in which tokens get their first pool; the rest have all."""
_LAUNCHED_EVERY = 10
"""Interval of tokens that come from a launch platform."""
_WITHOUT_ANCHOR = 0.05
"""Share of pools of two ordinary tokens."""
_NFT_CONTRACTS = 20


class Platform(msgspec.Struct, frozen=True):
    """One event of one contract of a launch platform."""

    slug: str
    emitter: Address
    event: CreationEvent


class ReplayToken(msgspec.Struct, frozen=True):
    """A token, and its origin: a pool or a launch."""

    address: Address
    pool: ReplayPool | None
    """None: it is launched instead."""
    counterparty: Address
    """Its pool, which is on one side of half of its transfers; the platform of a launched one."""


class Population:
    """Tokens in the order of their popularity, with Zipf's weights, and all other accounts."""

    def __init__(self, chain: Chain, *, seed: int, tokens: int, wallets: int) -> None:
        self._seed = f"{seed}:{chain.id}"
        self.chain = chain
        self._dexes = [dex for dex in chain.dexes if _names_both(_family(dex))]
        self.platforms = _platforms(chain)
        self.wallets = [self.address(f"wallet {at}") for at in range(wallets)]
        self.nfts = [self.address(f"nft {at}") for at in range(_NFT_CONTRACTS)]
        self.tokens = [self._token(at) for at in range(tokens)]
        self._weights = list(itertools.accumulate(1 / (at + 1) for at in range(tokens)))

    def address(self, name: str) -> Address:
        """The address that belongs to a name."""
        return Address("0x" + self._digest(name, 20))

    def hash(self, name: str) -> Hash32:
        """The hash that belongs to a name. Not keccak: nobody can recompute a header's anyway."""
        return Hash32("0x" + self._digest(name, 32))

    def choose(self, dice: Random) -> int:
        """The number of a token, born or not, the popular ones more often."""
        return bisect_left(self._weights, dice.random() * self._weights[-1])

    def born(self, done: float) -> int:
        """Return the number of tokens with a pool after this share of the chain's blocks."""
        return round(len(self.tokens) * min(1.0, max(0.0, done / _BORN_WITHIN)))

    def make_pool(self, dice: Random, token: Address, name: str) -> ReplayPool:
        """Make a pool of a token on any exchange of the chain whose events name both tokens.

        Its creation event is one of those of that kind of exchange.
        """
        dex = dice.choice(self._dexes)
        family = _family(dex)
        creation = dice.choice(family.creation)
        in_one = "pool" not in creation.form.places
        sides = sorted((token, self._other_side(dice, in_one=in_one)))
        return ReplayPool(
            dex=dex,
            creation=creation,
            swap=dice.choice(family.swap),
            token0=sides[0],
            token1=sides[1],
            address=dex.factory if in_one else self.address(f"pool {name}"),
            pool_id=self.hash(f"pool {name}") if "pool_id" in creation.form.places else None,
        )

    def _other_side(self, dice: Random, *, in_one: bool) -> Address:
        anchors = [anchor.address for anchor in self.chain.anchors]
        if in_one:
            anchors.append(ZERO_ADDRESS)  # the native coin itself
        if dice.random() < _WITHOUT_ANCHOR:
            return self.address(f"partner {dice.randrange(1000)}")
        return dice.choice(anchors)

    def _token(self, at: int) -> ReplayToken:
        own = self.address(f"token {at}")
        dice = Random(f"{self._seed}:token:{at}")  # noqa: S311 - chance, not secrecy
        if self.platforms and at % _LAUNCHED_EVERY == _LAUNCHED_EVERY - 1:
            return ReplayToken(own, None, self.platforms[at % len(self.platforms)].emitter)
        pool = self.make_pool(dice, own, f"of token {at}")
        return ReplayToken(own, pool, pool.address)

    def _digest(self, name: str, size: int) -> str:
        return hashlib.blake2b(f"{self._seed}:{name}".encode(), digest_size=size).hexdigest()


def _family(dex: Dex) -> PoolFamily:
    return next(family for family in FAMILIES if family.kind == dex.kind)


def _names_both(family: PoolFamily) -> bool:
    return all({"token0", "token1"} <= set(each.form.places) for each in family.creation)


def _platforms(chain: Chain) -> list[Platform]:
    """Return events of the chain's platforms without a common pair of emitter and topic."""
    found = [
        Platform(pad.slug, contract, event)
        for pad in chain.launchpads
        for event in pad.event
        for contract in pad.contracts
    ]
    sources = [(one.emitter, one.event.topic) for one in found]
    return [one for one in found if sources.count((one.emitter, one.event.topic)) == 1]
