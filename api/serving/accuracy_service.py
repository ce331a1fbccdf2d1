"""Accuracy of predictions and outcomes of tokens, read from the store once a minute at most."""

import asyncio
from collections.abc import Sequence

import structlog
from async_lru import alru_cache

from api.deps import ApiDeps
from api.formats.accuracy_format import (
    DAYS,
    AccuracyAnswer,
    ChainAccuracy,
    GroupKey,
    group_counts,
    list_cases,
    list_disputes,
    list_outcomes,
)
from core.errors import StoreError
from core.report.finding_outcomes import KnownOutcomes
from sql.engine.store import Store
from sql.reports.accuracy_counts import DAY_S, sum_counts
from sql.reports.disagreement_tables import list_newest_disagreements
from sql.reports.dispute_tables import MOST_DISPUTES_SHOWN, list_newest_disputes
from sql.reports.outcome_counts import list_known_outcomes, read_known_outcomes

_KEPT_S = 60.0
_MOST_CASES = 50
_MOST_OUTCOMES = 50
_log = structlog.get_logger(__name__)


class OutcomeService:
    """Outcomes of tokens by their findings, in memory."""

    def __init__(self, deps: ApiDeps) -> None:
        self._deps = deps
        self._chain_ids = {chain.slug: chain.id for chain in deps.chains}
        self._read = alru_cache(maxsize=len(self._chain_ids) or 1, ttl=_KEPT_S)(self._read_now)

    async def known(self, chain: str) -> KnownOutcomes:
        """Return the outcomes of a chain, by slug. Empty: none are known, or the store fails, as
        they are an addition to an answer."""
        return await self._read(chain)

    async def _read_now(self, chain: str) -> KnownOutcomes:
        if self._deps.store is None:
            return {}
        try:
            return await asyncio.to_thread(
                read_known_outcomes, self._deps.store, chain_id=self._chain_ids[chain]
            )
        except StoreError as error:
            _log.warning("outcomes_not_read", chain=chain, reason=str(error))
            return {}


class AccuracyService:
    """Accuracy of the served chains."""

    def __init__(self, deps: ApiDeps, store: Store) -> None:
        self._deps = deps
        self._store = store
        self._read = alru_cache(maxsize=len(DAYS), ttl=_KEPT_S)(self._read_now)

    async def answer(
        self, *, days: int, by: Sequence[GroupKey], chain: str | None
    ) -> AccuracyAnswer:
        """Return the grouped counts of a number of days, one of DAYS.

        `chain`: slug of the only one; None: all. Raises StoreError.
        """
        known = [one for one in await self._read(days) if chain in (None, one.chain)]
        return AccuracyAnswer(
            days=days,
            groups=group_counts(known, by=by),
            disagreements=list_cases(known, at_most=_MOST_CASES),
            outcomes=list_outcomes(known, at_most=_MOST_OUTCOMES),
            disputes=list_disputes(known, at_most=MOST_DISPUTES_SHOWN),
        )

    async def _read_now(self, days: int) -> list[ChainAccuracy]:
        return await asyncio.to_thread(self._read_chains, days)

    def _read_chains(self, days: int) -> list[ChainAccuracy]:
        from_s = int(self._deps.now_s()) - (days - 1) * DAY_S
        return [
            ChainAccuracy(
                chain=chain.slug,
                sums=sum_counts(self._store, chain_id=chain.id, from_s=from_s),
                newest=list_newest_disagreements(
                    self._store, chain_id=chain.id, at_most=_MOST_CASES, is_counted=True
                ),
                outcomes=list_known_outcomes(self._store, chain_id=chain.id)[:_MOST_OUTCOMES],
                disputes=list_newest_disputes(
                    self._store, chain_id=chain.id, at_most=MOST_DISPUTES_SHOWN
                ),
            )
            for chain in self._deps.chains
            if chain.slug in self._deps.served
        ]
