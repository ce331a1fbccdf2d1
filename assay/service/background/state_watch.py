"""Comparison of watched tokens' state with their reports, at new blocks of one chain.

A change needs no event and no call of the token to be seen here: whatever wrote a storage word that
the report depends on, moved what a pool holds, or let a deadline pass.
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
from config.chains import Chain
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
"""Reports whose blocks are read at the same time, when there are new ones."""
_WORD: Final = 32
_EVER: Final = 2**62
_MOST_OBSERVED: Final = 1_000
"""Observations since a report that are looked through: a report follows long before."""

_Differences = Iterable[tuple[ObservationKind, str, str | None]]


class _Held(msgspec.Struct):
    """One watched token in memory."""

    scanned_at_s: int
    basis: Basis
    """By the report alone."""
    now: Basis
    """After what was observed."""


class StateTotals(msgspec.Struct):
    """What the comparison has done, for metrics."""

    looks: int = 0
    words_read: int = 0
    unanswered: int = 0
    """Reads that no node answered."""
    observations: Counter[str] = msgspec.field(default_factory=Counter)
    """By kind."""


class StateWatch:
    """Compares the watched tokens of one chain. Not for concurrent use."""

    def __init__(
        self, chain: Chain, node: Node, store: Store, *, pace: ObservationPace, most_words: int
    ) -> None:
        """`most_words`: read in one look; where there are more, tokens take turns. 0: none."""
        self._chain = chain
        self._node = node
        self._store = store
        self._pace = pace
        self._most_words = most_words
        self._revision: int | None = None
        self._held: dict[int, _Held] = {}
        self._asked: set[int] = set()
        self._turn = 0
        self._last: BlockRef | None = None
        self.totals = StateTotals()

    async def look(self, block: BlockRef) -> None:
        """Compare at this block, which the follower has stored. Errors are logged: the next look
        compares with the same."""
        try:
            await self._look(block)
        except (UpstreamError, StoreError) as error:
            _LOG.info("watched state not compared", chain=self._chain.slug, why=str(error))

    async def _look(self, block: BlockRef) -> None:
        await self._refresh()
        if self._last is not None and block.parent_hash != self._last.hash:
            # Blocks were left out, or taken back: what was observed in them may be, too.
            await asyncio.to_thread(self._recall)
        pace, self._last = self._pace.between(self._last, block), block
        if not self._held:
            return
        chosen = self._choose()
        reads = [(held, each) for held in chosen for each in held.now.compared]
        answers = await fetch_bulk(self._node, [each.read for _, each in reads], block=block.hash)
        self.totals.looks += 1
        self.totals.words_read += sum(len(answer or b"") // _WORD for answer in answers)
        self.totals.unanswered += sum(answer is None for answer in answers)
        seen: list[Observation] = []
        compared: dict[int, list[Compared]] = {}
        for (held, each), answer in zip(reads, answers, strict=True):
            told = each.words if answer is None else answer
            seen += self._observations(block, held.now.token_id, differences(each, told))
            compared.setdefault(held.now.token_id, []).append(moved_to(each, told))
        for held in self._held.values():
            seen += self._observations(block, held.now.token_id, _come(held, block))
        if seen and not await asyncio.to_thread(self._write, block, seen, pace):
            return  # the block is gone: the next look compares with what was before
        self._advance(compared, block)

    def _advance(self, compared: dict[int, list[Compared]], block: BlockRef) -> None:
        for token_id, held in self._held.items():
            passed = {name for _, name, _ in _come(held, block)}
            if token_id in compared or passed:
                held.now = msgspec.structs.replace(
                    held.now,
                    compared=tuple(compared.get(token_id, held.now.compared)),
                    deadlines=tuple(
                        one for one in held.now.deadlines if name_of(one) not in passed
                    ),
                )

    def _choose(self) -> list[_Held]:
        """Return the tokens whose turn it is."""
        everyone = list(self._held.values())
        start = self._turn % len(everyone)
        chosen: list[_Held] = []
        words = 0
        for held in (*everyone[start:], *everyone[:start]):
            words += sum(_size(each) for each in held.now.compared)
            if words > self._most_words and (chosen or not self._most_words):
                break
            chosen.append(held)
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
        """Write what was seen, if the block is still ours. False: it is not."""
        with self._store.transaction() as tx:
            if not has_block(tx, chain_id=self._chain.id, block=block):
                return False
            write_observations(tx, seen, pace=pace, now_s=time.time())
        self.totals.observations.update(one.kind for one in seen)
        return True

    # --- what is compared with --------------------------------------------------------------------

    async def _refresh(self) -> None:
        """Take up which tokens are watched, and their newest reports, if either has changed."""
        revision = await asyncio.to_thread(read_revision, self._store)
        if revision == self._revision:
            return
        tokens = await asyncio.to_thread(list_watched_tokens, self._store, chain_id=self._chain.id)
        await asyncio.to_thread(self._ask_for_reports, tokens)
        held = {}
        missing: list[WatchedToken] = []
        for token in tokens:
            old = self._held.get(token.token_id)
            if token.is_settled and not _is_of(old, token):
                missing.append(token)
            elif old is not None:  # of the same report, or of the last one that had all its parts
                held[token.token_id] = old
        for start in range(0, len(missing), _READ_AT_ONCE):
            some = missing[start : start + _READ_AT_ONCE]
            found = await asyncio.gather(*(self._load(token) for token in some))
            held.update((each.basis.token_id, each) for each in found if each is not None)
        self._held = dict(sorted(held.items()))
        self._revision = revision

    def _recall(self) -> None:
        """Compare with the reports and what is stored as observed since."""
        for held in self._held.values():
            held.now = after_observations(held.basis, self._observed(held.basis))

    def _observed(self, basis: Basis) -> list[StoredObservation]:
        return list_causes(
            self._store,
            basis.token_id,
            above=basis.report_block,
            up_to=_EVER,
            at_most=_MOST_OBSERVED,
        )

    def _ask_for_reports(self, tokens: Sequence[WatchedToken]) -> None:
        """Make due what has no report to compare with."""
        self._ask({one.token_id for one in tokens if not one.is_settled})

    def _ask(self, token_ids: Set[int]) -> None:
        """Make tokens due, once each."""
        new = token_ids - self._asked
        if new:
            with self._store.transaction() as tx:
                for token_id in new:
                    make_due(tx, token_id, due_s=int(time.time()))
            self._asked |= new

    async def _load(self, token: WatchedToken) -> _Held | None:
        report = await asyncio.to_thread(
            read_report, self._store, chain_id=self._chain.id, address=token.address
        )
        if report is None or token.scanned_at_s is None:
            return None
        reserves = await self._reserves_at(token, report)
        if report.state is None or len(reserves) < len(pool_reads(report, self._chain)):
            # By an earlier release, or the node has forgotten its block: there is too little to
            # compare with.
            await asyncio.to_thread(self._ask, {token.token_id})
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
        return _Held(
            scanned_at_s=token.scanned_at_s,
            basis=basis,
            now=after_observations(basis, observed),
        )

    async def _reserves_at(self, token: WatchedToken, report: Report) -> tuple[Reserve, ...]:
        """Return what the pools held at the report's block, which is read once and then stored. A
        pool that the node does not tell of any more is left out."""
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


def _is_of(held: _Held | None, token: WatchedToken) -> bool:
    """True if what is held is by the token's report as it is stored."""
    if held is None:
        return False
    known = held.scanned_at_s, held.basis.report_block
    return known == (token.scanned_at_s, token.report_block)


def _come(held: _Held, block: BlockRef) -> Iterator[tuple[ObservationKind, str, str | None]]:
    """Yield the deadlines that have come, as observations are told."""
    for one in held.now.deadlines:
        if has_come(one, block):
            yield "deadline", name_of(one), None


def _size(each: Compared) -> int:
    return len(each.words) // _WORD
