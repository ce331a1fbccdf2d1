"""What the tables already know about a token, as far as an analysis asks."""

from collections.abc import Sequence
from typing import Literal, Protocol

import msgspec

from config.chains import Chain
from config.primitives import Address, BlockRef, RawAmount
from sql.rows import LaunchRow, PoolRow


class TransferHistory(msgspec.Struct, frozen=True, kw_only=True):
    """How much of a token's transfers is in the index."""

    from_block: int | None = None
    """All of them from this block on. None: none are."""
    is_whole: bool = False
    """There are no older ones that matter."""
    held_raw: int | None = None
    """What they leave with all addresses together; beyond 256 bits where a token makes amounts up.
    None: the past is not whole."""

    @property
    def extent(self) -> Literal["none", "some", "all"]:
        """In a word."""
        if self.from_block is None:
            return "none"
        return "all" if self.is_whole else "some"


class IndexedFacts(msgspec.Struct, frozen=True, kw_only=True):
    """One token's rows."""

    pools: tuple[PoolRow, ...] = ()
    """All against the quotes asked for, and the first few against other tokens."""
    covered_factories: frozenset[Address] = frozenset()
    """Factories whose every pool up to our tip is in the index; the others have to be asked."""
    launches: tuple[LaunchRow, ...] = ()
    """Launch platforms that announced the token."""
    covered_launches: frozenset[str] = frozenset()
    """Launchpad.subject of those whose every event up to our tip is in the index."""
    holders: tuple[tuple[Address, RawAmount], ...] = ()
    """Largest first, by indexed transfers; may be incomplete, so balances are read again."""
    past: TransferHistory = TransferHistory()
    """Where the amounts of the holders come from."""
    creator: Address | None = None
    """Who sent the transaction that made the token, as its final block told. None: not known."""
    no_wallet_at_s: int | None = None
    """When the last transfer check was made, if it found no wallet to check with."""


class FactsIndex(Protocol):
    """The tables, or nothing at all."""

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        """Everything indexed about `token`, its pools against `quotes`, and the first few others.

        `pin`: the block that a factory must be indexed up to, to count as covered. None: it is not
        known yet, and none counts.
        """
        ...


class NoFactsIndex:
    """No tables: everything is asked of the chain."""

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        """Nothing."""
        return IndexedFacts()
