"""Limits of visitors without a key: pages and analyses per network, and analyses per chain."""

import math
from collections.abc import Awaitable, Callable
from contextlib import ExitStack, suppress

import msgspec
from cachetools import LRUCache

from api.auth.rate_windows import LocalWindows, SharedWindows, Window
from api.auth.shared_analysis_slots import AnalysisSubject, SharedAnalysisSlots
from api.error_answers import LimitedError, SpentBecause
from config.settings import PublicSettings
from core.errors import AssayError

_HOUR_S = 3600
_RUNNING_WAIT_S = 5
"""Wait for the end of a network's running analysis."""

_MOST_NETWORKS = 20_000
_MINUTE_S = 60
_DISPUTES_PER_HOUR = 3
_MINUTE_SHARE = 20
"""Share of an hour's analyses that a chain may run within one minute. More would delay callers with
a key."""


class SpentAnalyses(msgspec.Struct, frozen=True, kw_only=True):
    """Reason why there is no analysis without a key now."""

    because: SpentBecause
    retry_after_s: int | None
    """Seconds until there is one, at least one second. None: waiting does not help."""


class _AnalysisSlot:
    """The one analysis or simulation that a network may have running."""

    def __init__(self, network: str, subject: AnalysisSubject) -> None:
        self.network = network
        self.subject = subject
        self.callers = 0
        """Callers in this process."""


class PublicLimits:
    """Counters of visitors without a key, in the same windows as the calls of keys."""

    def __init__(
        self,
        windows: LocalWindows | SharedWindows,
        settings: PublicSettings,
        is_running: Callable[[str, str], Awaitable[bool]] | None = None,
    ) -> None:
        """`is_running`: finds if a token of a chain, by slug and address, is being analysed. None:
        networks may have several running analyses."""
        self._windows = windows
        self._is_running = is_running
        self._slots = LRUCache[str, _AnalysisSlot](_MOST_NETWORKS)
        """The last one of each network in this process."""
        self._shared = SharedAnalysisSlots(windows) if isinstance(windows, SharedWindows) else None
        """Slots of all processes. None: this one is alone."""
        self._pages = (Window(kind="minute", limit=settings.pages_per_minute, span_s=_MINUTE_S),)
        self._disputes = _hourly(_DISPUTES_PER_HOUR)
        self._of_network = _hourly(settings.analyses_per_hour)
        in_all = settings.analyses_per_hour_and_chain
        at_once = math.ceil(in_all / _MINUTE_SHARE)
        self._of_chain = _hourly(in_all)
        if in_all:
            self._of_chain += (Window(kind="minute", limit=at_once, span_s=_MINUTE_S),)

    async def admit_page(self, network: str) -> None:
        """Count a page of a network. Raises LimitedError, which names the wait."""
        wait_s = await self._count_one(self._pages, _key("pages", network))
        if wait_s is not None:
            raise LimitedError(
                detail=f"Your network requested too many pages. Try again in {wait_s} seconds.",
                headers={"Retry-After": str(wait_s)},
            )

    async def admit_dispute(self, network: str) -> None:
        """Count a dispute of a network, with a key or without. Raises LimitedError, which names the
        wait."""
        wait_s = await self._count_one(self._disputes, _key("disputes", network))
        if wait_s is not None:
            raise LimitedError(
                detail=f"Too many disputes for one network; try again in {wait_s} seconds.",
                headers={"Retry-After": str(wait_s)},
            )

    async def take_analysis(
        self,
        network: str,
        chain: str,
        subject: str,
        *,
        until: ExitStack,
        is_token: bool = True,
    ) -> SpentAnalyses | None:
        """Count an analysis or simulation of a chain for a network, if both have one left.

        A network has one running, over all processes with the same shared windows: of `subject`,
        until the caller closes the stack and, if it is the address of a token, its analysis has
        ended. Returns the reason why there is none; None: it was counted.
        """
        name = subject.lower()
        wanted = AnalysisSubject(chain=chain, name=name, token=name if is_token else None)
        slot = await self._take_slot(network, wanted)
        if slot is None:
            return SpentAnalyses(because="running", retry_after_s=_RUNNING_WAIT_S)
        slot.callers += 1
        until.callback(self._leave, slot)
        if not await self._take_shared(network, wanted):
            return SpentAnalyses(because="running", retry_after_s=_RUNNING_WAIT_S)
        return await self._count(network, chain)

    def _leave(self, slot: _AnalysisSlot) -> None:
        slot.callers -= 1
        if not slot.callers and self._shared is not None:
            self._shared.leave(slot.network, slot.subject)

    async def _take_shared(self, network: str, wanted: AnalysisSubject) -> bool:
        """Take the network's slot among all processes. False: another subject has it."""
        if self._shared is None:
            return True
        taken = await self._shared.take(network, wanted)
        if isinstance(taken, AnalysisSubject):
            if await self._is_analysed(taken):
                return False
            taken = await self._shared.take(network, wanted, over=taken)
        return taken is True

    async def _take_slot(
        self, network: str, wanted_subject: AnalysisSubject
    ) -> _AnalysisSlot | None:
        """Return the network's slot for a subject. None: another subject has it."""
        wanted = _AnalysisSlot(network, wanted_subject)
        while (slot := self._slots.get(network)) is not None:
            if slot.subject == wanted.subject:
                return slot
            if slot.callers or await self._is_analysed(slot.subject):
                return None
            if self._slots.get(network) is slot and not slot.callers:
                break  # no other caller took it during the look
        self._slots[network] = wanted
        return wanted

    async def _is_analysed(self, subject: AnalysisSubject) -> bool:
        """True if the analysis of the subject goes on without a caller."""
        if subject.token is None or self._is_running is None:
            return False
        with suppress(AssayError):
            return await self._is_running(subject.chain, subject.token)
        return False

    async def _count(self, network: str, chain: str) -> SpentAnalyses | None:
        places: tuple[tuple[SpentBecause, tuple[Window, ...], str], ...] = (
            ("network", self._of_network, _key("analyses", network)),
            ("chain", self._of_chain, _key("chain", chain)),
        )
        if not all(windows for _, windows, _ in places):
            return SpentAnalyses(because="closed", retry_after_s=None)
        waits = [(await self._wait_s(windows, key), name) for name, windows, key in places]
        if (longest := _longest(waits)) is not None:
            return longest
        return _longest([(await self._take(windows, key), name) for name, windows, key in places])

    async def _count_one(self, windows: tuple[Window, ...], key: str) -> int | None:
        """Count one, unless there is a wait; return that in seconds. None: it was counted."""
        wait_s = await self._wait_s(windows, key)
        return await self._take(windows, key) if wait_s is None else wait_s

    async def _wait_s(self, windows: tuple[Window, ...], key: str) -> int | None:
        full = await self._windows.full(windows, key)
        return None if full is None else full.retry_after_s

    async def _take(self, windows: tuple[Window, ...], key: str) -> int | None:
        """Count; return the wait if another process has filled a window since the check."""
        full = await self._windows.take(windows, key)
        return None if full is None else full.retry_after_s


def _longest(waits: list[tuple[int | None, SpentBecause]]) -> SpentAnalyses | None:
    known = [(wait_s, name) for wait_s, name in waits if wait_s is not None]
    if not known:
        return None
    wait_s, name = max(known)
    return SpentAnalyses(because=name, retry_after_s=wait_s)


def _hourly(limit: int) -> tuple[Window, ...]:
    """Return the window of one hour; none for a limit of zero."""
    return (Window(kind="hour", limit=limit, span_s=_HOUR_S),) if limit else ()


def _key(what: str, of: str) -> str:
    """Return the key of a window; digests of API keys contain no colon."""
    return f"public:{what}:{of}"
