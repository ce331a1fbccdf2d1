"""Query of a factory for one pool."""

from functools import partial

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.reads.chain_reads import Handle, call_of
from analysis.reads.eth_reads import decode_address
from analysis.reads.read_batch import ReadBatch
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address


class Lookup(msgspec.Struct, frozen=True, kw_only=True):
    """One query of a factory. Its answer is the pool's address, or zero."""

    dex: Dex
    token: Address
    quote: Address
    getter: str
    """Signature of the factory's read; its first two arguments are the two tokens."""
    quote_first: bool = False
    """The first argument is the quote token."""
    key: tuple[int | bool, ...] = ()
    """Further arguments: fee, tick spacing or stable flag."""
    fee: int | None = None
    tick_spacing: int | None = None
    stable: bool | None = None
    address_word: int = 0
    """Index of the returned word that holds the pool's address."""

    def request(self, batch: ReadBatch) -> Handle[Address | None]:
        """Add the read of the pool's address."""
        sides = (self.quote, self.token) if self.quote_first else (self.token, self.quote)
        arguments = (*sides, *self.key)
        call = call_of(self.dex.factory, self.getter, *arguments)
        return batch.add(
            msgspec.structs.replace(call, address_word=self.address_word),
            returns=partial(decode_address, at=self.address_word),
        )

    def candidate(self, pool: Address | None) -> Candidate | None:
        """Return the pool at the address that the factory returned. None: there is none."""
        if pool is None or pool == ZERO_ADDRESS:
            return None
        return Candidate(
            dex=self.dex,
            pool=pool,
            token=self.token,
            quote=self.quote,
            fee=self.fee,
            tick_spacing=self.tick_spacing,
            stable=self.stable,
        )
