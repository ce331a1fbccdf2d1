"""Snapshot for the page of a token: a new one if it is quick and allowed, else the stored one.

A node that does not answer thus delays no page with a stored report.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Literal

import msgspec

from api.error_answers import RefusalError
from api.formats.token_snapshot import TokenSnapshot
from api.serving.answers import Answers
from core.errors import AssayError, TokenRefusedError

PATIENCE_S = 1.0
"""Seconds for which a page waits for a new analysis where an older one is stored."""

OldBecause = Literal["running", "failed", "limited"]
"""Reason why a page shows an older report. running: a new analysis is running. failed: it failed,
without a fault of the token. limited: the reader may not have one now."""


class ShownSnapshot(msgspec.Struct, frozen=True, kw_only=True):
    """The snapshot to show."""

    snapshot: TokenSnapshot
    old_because: OldBecause | None = None
    """None: it is as new as a request with a key would get."""


async def find_shown(
    answers: Answers, *, chain: str, address: str, admit_analysis: Callable[[], Awaitable[None]]
) -> ShownSnapshot:
    """Return the snapshot to show; `admit_analysis` is called before an analysis starts.

    Its RefusalError is raised only where nothing is stored. Raises TokenRefusedError for an address
    that is no token, and the errors of `Answers.snapshot` where nothing is stored.
    """
    known = await answers.recall(chain=chain, address=address)
    stored = known.snapshot
    if known.costs_analysis:
        try:
            await admit_analysis()
        except RefusalError:
            if stored is None:
                raise
            return ShownSnapshot(snapshot=stored, old_because="limited")
    newest = answers.snapshot(chain=chain, address=address)
    if stored is None:
        return ShownSnapshot(snapshot=await newest)
    try:
        return ShownSnapshot(snapshot=await asyncio.wait_for(newest, PATIENCE_S))
    except TimeoutError:
        return ShownSnapshot(snapshot=stored, old_because="running")
    except TokenRefusedError:
        raise
    except AssayError:
        return ShownSnapshot(snapshot=stored, old_because="failed")
