"""Which chains a fleet has a node for: processes with one say so, and those without one read it."""

from collections.abc import Mapping
from typing import Final

import msgspec

from sql.engine.postgres.single_statements import SingleStatements

KEPT_S: Final = 7 * 86_400.0
"""A chain that no process has had a node of for so long is not the fleet's any more."""


class FleetChain(msgspec.Struct, frozen=True, kw_only=True):
    """A chain that some process has a node for, or had a short while ago."""

    chain_id: int
    native_usd: float | None
    """US dollars of the native coin, by an analysis. None: not known, or too old."""


class ChainRegistry:
    """The chains of one fleet. Thread-safe; all calls block and raise StoreError."""

    def __init__(self, statements: SingleStatements) -> None:
        self._statements = statements

    def renew(self, role: str, prices: Mapping[int, float | None]) -> None:
        """Say that this process has a node of each of the chains `prices`, by id, with US dollars
        of its native coin. None: not known here."""
        self._statements.run(
            "chains/renew_chains",
            FleetChain,
            role=role,
            chain_ids=list(prices),
            prices=list(prices.values()),
        )

    def chains(self, *, priced_s: float = 0.0) -> list[FleetChain]:
        """Return the chains of the fleet. Prices are not older than `priced_s`."""
        return self._statements.run(
            "chains/list_chains", FleetChain, kept_s=KEPT_S, priced_s=priced_s
        )
