"""Adapter from the analysis to the store: indexed facts, static results and reports."""

import asyncio
import sys
from collections.abc import Mapping, Sequence

from analysis.market.venues.state.pool_bounds import MOST_SWEPT
from analysis.reads.indexed_facts import (
    FailedSale,
    IndexedEvent,
    IndexedFacts,
    MinedTransaction,
    NoFactsIndex,
    PoolEvents,
    SaleHistory,
    TransferHistory,
)
from assay.service.record_report import record_refusal, record_report
from assay.service.refresh_policy import next_refresh, refresh_of_refused
from config.facts.chain import Chain
from config.settings import AnalysisSettings
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, HexBytes
from core.report.finding_outcomes import KnownOutcomes
from core.report.report import Report
from core.report.rows import RefusalRow
from core.report.verdict import FindVerdict
from sql.chain.balances import read_holders, read_top_holders
from sql.chain.history_tables import read_history
from sql.chain.launch_tables import list_launches
from sql.chain.liquidity_events import StoredEvent, read_pool_events
from sql.chain.pool_tables import list_coverage, list_other_pools, list_pools
from sql.engine.database import Reader
from sql.engine.store import Store
from sql.engine.table_rows import CoverageRow, CreatorRow
from sql.reports.indexed_record import read_indexed_record
from sql.reports.outcome_counts import read_known_outcomes
from sql.reports.report_tables import find_walletless_check, read_report
from sql.tokens.codes import delete_other_versions, read_found, write_found
from sql.tokens.creator_tables import read_creator
from sql.tokens.observations import list_causes
from sql.tokens.tokens import read_token

_HOLDERS_READ = 25

_OTHER_POOLS_READ = 20
"""Pools against tokens that are no anchors. The oldest are read, so later ones cannot displace
them."""

_OBSERVED = 500
"""Newest observations of a token among which failed sales are looked for."""

_TOPIC_BYTES = 32

_LAG_S = 15
"""Seconds. An index at most this far behind the pinned block counts as complete: the factories are
not read again for the few pools that are younger."""


class ReportStore:
    """`FactsIndex`, `StoredResults` and `ReportStorage` over the store. Each call runs in a
    thread."""

    def __init__(
        self, store: Store, settings: AnalysisSettings, find_verdict: FindVerdict = lambda _: None
    ) -> None:
        """`find_verdict`: computes the verdict that is stored with a report."""
        self._store = store
        self._settings = settings
        self._find_verdict = find_verdict

    async def known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        """Return indexed pools, against `quotes` and a few others, fully indexed factories, and
        holders."""
        return await asyncio.to_thread(self._known, chain, token, quotes, pin)

    async def pool_events(
        self, chain: Chain, pools: Sequence[str], pin: BlockRef
    ) -> Mapping[str, PoolEvents]:
        """Return the events of young pools that following has read since their creation."""
        return await asyncio.to_thread(self._pool_events, chain, pools, pin)

    async def sale_history(self, chain: Chain, token: Address, pin: BlockRef) -> SaleHistory:
        """Return the newest failed sales that were observed of a watched token."""
        return await asyncio.to_thread(self._sale_history, chain, token, pin)

    async def find_code(self, code_hash: Hash32, version: str) -> str | None:
        """Return the stored result of this version of the static analysis. None: nothing is
        stored."""
        return await asyncio.to_thread(
            read_found, self._store, code_hash=code_hash, version=version
        )

    async def keep_code(self, code_hash: Hash32, version: str, *, size: int, found: str) -> None:
        """Store a result, in place of an earlier one."""
        await asyncio.to_thread(
            write_found,
            self._store,
            code_hash=code_hash,
            version=version,
            size=size,
            found=found,
        )

    async def forget_codes(self, *, but_of_version: str) -> None:
        """Delete the results of other versions of the static analysis."""
        await asyncio.to_thread(delete_other_versions, self._store, version=but_of_version)

    async def read(self, chain_id: int, token: Address) -> Report | None:
        """Return the last report. None: there is none."""
        return await asyncio.to_thread(read_report, self._store, chain_id=chain_id, address=token)

    async def write(self, report: Report) -> None:
        """Replace the token's report, in one transaction."""
        await asyncio.to_thread(self._write, report)

    async def refuse(self, chain_id: int, token: Address, refusal: RefusalRow) -> None:
        """Store that the token was not admitted."""
        await asyncio.to_thread(
            record_refusal,
            self._store,
            chain_id=chain_id,
            address=token,
            refusal=refusal,
            refresh=refresh_of_refused(refusal.refused_at_s, self._settings),
        )

    def _write(self, report: Report) -> None:
        refresh = next_refresh(report, self._settings)
        record_report(self._store, report, refresh, self._find_verdict(report))

    def _pool_events(
        self, chain: Chain, pools: Sequence[str], pin: BlockRef
    ) -> dict[str, PoolEvents]:
        with self._store.snapshot() as reader:
            keys = [HexBytes(key) for key in pools]
            stored = read_pool_events(reader, chain=chain, pool_keys=keys, pin=pin)
        return {
            key: PoolEvents(to_block=one.to_block, events=tuple(map(_as_answered, one.events)))
            for key, one in stored.items()
        }

    def _sale_history(self, chain: Chain, token: Address, pin: BlockRef) -> SaleHistory:
        with self._store.snapshot() as reader:
            tracked = read_token(reader, chain_id=chain.id, address=token)
            seen = (
                []
                if tracked is None
                else list_causes(
                    reader, tracked.token_id, above=-1, up_to=pin.number, at_most=_OBSERVED
                )
            )
        calls = ("owner_call", "call", "parameter_event")
        return SaleHistory(
            is_watched=bool(seen),
            failed=tuple(
                FailedSale(
                    trader=one.sender,
                    tx_hash=one.tx_hash,
                    block_number=one.block_number,
                    block_time_s=one.block_time_s,
                    reason=one.detail or "",
                )
                for one in seen
                if one.kind == "failed_trade" and one.what == "sell" and one.tx_hash is not None
            ),
            call_blocks=tuple(dict.fromkeys(one.block_number for one in seen if one.kind in calls)),
        )

    def _known(
        self, chain: Chain, token: Address, quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        with self._store.snapshot() as reader:
            anchors = [*quotes, ZERO_ADDRESS]
            pools = list_pools(
                reader,
                chain_id=chain.id,
                token=token,
                quotes=anchors,
                at_most=MOST_SWEPT + 1,
            )
            others = (
                []
                if token in {one.address for one in chain.anchors}
                else list_other_pools(
                    reader,
                    chain_id=chain.id,
                    token=token,
                    quotes=anchors,
                    at_most=_OTHER_POOLS_READ,
                )
            )
            holders = read_top_holders(
                reader, chain_id=chain.id, token=token, at_most=_HOLDERS_READ
            )
            made = read_creator(reader, chain_id=chain.id, token=token)
            coverage = _Coverage(reader, chain, pin)
            return IndexedFacts(
                pools=(*pools, *others),
                covered_factories=frozenset(
                    dex.factory
                    for dex in chain.dexes
                    if coverage.has(f"pools:{dex.factory}", since=dex.from_block)
                ),
                launches=tuple(list_launches(reader, chain_id=chain.id, token=token)),
                covered_launches=frozenset(
                    pad.subject
                    for pad in chain.launchpads
                    if coverage.has(pad.subject, since=pad.from_block)
                ),
                holders=tuple((holder.owner, holder.amount_raw) for holder in holders),
                past=_read_past(reader, chain.id, token),
                creator=None if made is None else made.creator,
                creation=_creation(made),
                no_wallet_at_s=find_walletless_check(reader, chain_id=chain.id, token=token),
                record=read_indexed_record(
                    reader,
                    chain_id=chain.id,
                    token=token,
                    block=pin,
                    per_day=self._settings.established_sellers_per_day,
                ),
            )


class TradeHistory(NoFactsIndex):
    """An index that knows only track records and outcomes, from a store: for analyses that read all
    else from the chain."""

    def __init__(self, store: Store, settings: AnalysisSettings) -> None:
        self._store = store
        self._settings = settings

    async def known(
        self, chain: Chain, token: Address, _quotes: Sequence[Address], pin: BlockRef | None
    ) -> IndexedFacts:
        """Return the track record."""
        return await asyncio.to_thread(self._known, chain, token, pin)

    async def outcomes(self, chain: Chain) -> KnownOutcomes:
        """Return the outcomes of the chain's tokens, by their findings. Raises StoreError."""
        return await asyncio.to_thread(read_known_outcomes, self._store, chain_id=chain.id)

    def _known(self, chain: Chain, token: Address, pin: BlockRef | None) -> IndexedFacts:
        with self._store.snapshot() as reader:
            record = read_indexed_record(
                reader,
                chain_id=chain.id,
                token=token,
                block=pin,
                per_day=self._settings.established_sellers_per_day,
            )
        return IndexedFacts(record=record)


def _creation(made: CreatorRow | None) -> MinedTransaction | None:
    if made is None or made.tx_hash is None:
        return None
    return MinedTransaction(tx_hash=made.tx_hash, block_number=made.block_number)


def _as_answered(event: StoredEvent) -> IndexedEvent:
    """Return an event as a node answers it."""
    return IndexedEvent(
        address=event.emitter,
        topics=tuple(
            "0x" + event.topics[at : at + _TOPIC_BYTES].hex()
            for at in range(0, len(event.topics), _TOPIC_BYTES)
        ),
        data="0x" + event.data.hex(),
        block_number=hex(event.block_number),
    )


def _read_past(reader: Reader, chain_id: int, address: Address) -> TransferHistory:
    token = read_token(reader, chain_id=chain_id, address=address)
    if token is None or token.transfers_from_block is None:
        return TransferHistory()
    history = read_history(reader, token_id=token.token_id)
    is_whole = token.transfers_from_block == 0 or (history is not None and history.is_whole)
    if not is_whole:
        return TransferHistory(from_block=token.transfers_from_block)
    holdings = read_holders(reader, chain_id=chain_id, token=address, at_most=1)
    return TransferHistory(
        from_block=token.transfers_from_block, is_whole=True, held_raw=holdings.held_raw
    )


class _Coverage:
    """Block ranges that the index has covered on one chain, by subject."""

    def __init__(self, reader: Reader, chain: Chain, pin: BlockRef | None) -> None:
        """`pin` None: the block to reach is not known, so nothing counts as covered."""
        if pin is None:
            self._needed = sys.maxsize
        else:
            self._needed = pin.number - chain.blocks_in(_LAG_S)
        self._ranges: dict[str, list[CoverageRow]] = {}
        for row in list_coverage(reader, chain_id=chain.id):
            self._ranges.setdefault(row.subject, []).append(row)

    def has(self, subject: str, *, since: int | None) -> bool:
        """True if all of a subject from that block (None: from the first) to the pin is indexed."""
        return any(
            row.from_block <= (since or 0) and row.to_block >= self._needed
            for row in self._ranges.get(subject, ())
        )
