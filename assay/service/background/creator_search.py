"""Background job that looks up the creators of analysed tokens, one token at a time for each chain.

No report waits for it: a report is amended when its creator is known.
"""

import asyncio
from collections.abc import Callable, Mapping

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.eth_reads import decode_uint
from analysis.reads.read_batch import ReadBatch
from analysis.token.creation import ContractCreation, find_creation, find_launch
from assay.service.background.chain_search import ChainSearch
from assay.service.record_report import record_creator
from config.settings_model import AnalysisSettings
from core.errors import UpstreamError
from core.evm.primitives import Address, RawAmount
from core.report.judgement import Judge
from sql.chain.launch_tables import launches_of
from sql.engine.store import Store
from sql.engine.table_rows import CreatorRow, TokenRow
from sql.tokens.creator_tables import Creatorless, read_creatorless, write_creator


class Creators(ChainSearch):
    """Looks up one token at a time on every chain."""

    subject = "creator"

    def __init__(
        self,
        *,
        contexts: Mapping[str, ChainContext],
        store: Store,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
        judge: Judge = lambda _: None,
    ) -> None:
        """`judge` says what the summary says of a report that now names the creator."""
        super().__init__(contexts=contexts, store=store, settings=settings, now_s=now_s)
        self._judge = judge

    async def _look_up(self, context: ChainContext, token: TokenRow) -> None:
        one = await asyncio.to_thread(read_creatorless, self._store, token_id=token.token_id)
        if one is None:
            return
        head = await context.node.fetch_head()
        final = head.number - context.chain.finality_blocks
        found = await self._find(context, one.address, final=final) if final >= 0 else None
        if found is None:
            return
        row = CreatorRow(
            chain_id=context.chain.id,
            token=one.address,
            creator=found.creator,
            block_number=found.block_number,
            tx_hash=found.tx_hash,
        )
        await asyncio.to_thread(write_creator, self._store, row)
        if found.creator is not None:
            await asyncio.to_thread(
                record_creator,
                self._store,
                chain_id=context.chain.id,
                address=one.address,
                block_hash=one.block_hash,
                creator=found.creator,
                balance_raw=await _balance_of(context, one, found.creator),
                judge=self._judge,
            )

    async def _find(
        self, context: ChainContext, token: Address, *, final: int
    ) -> ContractCreation | None:
        """Find the creation by the launch, which any node still has, else by the code. None: not
        final yet."""
        launches = await asyncio.to_thread(
            launches_of, self._store, chain_id=context.chain.id, token=token
        )
        for launch in launches:
            if launch.tx_hash is not None and launch.block_number <= final:
                launched = await find_launch(context.node, token, launch.tx_hash)
                if launched is not None:
                    return launched
        return await find_creation(context.node, token, final=final)


async def _balance_of(
    context: ChainContext, one: Creatorless, creator: Address
) -> RawAmount | None:
    """Return the balance at the report's block. None: the call or the node fails, or its state is
    pruned."""
    batch = ReadBatch(one.block_hash)
    balance = batch.call(one.address, "balanceOf(address)", creator, returns=decode_uint)
    await batch.send(context.node)
    try:
        held = batch[balance]
    except UpstreamError:
        return None
    return None if held is None else RawAmount(held)
