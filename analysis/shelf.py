"""The tables behind an analysis: what is known of a token, and where its report goes."""

import asyncio
from collections.abc import Sequence

from analysis.knowledge import Known
from config.chains import Chain
from config.primitives import Address
from sql import pools, reports, tokens, transfers
from sql.rows import Report
from sql.store import Store

_HOLDERS_READ = 25


class StoreShelf:
    """Knowledge and Shelf over the DuckDB store. Every call runs in a thread of its own."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def known(self, chain: Chain, token: Address, quotes: Sequence[Address]) -> Known:
        """Indexed pools against `quotes`, factories fully indexed, holders by transfers."""
        return await asyncio.to_thread(self._known, chain, token, quotes)

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """The last report. None: there is none."""
        return await asyncio.to_thread(
            reports.read_report, self._store, chain_id=chain_id, address=token
        )

    async def write(self, report: Report) -> None:
        """Replace the token's report, in one transaction."""
        await asyncio.to_thread(reports.write_report, self._store, report)
