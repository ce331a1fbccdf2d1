"""Feed of changed reports, written by any process of the fleet."""

from collections.abc import Sequence

import msgspec

from core.evm.primitives import Address
from sql.engine.postgres.single_statements import SingleStatements

MOST_AT_ONCE = 2_000
"""Changes per read; a process that is behind reads again."""


class ReportChange(msgspec.Struct, frozen=True, kw_only=True):
    """The last change of one token's report."""

    chain_id: int
    address: Address
    change: int
    """Ascending number; the changes of one chain become visible in order."""


class _Newest(msgspec.Struct, frozen=True, kw_only=True):
    chain_id: int
    change: int


class ReportChanges:
    """The changes of the reports of some chains. All calls block and raise StoreError."""

    def __init__(self, statements: SingleStatements, chain_ids: Sequence[int]) -> None:
        self._statements = statements
        self._chain_ids = list(chain_ids)

    def newest(self) -> dict[int, int]:
        """Return the number of each chain's newest change; 0 without one."""
        found = self._statements.run("changes/list_newest", _Newest, chain_ids=self._chain_ids)
        return {one.chain_id: one.change for one in found}

    def since(self, seen: dict[int, int]) -> list[ReportChange]:
        """Return the changes after the numbers `seen` of their chains, oldest first, at most
        MOST_AT_ONCE."""
        return self._statements.run(
            "changes/list_since",
            ReportChange,
            chain_ids=list(seen),
            changes=list(seen.values()),
            at_most=MOST_AT_ONCE,
        )
