"""Drops cached answers on tokens whose report another process has changed.

Messages between the processes make it fast. As they can get lost, the change counters in the
database are also compared, twice a second.
"""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from typing import Protocol

import structlog

from core.errors import StoreError
from core.evm.primitives import Address
from sql.fleet.report_change_feed import MOST_AT_ONCE, ReportChange, ReportChanges

_LOOK_EVERY_S = 0.5

_LOG = structlog.get_logger(__name__)


class Forgetful(Protocol):
    """A cache of answers."""

    def forget(self, chain: str, address: str) -> None:
        """Drop the answers on a token. `address` is in lower case."""
        ...

    def forget_all(self) -> None:
        """Drop all answers."""
        ...


class ChangedReports:
    """Drops answers on tokens whose report has changed."""

    def __init__(
        self, changes: ReportChanges, answers: Forgetful, *, chains: Mapping[str, int]
    ) -> None:
        """`chains`: slug to chain id, of the served chains."""
        self._changes = changes
        self._answers = answers
        self._slugs = {chain_id: slug for slug, chain_id in chains.items()}
        self._seen: dict[int, int] | None = None

    def forget(self, chain_id: int, address: Address) -> None:
        """Drop the answers on the token of a message."""
        slug = self._slugs.get(chain_id)
        if slug is not None:
            self._answers.forget(slug, address)

    async def run(self, stop: asyncio.Event) -> None:
        """Compare until the stop.

        While the database does not answer, cached answers are served for as long as in a single
        process.
        """
        is_answering = True
        while not stop.is_set():
            try:
                is_behind = await self._look()
            except StoreError as error:
                if is_answering:
                    _LOG.error("changes of reports cannot be read", why=str(error))
                is_answering = is_behind = False
                self._seen = None  # the database may come back at an earlier state
            else:
                is_answering = True
            if not is_behind:
                with suppress(TimeoutError):
                    await asyncio.wait_for(stop.wait(), _LOOK_EVERY_S)

    async def _look(self) -> bool:
        """Drop changed answers; return True if there may be more."""
        if self._seen is None:
            self._seen = await asyncio.to_thread(self._changes.newest)
            self._answers.forget_all()
            return False
        found = await asyncio.to_thread(self._changes.since, self._seen)
        for change in found:
            self._note(change, self._seen)
        return len(found) == MOST_AT_ONCE

    def _note(self, change: ReportChange, seen: dict[int, int]) -> None:
        seen[change.chain_id] = max(seen[change.chain_id], change.change)
        self.forget(change.chain_id, change.address)
