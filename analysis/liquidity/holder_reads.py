"""Reads of what the holders of one pool's liquidity are: their code, and the records of lockers.

Code is asked for as soon as somebody is named, so that it takes no round trip of its own.
"""

from collections.abc import Sequence
from typing import Final

from analysis.liquidity.holdings import PoolHoldings
from analysis.liquidity.locks import Lock, LockReads
from analysis.market.venues.pool import Candidate
from analysis.market.venues.venue_registry import venue_of
from analysis.reads.chain_reads import AnswerAddress, Handle
from analysis.reads.read_batch import ReadBatch
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from config.burn import BURN_ADDRESSES
from config.chains import Chain
from core.primitives import Address

MOST_CODES: Final = 40
"""Holders of one pool whose code is read."""


class LiquidityHolderReads:
    """Reads of one pool's holders."""

    def __init__(self, chain: Chain) -> None:
        self._chain = chain
        self._codes: dict[Address | AnswerAddress, tuple[ReadBatch, Handle[bytes]]] = {}
        self._unread: frozenset[Address] = frozenset()
        self._locks: dict[Address, LockReads] = {}

    def ask_codes(self, batch: ReadBatch, named: Sequence[Address | AnswerAddress]) -> None:
        """Add the code of those that are named and were not asked about."""
        for holder in named:
            if len(self._codes) < MOST_CODES and holder not in (*self._codes, *BURN_ADDRESSES):
                self._codes[holder] = batch, batch.code(holder, first_bytes=DELEGATION_BYTES)

    def ask_rest(self, batch: ReadBatch, pool: Candidate, found: PoolHoldings) -> None:
        """Add the code of holders that nothing named before, and the locks in known lockers.
        Raises UpstreamError."""
        holders = [holding.holder for holding in found.holdings]
        known = set(self._by_holder())
        self.ask_codes(batch, [holder for holder in holders if holder not in known])
        # What is not read counts as a contract: it is then not said that it can be withdrawn.
        self._unread = frozenset(holders) - known - self._codes.keys() - BURN_ADDRESSES
        if venue_of(pool.dex).liquidity_form(pool.dex) == "lp_tokens":
            self._locks = {
                at: LockReads(batch, locker.records, at, pool.pool)
                for locker in self._chain.lockers
                if locker.records is not None
                for at in locker.contracts
                if at in holders
            }

    def contracts(self) -> frozenset[Address]:
        """Return the holders with code. Raises UpstreamError."""
        coded = {
            holder
            for holder, (batch, handle) in self._by_holder().items()
            if (code := batch[handle]) and not is_delegated_account(code)
        }
        return self._unread | coded

    def locks(self) -> dict[Address, tuple[Lock, ...]]:
        """Return the locks by locker. Raises UpstreamError."""
        return {at: reads.read() for at, reads in self._locks.items()}

    def _by_holder(self) -> dict[Address, tuple[ReadBatch, Handle[bytes]]]:
        """Return the reads of code by whose it is; an answer that named nobody has none."""
        resolved = (
            (batch.resolve(holder), (batch, handle))
            for holder, (batch, handle) in self._codes.items()
        )
        return {holder: read for holder, read in resolved if holder is not None}
