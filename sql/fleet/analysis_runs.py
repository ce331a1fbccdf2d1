"""Analysis runs of a fleet: the requested tokens, and the process that analyses each.

One process at a time analyses a token, and renews its run each second. When it falls silent,
another process serves the requests and waiting callers of the token.
"""

from collections.abc import Collection, Sequence
from typing import Literal

import msgspec
from psycopg.raw_cursor import RawCursor

from core.errors import StoreError
from core.evm.primitives import Address
from sql.engine.columns import blob
from sql.engine.postgres.connection_limits import PostgresConnection
from sql.engine.postgres.single_statements import FLEET_QUERIES, SingleStatements
from sql.engine.postgres.statement_text import load_numbered
from sql.engine.postgres.write_guard import WriteGuard

LEASE_S = 4.0
"""Seconds after which a process without renewals loses its runs."""

MOST_DEATHS = 3
"""Processes that may end one after the other while analysing the same token."""

MOST_WAITING = 1_000
"""Waiting tokens; beyond it a new one is rejected instead of queued."""

SETTLED_KEPT_S = 3_600.0
FAILED_KEPT_S = 7 * 86_400.0
"""Seconds for which the end of a token's last run is kept."""

TokenRunOutcome = Literal["settled", "refused", "node_failed", "failed"]
"""settled: a report. refused: not admitted as a token. node_failed: a node did not respond in time.
failed: an internal error."""


class TokenRun(msgspec.Struct, frozen=True, kw_only=True):
    """Lease of one process on the analysis of a token."""

    chain_id: int
    address: Address
    run: int
    is_anew: bool
    """True: it uses no stored results of the static analysis."""
    is_awaited: bool
    """True: a process of the fleet waits for it."""
    is_taken_over: bool
    """True: the previous process was lost while analysing the token."""


class TokenRunEnd(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of an ended run."""

    outcome: TokenRunOutcome
    code: str | None = None
    """Code of a refusal."""
    service: str | None = None
    """Service that did not respond."""
    reason: str | None = None
    """None: there is a report."""


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """State of a token's runs."""

    chain_id: int
    address: Address
    run: int
    """Number of the current or last run. 0: there was none yet."""
    is_anew: bool
    is_running: bool
    """True: a process analyses the token."""
    is_wanted: bool
    """True: a report is requested that the current run does not provide."""
    ended_run: int
    """Number of the last ended run. 0: none has ended."""
    ended_anew: bool
    outcome: TokenRunOutcome | None
    code: str | None
    service: str | None
    reason: str | None
    ended_s: float | None = None
    """Seconds since its end. None: none has ended."""


class RunCounts(msgspec.Struct, frozen=True, kw_only=True):
    """Current load of the whole fleet on one chain."""

    chain_id: int
    waiting: int
    """Requested tokens that no process analyses."""
    longest_wait_s: float
    """Longest wait of these. 0: there is none."""
    running: int
    """Tokens that are being analysed."""


class RequestedRun(msgspec.Struct, frozen=True, kw_only=True):
    """A requested report: it is ready when a run with this or a higher number ends."""

    chain_id: int
    address: Address
    from_run: int
    is_anew: bool = False

    def is_answered_by(self, state: RunState) -> bool:
        """True if the token's last ended run provides the report."""
        return state.ended_run >= self.from_run and (state.ended_anew or not self.is_anew)


class _FromRun(msgspec.Struct, frozen=True, kw_only=True):
    from_run: int


class _Number(msgspec.Struct, frozen=True, kw_only=True):
    run: int


class _Given(msgspec.Struct, frozen=True, kw_only=True):
    chain_id: int
    address: Address
    run: int


class _Pending(msgspec.Struct, frozen=True, kw_only=True):
    pending: bytes


class AnalysisRuns:
    """Access of one process to the runs of its fleet. Thread-safe; all calls block and raise
    StoreError."""

    def __init__(self, statements: SingleStatements, *, holder: str) -> None:
        """Act as `holder`, a name that no other process ever has."""
        self._statements = statements
        self.holder = holder

    def ask(self, chain_id: int, address: Address, *, is_anew: bool) -> RequestedRun | None:
        """Request a report; a current run serves if it may. None: too many are waiting."""
        found = self._statements.run(
            "runs/ask_run",
            _FromRun,
            chain_id=chain_id,
            address=blob(address),
            want=2 if is_anew else 1,
            at_most=MOST_WAITING,
        )
        return next(
            (
                RequestedRun(
                    chain_id=chain_id, address=address, from_run=one.from_run, is_anew=is_anew
                )
                for one in found
            ),
            None,
        )

    def take_asked(self, chain_id: int, *, at_most: int, older_s: float = 0.0) -> list[TokenRun]:
        """Begin runs of the longest waiting tokens that no process analyses."""
        return self._statements.run(
            "runs/take_asked",
            TokenRun,
            chain_id=chain_id,
            holder=self.holder,
            lease_s=LEASE_S,
            older_s=older_s,
            at_most=at_most,
        )

    def begin(self, chain_id: int, address: Address, *, is_anew: bool) -> TokenRun | None:
        """Begin a run, requested or not. None: another process analyses the token."""
        found = self._statements.run(
            "runs/begin_run",
            TokenRun,
            chain_id=chain_id,
            address=blob(address),
            holder=self.holder,
            lease_s=LEASE_S,
            is_anew=is_anew,
        )
        return found[0] if found else None

    def renew(self, runs: Collection[TokenRun]) -> list[TokenRun]:
        """Renew runs of this process; return those that it still has.

        Only the named ones: a run whose start got no response expires by itself.
        """
        return self._statements.run(
            "runs/renew_runs",
            TokenRun,
            holder=self.holder,
            runs=[one.run for one in runs],
            lease_s=LEASE_S,
        )

    def show_pending(self, run: TokenRun, pending: bytes) -> None:
        """Publish the partial report for waiting callers, unless the run was lost."""
        self._statements.run("runs/show_pending", _Number, **self._key(run), pending=pending)

    def end(self, run: TokenRun, end: TokenRunEnd) -> bool:
        """Record the end of a run. False: another process had taken it over."""
        return bool(
            self._statements.run(
                "runs/end_run",
                _Number,
                **self._key(run),
                outcome=end.outcome,
                code=end.code,
                service=end.service,
                reason=end.reason,
            )
        )

    def give_back(self) -> None:
        """Release the runs of this process when it ends."""
        self._statements.run("runs/give_back", _Number, holder=self.holder)

    def give_up(self) -> list[tuple[int, Address]]:
        """End the runs that lost too many processes; return their chains and tokens."""
        found = self._statements.run("runs/give_up", _Given, at_most=MOST_DEATHS)
        return [(one.chain_id, one.address) for one in found]

    def states_of(self, tokens: Sequence[tuple[int, Address]]) -> list[RunState]:
        """Return the states of tokens' runs, by chain and address; none without a recent run."""
        return self._statements.run(
            "runs/list_states",
            RunState,
            chain_ids=[chain_id for chain_id, _ in tokens],
            addresses=[blob(address) for _, address in tokens],
        )

    def count(self, chain_ids: Collection[int]) -> list[RunCounts]:
        """Return the load on each of the chains."""
        return self._statements.run("runs/count_runs", RunCounts, chain_ids=list(chain_ids))

    def pending_of(self, requested: RequestedRun) -> bytes | None:
        """Return the published partial report. None: there is none."""
        found = self._statements.run(
            "runs/find_pending",
            _Pending,
            chain_id=requested.chain_id,
            address=blob(requested.address),
            from_run=requested.from_run,
        )
        return found[0].pending if found else None

    def delete_ended(self) -> None:
        """Delete the ends of runs that no caller can wait for."""
        self._statements.run(
            "runs/delete_ended", _Number, settled_s=SETTLED_KEPT_S, failed_s=FAILED_KEPT_S
        )

    def guard_of(self, run: TokenRun) -> WriteGuard:
        """Return the guard of the run's writes: the run was not taken over."""
        statement = load_numbered("runs/lock_run", FLEET_QUERIES)
        params = self._key(run)

        def check(connection: PostgresConnection) -> None:
            values = [params[name] for name in statement.names]
            if RawCursor(connection).execute(statement.text, values).fetchone() is None:
                reason = "another process has taken over this analysis"
                raise LostRunError(path=self._statements.name, reason=reason)

        return check

    def _key(self, run: TokenRun) -> dict[str, object]:
        return {
            "chain_id": run.chain_id,
            "address": blob(run.address),
            "run": run.run,
            "holder": self.holder,
        }


class LostRunError(StoreError):
    """Another process analyses the token now, so this one must not write."""
