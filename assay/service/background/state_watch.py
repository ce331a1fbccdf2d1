"""Comparison of watched tokens' state with their reports, at new blocks of one chain.

A change is seen without an event or a call of the token: any write to a storage word that the
report depends on, any move of a pool's reserve, and any deadline that passes.
"""

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence, Set
from typing import Final

import msgspec
import structlog

from analysis.reads.bulk_words import fetch_bulk
from analysis.reads.node import Node
from assay.service.background.state_basis import (
    Basis,
    Compared,
    after_observations,
    compared_pools,
    deadlines_of,
    differences,
    has_come,
    moved_to,
    name_of,
    pool_reads,
    words_of,
)
from config.facts.chain import Chain
from core.errors import StoreError, UpstreamError
from core.evm.primitives import BlockRef, Hash32
from core.report.notifications import ObservationKind
from core.report.report import Report
from sql.engine.store import Store
from sql.reports.report_tables import read_report
from sql.tokens.observations import (
    Observation,
    ObservationPace,
    StoredObservation,
    has_block,
    list_causes,
    make_due,
    write_observations,
)
from sql.tokens.watched_tokens import (
    Reserve,
    WatchedToken,
    list_watched_tokens,
    read_reserves,
    read_revision,
    write_reserves,
)

_LOG = structlog.get_logger(__name__)

_READ_AT_ONCE: Final = 64
"""Most reports loaded concurrently, when there are new ones."""
_WORD: Final = 32
_EVER: Final = 2**62
_MOST_OBSERVED: Final = 1_000
"""Most observations read since a report: the next report follows long before."""

_Differences = Iterable[tuple[ObservationKind, str, str | None]]


class _Watched(msgspec.Struct):
    """One watched token in memory."""

    scanned_at_s: int
    basis: Basis
    """From the report alone."""
    now: Basis
    """With later observations applied."""


class StateTotals(msgspec.Struct):
    """Counts of the comparison, for metrics."""

    looks: int = 0
    words_read: int = 0
    unanswered: int = 0
    """Reads that no node answered."""
    observations: Counter[str] = msgspec.field(default_factory=Counter)
    """Counts by kind."""


class StateWatch:
    """Compares the watched tokens of one chain. Not for concurrent use."""

    def __init__(
        self, chain: Chain, node: Node, store: Store, *, pace: ObservationPace, most_words: int
    ) -> None:
        """`most_words`: read at one block; tokens alternate if there are more. 0: none."""
        self._chain = chain
        self._node = node
        self._store = store
        self._pace = pace
        self._most_words = most_words
        self._revision: int | None = None
        self._watched: dict[int, _Watched] = {}
        self._requested: set[int] = set()
        self._turn = 0
        self._last: BlockRef | None = None
        self.totals = StateTotals()

    async def look(self, block: BlockRef) -> None:
        """Compare at this block, which the follower has stored. Errors are logged; the next call
        compares with the same baseline."""
        try:
            await self._look(block)
        except (UpstreamError, StoreError) as error:
            _LOG.info("watched state not compared", chain=self._chain.slug, why=str(error))

    async def _look(self, block: BlockRef) -> None:
        await self._refresh()
        if self._last is not None and block.parent_hash != self._last.hash:
            # Blocks were skipped or reverted, and their observations perhaps as well.
            await asyncio.to_thread(self._recall)
        pace, self._last = self._pace.between(self._last, block), block
        if not self._watched:
            return
        chosen = self._choose()
        reads = [(watched, each) for watched in chosen for each in watched.now.compared]
        answers = await fetch_bulk(self._node, [each.read for _, each in reads], block=block.hash)
        self.totals.looks += 1
        self.totals.words_read += sum(len(answer or b"") // _WORD for answer in answers)
        self.totals.unanswered += sum(answer is None for answer in answers)
        seen: list[Observation] = []
        compared: dict[int, list[Compared]] = {}
        for (watched, each), answer in zip(reads, answers, strict=True):
            words = each.words if answer is None else answer
            seen += self._observations(block, watched.now.token_id, differences(each, words))
            compared.setdefault(watched.now.token_id, []).append(moved_to(each, words))
        for watched in self._watched.values():
            seen += self._observations(block, watched.now.token_id, _come(watched, block))
        if seen and not await asyncio.to_thread(self._write, block, seen, pace):
            return  # the block was reverted: the next call compares with the same baseline
        self._advance(compared, block)

    def _advance(self, compared: dict[int, list[Compared]], block: BlockRef) -> None:
        for token_id, watched in self._watched.items():
            passed = {name for _, name, _ in _come(watched, block)}
            if token_id in compared or passed:
                watched.now = msgspec.structs.replace(
                    watched.now,
                    compared=tuple(compared.get(token_id, watched.now.compared)),
                    deadlines=tuple(
                        one for one in watched.now.deadlines if name_of(one) not in passed
                    ),
                )

    def _choose(self) -> list[_Watched]:
        """Choose the tokens to compare at this block."""
        everyone = list(self._watched.values())
        start = self._turn % len(everyone)
        chosen: list[_Watched] = []
        words = 0
        for watched in (*everyone[start:], *everyone[:start]):
            words += sum(_size(each) for each in watched.now.compared)
            if words > self._most_words and (chosen or not self._most_words):
                break
            chosen.append(watched)
        self._turn = start + len(chosen)
        return chosen

    def _observations(
        self, block: BlockRef, token_id: int, found: _Differences
    ) -> list[Observation]:
        return [
            Observation(
                chain_id=self._chain.id,
                block_number=block.number,
                block_time_s=block.time_s,
                token_id=token_id,
                kind=kind,
                what=what,
                detail=detail,
            )
            for kind, what, detail in found
        ]

    def _write(self, block: BlockRef, seen: Sequence[Observation], pace: ObservationPace) -> bool:
        """Write observations if the block is still stored. False: it is not."""
        with self._store.transaction() as tx:
            if not has_block(tx, chain_id=self._chain.id, block=block):
                return False
            write_observations(tx, seen, pace=pace, now_s=time.time())
        self.totals.observations.update(one.kind for one in seen)
        return True

    async def _refresh(self) -> None:
        """Reload the watched tokens and their newest reports, if either has changed."""
        revision = await asyncio.to_thread(read_revision, self._store)
        if revision == self._revision:
            return
        tokens = await asyncio.to_thread(list_watched_tokens, self._store, chain_id=self._chain.id)
        await asyncio.to_thread(self._request_reports, tokens)
        watched: dict[int, _Watched] = {}
        missing: list[WatchedToken] = []
        for token in tokens:
            old = self._watched.get(token.token_id)
            if token.is_settled and not _is_of(old, token):
                missing.append(token)
            elif old is not None:  # of the same report, or of the last settled one
                watched[token.token_id] = old
        for start in range(0, len(missing), _READ_AT_ONCE):
            some = missing[start : start + _READ_AT_ONCE]
            found = await asyncio.gather(*(self._load(token) for token in some))
            watched.update((each.basis.token_id, each) for each in found if each is not None)
        self._watched = dict(sorted(watched.items()))
        self._revision = revision

    def _recall(self) -> None:
        """Reset the baselines to the reports and the stored observations since."""
        for watched in self._watched.values():
            watched.now = after_observations(watched.basis, self._observed(watched.basis))

    def _observed(self, basis: Basis) -> list[StoredObservation]:
        return list_causes(
            self._store,
            basis.token_id,
            above=basis.report_block,
            up_to=_EVER,
            at_most=_MOST_OBSERVED,
        )

    def _request_reports(self, tokens: Sequence[WatchedToken]) -> None:
        """Make tokens without a settled report due."""
        self._request({one.token_id for one in tokens if not one.is_settled})

    def _request(self, token_ids: Set[int]) -> None:
        """Make tokens due, once each."""
        new = token_ids - self._requested
        if new:
            with self._store.transaction() as tx:
                for token_id in new:
                    make_due(tx, token_id, due_s=int(time.time()))
            self._requested |= new

    async def _load(self, token: WatchedToken) -> _Watched | None:
        report = await asyncio.to_thread(
            read_report, self._store, chain_id=self._chain.id, address=token.address
        )
        if report is None or token.scanned_at_s is None:
            return None
        reserves = await self._reserves_at(token, report)
        if report.state is None or len(reserves) < len(pool_reads(report, self._chain)):
            # An earlier release wrote it, or the node has pruned its block: the baseline is
            # incomplete.
            await asyncio.to_thread(self._request, {token.token_id})
        basis = Basis(
            token_id=token.token_id,
            report_block=report.token.block_number,
            compared=(
                *words_of(report.state or ()),
                *compared_pools(report, self._chain, reserves),
            ),
            deadlines=deadlines_of(report, self._chain),
        )
        observed = await asyncio.to_thread(self._observed, basis)
        return _Watched(
            scanned_at_s=token.scanned_at_s,
            basis=basis,
            now=after_observations(basis, observed),
        )

    async def _reserves_at(self, token: WatchedToken, report: Report) -> tuple[Reserve, ...]:
        """Return the pools' reserves at the report's block, which are read once and then stored. A
        pool whose state the node has pruned is left out."""
        number = report.token.block_number
        stored = await asyncio.to_thread(
            read_reserves, self._store, token.token_id, report_block=number
        )
        if stored is not None:
            return stored
        wanted = pool_reads(report, self._chain)
        answers = await fetch_bulk(
            self._node, [read for _, read in wanted], block=report.token.block_hash
        )
        reserves = tuple(
            msgspec.structs.replace(reserve, word=Hash32("0x" + answer.hex()))
            for (reserve, _), answer in zip(wanted, answers, strict=True)
            if answer is not None
        )
        await asyncio.to_thread(self._keep_reserves, token.token_id, number, reserves)
        return reserves

    def _keep_reserves(self, token_id: int, number: int, reserves: Sequence[Reserve]) -> None:
        with self._store.transaction() as tx:
            write_reserves(tx, token_id, report_block=number, reserves=reserves)


def _is_of(watched: _Watched | None, token: WatchedToken) -> bool:
    """True if the token in memory is from its stored report."""
    if watched is None:
        return False
    known = watched.scanned_at_s, watched.basis.report_block
    return known == (token.scanned_at_s, token.report_block)


def _come(watched: _Watched, block: BlockRef) -> Iterator[tuple[ObservationKind, str, str | None]]:
    """Yield the deadlines that have passed, as observations."""
    for one in watched.now.deadlines:
        if has_come(one, block):
            yield "deadline", name_of(one), None


def _size(each: Compared) -> int:
    return len(each.words) // _WORD
