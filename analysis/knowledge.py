"""What the tables already know about a token, as far as an analysis asks."""

from collections.abc import Sequence
from typing import Protocol

import msgspec

from config.chains import Chain
from config.primitives import Address, BlockRef, RawAmount
from sql.rows import LaunchRow, PoolRow


class Known(msgspec.Struct, frozen=True, kw_only=True):
    """One token's rows."""

    pools: tuple[PoolRow, ...] = ()
    covered_factories: frozenset[Address] = frozenset()
    """Factories whose every pool up to our tip is in the index; the others have to be asked."""
    launches: tuple[LaunchRow, ...] = ()
    """Launch platforms that announced the token."""
    covered_launches: frozenset[str] = frozenset()
    """Launchpad.subject of those whose every event up to our tip is in the index."""
    holders: tuple[tuple[Address, RawAmount], ...] = ()
    """Largest first, by indexed transfers; may be incomplete, so balances are read again."""


class Knowledge(Protocol):
    """The tables, or nothing at all."""

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef
    ) -> Known:
        """Everything indexed about `token` up to `pin`, its pools against `quotes` only."""
        ...


class NoKnowledge:
    """No tables: everything is asked of the chain."""

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef
    ) -> Known:
        """Nothing."""
        return Known()
