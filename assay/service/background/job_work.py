"""Work of one run of a job: selects and analyses its tokens, or exports views."""

import asyncio
import threading
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

from assay.service.background.round_share import RoundShare
from config.facts.chain import Chain
from config.facts.chain_names import index_by_name
from config.job_definition import JobDefinition, JobToken, parse_tokens, tokens_of_rows
from config.settings import JobSettings, SqlSettings
from core.errors import AssayError, TokenRefusedError
from sql.analyst.bounds import Bounds
from sql.analyst.export_runner import run_export
from sql.analyst.query_runner import run_sql
from sql.engine.store import Store
from sql.jobs.job_runs import (
    JobRun,
    TokenOutcome,
    count_tokens,
    list_tokens,
    read_token_times,
    write_tokens,
)
from sql.tokens.token_lookups import look_up_again

_AT_ONCE = 4
"""Most concurrent tokens of one run and chain."""

_BYTES_A_TOKEN = 200
"""Size of one row of a selection, with a few columns besides the two that are read."""


class JobPlace(msgspec.Struct, frozen=True, kw_only=True):
    """Store, analyses and settings that jobs use."""

    store: Store
    share: RoundShare
    """Queue of tokens to analyse."""
    chains: tuple[Chain, ...]
    """Every supported chain."""
    served: Mapping[str, int]
    """Chain ids of the chains that this process analyses, by slug."""
    jobs: JobSettings
    sql: SqlSettings
    now_s: Callable[[], float]


class JobWork:
    """Work of one run. Each step can be cancelled, and resumes when it is called again."""

    def __init__(self, place: JobPlace, job: JobDefinition, run: JobRun) -> None:
        self._place = place
        self._job = job
        self._run = run
        self._is_cancelled = threading.Event()
        """Cancels the work in threads."""

    async def do(self) -> int:
        """Do all that is left of the run; return the rows that were exported.

        Raises QueryError and JobInvalidError for a selection that gives no tokens, StoreError.
        """
        try:
            if self._job.action == "export":
                return await asyncio.to_thread(self._export)
            if not self._run.is_selected:
                await asyncio.to_thread(self._select)
            async with asyncio.TaskGroup() as group:
                for slug, chain_id in self._place.served.items():
                    group.create_task(self._analyse_chain(slug, chain_id))
        except BaseExceptionGroup as group_error:
            # The error of one chain is enough: the store cannot be written for the others either.
            raise group_error.exceptions[0] from group_error
        finally:
            self._is_cancelled.set()
        return 0

    def _export(self) -> int:
        place = self._place
        target = Path(place.jobs.export_folder) / (self._job.folder or "")
        rows = run_export(
            place.store.address,
            target,
            self._job.views,
            is_stopped=self._is_cancelled.is_set,
        )
        return sum((rows or {}).values())

    def _select(self) -> None:
        """Select the tokens and store them, so that an interrupted run resumes with them."""
        chosen = self._find_tokens()
        served = set(self._place.served.values())
        here = [token for token in dict.fromkeys(chosen) if token.chain_id in served]
        elsewhere = len(dict.fromkeys(chosen)) - len(here)
        error = f"{elsewhere} tokens are of chains that are not served here" if elsewhere else None
        if not self._is_cancelled.is_set():
            write_tokens(self._place.store, self._run.run_id, here, failed=elsewhere, error=error)

    def _find_tokens(self) -> list[JobToken]:
        place = self._place
        chains = index_by_name(place.chains)
        if self._job.sql is None:
            return parse_tokens(self._job.tokens, chains)
        bounds = Bounds(
            max_rows=place.jobs.max_tokens,
            cuts_rows=False,
            time_limit_s=place.sql.time_limit_s,
            memory_mb=place.sql.memory_mb,
            max_bytes=_BYTES_A_TOKEN * (place.jobs.max_tokens + 1),
        )
        found = run_sql(
            place.store.address,
            self._job.sql,
            bounds,
            is_stopped=self._is_cancelled.is_set,
        )
        return tokens_of_rows(found.columns, found.rows, chains)

    async def _analyse_chain(self, slug: str, chain_id: int) -> None:
        store, run_id = self._place.store, self._run.run_id
        while True:
            tokens = await asyncio.to_thread(
                list_tokens, store, run_id, chain_id=chain_id, at_most=_AT_ONCE
            )
            if not tokens:
                return
            ends = await asyncio.gather(*(self._analyse(slug, token) for token in tokens))
            errors = [str(error) for _, error in ends if error is not None]
            await asyncio.to_thread(
                count_tokens,
                store,
                run_id,
                [(token, outcome) for token, (outcome, _) in zip(tokens, ends, strict=True)],
                error=errors[-1] if errors else None,
            )

    async def _analyse(self, slug: str, token: JobToken) -> tuple[TokenOutcome, Exception | None]:
        """Analyse one token if needed; return the outcome and the error."""
        known = await asyncio.to_thread(self._known_outcome, token)
        if known is not None:
            return known, None
        try:
            is_anew = self._job.action == "verify"
            await self._place.share.analyse(slug, token.address, is_anew=is_anew)
        except TokenRefusedError:
            return "refused", None
        except AssayError as error:
            return "failed", error
        except Exception as error:  # noqa: BLE001 - an internal error, which the analyser logs
            return "failed", error
        if is_anew:
            await asyncio.to_thread(
                look_up_again,
                self._place.store,
                chain_id=token.chain_id,
                address=token.address,
                now_s=self._place.now_s(),
            )
        return "done", None

    def _known_outcome(self, token: JobToken) -> TokenOutcome | None:
        """Return the outcome of a token that need not be analysed. None: it has to be.

        What was analysed since the run began counts as done by it: a process may have ended between
        an analysis and its count.
        """
        if self._job.action == "verify":
            return None
        times = read_token_times(self._place.store, chain_id=token.chain_id, address=token.address)
        began_at_s = self._run.started_at_s
        if times.refused_at_s is not None and times.refused_at_s >= began_at_s:
            return "refused"
        if times.scanned_at_s is None or not times.is_settled:
            return None
        if times.scanned_at_s >= began_at_s:
            return "done"
        age_s = self._place.now_s() - times.scanned_at_s
        return "young" if age_s < self._job.younger_than_s else None
