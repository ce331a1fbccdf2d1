"""Background searches for the creators of tokens, and for the funders of creators and of first
buyers."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import ClassVar, Final, Literal

import structlog
from apscheduler.schedulers.asyncio import AsyncIOScheduler

from analysis.pipeline.chain_context import ChainContext
from analysis.reads.eth_reads import decode_uint
from analysis.reads.read_batch import ReadBatch
from analysis.token.creation import ContractCreation, find_creation, find_launch
from analysis.token.funding import find_funding
from assay.service.background.schedule import schedule_by_chain
from assay.service.record_report import record_creator
from config.settings import AnalysisSettings
from core.errors import StoreError, UpstreamError
from core.evm.primitives import Address, RawAmount
from core.report.verdict import FindVerdict
from sql.chain.launch_tables import list_launches
from sql.engine.store import Store
from sql.engine.table_rows import CreatorRow, FunderRow, TokenRow
from sql.reports.launch_record import find_unknown_funder
from sql.tokens.creator_tables import Creatorless, read_creator, read_creatorless, write_creator
from sql.tokens.funder_tables import (
    CreatedToken,
    drop_funder_task,
    put_off_funder_task,
    read_created,
    read_funder,
    write_funder,
)
from sql.tokens.task_queue import drop_task, put_task, take_tasks

_LOG = structlog.get_logger(__name__)

PAUSE_S: Final = 3_600
"""Seconds before an unfinished task is retried: its block is not final, or the node did not
answer."""


class ChainSearch(ABC):
    """Repeatedly does the most valuable task of every chain."""

    subject: ClassVar[Literal["creator", "funder", "buyers"]]
    """Kind of its tasks."""

    def __init__(
        self,
        *,
        contexts: Mapping[str, ChainContext],
        store: Store,
        settings: AnalysisSettings,
        now_s: Callable[[], float],
    ) -> None:
        self._contexts = contexts
        self._store = store
        self._settings = settings
        self._now_s = now_s

    def schedule(self, scheduler: AsyncIOScheduler) -> None:
        """Add a job for each chain."""
        every_s, name = self._settings.rounds_every_s, f"find {self.subject}s"
        schedule_by_chain(scheduler, self.go, self._contexts, every_s=every_s, name=name)

    async def go(self, slug: str) -> None:
        """Do one task of one chain. Errors are logged."""
        context = self._contexts[slug]
        try:
            token = await asyncio.to_thread(self._take_due, context.chain.id)
            if token is not None:
                await self._look_up(context, token)
        except (UpstreamError, StoreError) as error:
            _LOG.info(f"{self.subject} not found", chain=slug, why=str(error))

    @abstractmethod
    async def _look_up(self, context: ChainContext, token: TokenRow) -> None:
        """Do the task of a token. Raises UpstreamError, StoreError."""

    def _take_due(self, chain_id: int) -> TokenRow | None:
        """Take the most valuable due token. None: none is due."""
        now_s = int(self._now_s())
        tasks = take_tasks(
            self._store,
            self.subject,
            chain_id=chain_id,
            now_s=now_s,
            again_s=now_s + PAUSE_S,
            at_most=1,
        )
        return tasks[0].token if tasks else None


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
        find_verdict: FindVerdict = lambda _: None,
    ) -> None:
        """`find_verdict`: computes the verdict of a report that now names the creator."""
        super().__init__(contexts=contexts, store=store, settings=settings, now_s=now_s)
        self._find_verdict = find_verdict

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
                find_verdict=self._find_verdict,
            )

    async def _find(
        self, context: ChainContext, token: Address, *, final: int
    ) -> ContractCreation | None:
        """Find the creation by the launch, which any node still has, else by the code. None: not
        final yet."""
        launches = await asyncio.to_thread(
            list_launches, self._store, chain_id=context.chain.id, token=token
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
        amount = batch[balance]
    except UpstreamError:
        return None
    return None if amount is None else RawAmount(amount)


_REFUSED_PAUSE_S = 86_400
"""Seconds before an account is retried after the node did not answer, mostly for lack of old
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
        # The sender of the creation had coins by then, so a shorter range is enough.
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


class BuyerFunders(ChainSearch):
    """Looks up the funder of one early buyer at a time on every chain, of tokens whose launch was
    requested."""

    subject = "buyers"

    async def _look_up(self, context: ChainContext, token: TokenRow) -> None:
        unknown = await asyncio.to_thread(find_unknown_funder, self._store, token)
        if unknown is None:
            await asyncio.to_thread(self._drop, token)
            return
        head = await context.node.fetch_head()
        final = head.number - context.chain.finality_blocks
        if unknown.bought_at > final:
            return
        found = await find_funding(context.node, unknown.account, used_by=final)
        row = FunderRow(
            chain_id=context.chain.id,
            account=unknown.account,
            funder=None if found is None else found.funder,
            block_number=final if found is None else found.block_number,
            tx_hash=None if found is None else found.tx_hash,
        )
        await asyncio.to_thread(self._write, token, row)

    def _drop(self, token: TokenRow) -> None:
        with self._store.transaction(chain_id=token.chain_id) as tx:
            drop_task(tx, "buyers", token_id=token.token_id)

    def _write(self, token: TokenRow, row: FunderRow) -> None:
        """Store a funder; the next buyer is due at once."""
        now_s = int(self._now_s())
        with self._store.transaction(chain_id=token.chain_id) as tx:
            tx.insert("funder", [row], on_conflict="replace")
            put_task(tx, "buyers", token=token, worth=now_s, due_s=now_s)
