"""Cache of static analysis results by code hash, without metadata: each code is analysed once.

Lookup order: memory (LRU), running analyses, the database. A service analyses in worker processes:
in a thread an analysis would hold the interpreter lock and delay requests.
"""

import asyncio
import os
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Final, Literal, Protocol

import msgspec
import structlog
from cachetools import LRUCache

from analysis.static.analyse_code import CodeAnalysis, analyse_code, unanalysed
from analysis.static.engine_version import analysis_version
from analysis.static.evm.disassembly import hash_of, strip_metadata
from analysis.static.worker_pool import LONGEST_S, AnalysisLanes
from core.errors import StoreError
from core.evm.primitives import Hash32
from core.process.single_flight import SingleFlight

_LOG = structlog.get_logger(__name__)

_MOST_IN_MEMORY: Final = 512
"""Results; each takes some ten kilobytes."""

_SMALL: Final = 256
"""Bytes. Results of smaller codes are not stored: minimal proxies differ by the address in them,
and analysing one is as fast as a lookup; their logic is in the target's code."""

_WIDEST: Final = 4
"""Most analyses at the same time in one lane."""

LookupResult = Literal["memory", "stored", "analysed"]


class StoredResults(Protocol):
    """Persistent store of results by hash and engine version."""

    async def find_code(self, code_hash: Hash32, version: str) -> str | None:
        """Return the stored JSON. None: nothing is stored."""
        ...

    async def keep_code(self, code_hash: Hash32, version: str, *, size: int, found: str) -> None:
        """Store the JSON, replacing what was stored. `size`: bytes of the code."""
        ...

    async def forget_codes(self, *, but_of_version: str) -> None:
        """Delete the results of all other engine versions."""
        ...


class NoStoredResults:
    """A store without a database: it keeps nothing."""

    async def find_code(self, code_hash: Hash32, version: str) -> str | None:
        """Return None."""

    async def keep_code(self, code_hash: Hash32, version: str, *, size: int, found: str) -> None:
        """Discard the result."""

    async def forget_codes(self, *, but_of_version: str) -> None:
        """Do nothing."""


class StaticResultCache:
    """Cached static analysis. One for all chains: results do not depend on the chain."""

    def __init__(
        self,
        codes: StoredResults | None = None,
        *,
        in_processes: bool = False,
        longest_s: float = LONGEST_S,
        may_fork: bool = False,
    ) -> None:
        """`longest_s`: processor seconds of one analysis in a process. `may_fork`: processes are
        forked from this one while it has a single thread, as a command has at its start."""
        self._codes = NoStoredResults() if codes is None else codes
        width = max(1, min(_WIDEST, (os.cpu_count() or 1) - 1))
        self._lanes = (
            AnalysisLanes(width, longest_s=longest_s, may_fork=may_fork) if in_processes else None
        )
        self._threads = ThreadPoolExecutor(width, thread_name_prefix="examine")
        self._recent = LRUCache[bytes, CodeAnalysis](_MOST_IN_MEMORY)
        self._under_way = SingleFlight[bytes, CodeAnalysis]()
        self.lookups = Counter[LookupResult]()
        """Codes by the place where they were found, since the start."""

    async def analyse(self, code: bytes, *, redecompile: bool = False) -> CodeAnalysis:
        """Return the analysis of the code. `redecompile`: replace cached results.

        A code that takes too long, or kills its workers, yields unknown findings, not an error.
        """
        stripped = strip_metadata(code)
        known = None if redecompile else self._recent.get(stripped)
        if known is not None:
            self.lookups["memory"] += 1
            return known
        return await self._under_way.run(
            stripped, lambda: self._find(stripped, redecompile=redecompile), is_fresh=redecompile
        )

    async def start(self) -> None:
        """Delete results of other engine versions, and start a worker, so that the first request
        need not wait for one."""
        try:
            await self._codes.forget_codes(but_of_version=analysis_version())
        except StoreError as error:
            _LOG.warning("old answers not removed", why=str(error))
        if self._lanes is not None:
            await self._lanes.start()

    def close(self) -> None:
        """Shut the workers down without waiting; pending analyses are cancelled."""
        self._threads.shutdown(wait=False, cancel_futures=True)
        if self._lanes is not None:
            self._lanes.close()

    async def _find(self, stripped: bytes, *, redecompile: bool) -> CodeAnalysis:
        is_kept = len(stripped) > _SMALL
        found = await self._read(hash_of(stripped)) if is_kept and not redecompile else None
        self.lookups["analysed" if found is None else "stored"] += 1
        if found is None:
            found = await self._analyse(stripped) or unanalysed(stripped)
            if is_kept and not found.is_timed_out:
                await self._keep(len(stripped), found)
        self._recent[stripped] = found
        return found

    async def _read(self, code_hash: Hash32) -> CodeAnalysis | None:
        try:
            kept = await self._codes.find_code(code_hash, analysis_version())
            return None if kept is None else msgspec.json.decode(kept, type=CodeAnalysis)
        except (StoreError, msgspec.DecodeError) as error:
            _LOG.warning("code not looked up", code=code_hash, why=str(error))
            return None

    async def _keep(self, size: int, found: CodeAnalysis) -> None:
        text = msgspec.json.encode(found).decode()
        try:
            await self._codes.keep_code(found.code_hash, analysis_version(), size=size, found=text)
        except StoreError as error:
            _LOG.warning("what a code tells not stored", code=found.code_hash, why=str(error))

    async def _analyse(self, stripped: bytes) -> CodeAnalysis | None:
        """Analyse the code in a worker. None: it took too long, or workers died of it."""
        if self._lanes is not None:
            return await self._lanes.analyse(stripped)
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, analyse_code, stripped)
