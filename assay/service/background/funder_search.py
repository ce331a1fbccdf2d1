"""Background job that looks up who gave the creators of analysed tokens their first coins.

One account at a time for each chain, each once: no report and no request waits for it.
"""

import asyncio

from analysis.pipeline.chain_context import ChainContext
from analysis.token.funding import find_funding
from assay.service.background.chain_search import ChainSearch
from core.errors import UpstreamError
from sql.engine.table_rows import FunderRow, TokenRow
from sql.tokens.creator_tables import read_creator
from sql.tokens.funder_tables import (
    CreatedToken,
    drop_funder_task,
    put_off_funder_task,
    read_created,
    read_funder,
    write_funder,
)

_REFUSED_PAUSE_S = 86_400
"""Seconds before an account is tried again where the node did not answer, mostly for want of old
states."""


class Funders(ChainSearch):
    """Looks up one account at a time on every chain."""

    subject = "funder"

    async def _look_up(self, context: ChainContext, token: TokenRow) -> None:
        created = await asyncio.to_thread(self._unknown_creator, token)
        if created is None:
            await asyncio.to_thread(drop_funder_task, self._store, token)
            return
        try:
            row = await self._find(context, created)
        except UpstreamError:
            until_s = int(self._now_s()) + _REFUSED_PAUSE_S
            await asyncio.to_thread(put_off_funder_task, self._store, token, until_s=until_s)
            raise
        if row is not None:
            await asyncio.to_thread(write_funder, self._store, row, token)

    def _unknown_creator(self, token: TokenRow) -> CreatedToken | None:
        """Return the token with its creator. None: there is nothing to look up."""
        created = read_created(self._store, token_id=token.token_id)
        if created is None:
            return None
        known = read_funder(self._store, chain_id=created.chain_id, account=created.creator)
        return created if known is None else None

    async def _find(self, context: ChainContext, created: CreatedToken) -> FunderRow | None:
        """Find the first coins of a creator. None: they are not final yet."""
        head = await context.node.fetch_head()
        final = head.number - context.chain.finality_blocks
        if final < 0:
            return None
        made = await asyncio.to_thread(
            read_creator, self._store, chain_id=created.chain_id, token=created.address
        )
        # Whoever sent the creation had coins then; a shorter range is searched faster.
        has_sent = made is not None and made.creator == created.creator
        used_by = min(final, made.block_number) if made is not None and has_sent else final
        found = await find_funding(context.node, created.creator, used_by=used_by)
        if found is None:
            return None
        return FunderRow(
            chain_id=created.chain_id,
            account=created.creator,
            funder=found.funder,
            block_number=found.block_number,
            tx_hash=found.tx_hash,
        )
