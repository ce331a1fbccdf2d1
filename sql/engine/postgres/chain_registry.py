"""Registry of the chains that a fleet has nodes for, written by the processes with a node."""

from collections.abc import Mapping
from typing import Final

import msgspec

from sql.engine.postgres.single_statements import SingleStatements

KEPT_S: Final = 7 * 86_400.0
"""Seconds after which a chain without a node leaves the registry."""


class FleetChain(msgspec.Struct, frozen=True, kw_only=True):
    """A chain that a process of the fleet has a node for, or had recently."""

    chain_id: int
    native_usd: float | None
    """Price of the native coin in USD, from an analysis. None: not known, or too old."""


class ChainRegistry:
    """The chains of one fleet. Thread-safe; all calls block and raise StoreError."""

    def __init__(self, statements: SingleStatements) -> None:
        self._statements = statements

    def renew(self, role: str, prices: Mapping[int, float | None]) -> None:
        """Register this process's chains by id, with the price of the native coin in USD. None: not
        known here."""
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
