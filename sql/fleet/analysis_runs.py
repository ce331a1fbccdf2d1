"""Analyses over all processes of a fleet: which tokens are asked for, and who judges them now.

A token is judged by one process at a time. Whoever judges says each second that it is still there;
when it is not, whoever asks or waits for the token is served by another process.
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
"""Seconds after which a process that does not renew its runs has lost them."""

MOST_DEATHS = 3
"""Processes that may end, one after the other, while they judge the same token."""

MOST_WAITING = 1_000
"""Tokens that wait to be judged; beyond it a new one is rejected at once instead of queued."""

SETTLED_KEPT_S = 3_600.0
FAILED_KEPT_S = 7 * 86_400.0
"""How long it is kept how the last run of a token ended."""

TokenRunOutcome = Literal["settled", "refused", "node_failed", "failed"]
"""settled: a report. refused: not admitted as a token. node_failed: a node did not answer, or not
in time. failed: a fault of ours."""


class TokenRun(msgspec.Struct, frozen=True, kw_only=True):
    """The right of one process to judge a token."""

    chain_id: int
    address: Address
    run: int
    is_anew: bool
    """True: it uses no stored results of static analysis."""
    is_awaited: bool
    """True: somebody in the fleet waits for it."""
    is_taken_over: bool
    """True: the process that had begun before was lost while it judged the token."""


class TokenRunEnd(msgspec.Struct, frozen=True, kw_only=True):
    """How a run ended."""

    outcome: TokenRunOutcome
    code: str | None = None
    """Of a refusal."""
    service: str | None = None
    """That did not answer."""
    reason: str | None = None
    """None: there is a report."""


class RunState(msgspec.Struct, frozen=True, kw_only=True):
    """What is known of a token's runs."""

    chain_id: int
    address: Address
    run: int
    """The one under way, or the last one. 0: there was none yet."""
    is_anew: bool
    is_running: bool
    """A process judges the token."""
    is_wanted: bool
    """A report is asked for that the run under way does not answer."""
    ended_run: int
    """The last one that has ended. 0: none has yet."""
    ended_anew: bool
    outcome: TokenRunOutcome | None
    code: str | None
    service: str | None
    reason: str | None
    ended_s: float | None = None
    """Seconds since that end. None: none has ended."""


class RunCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the whole fleet has to do on one chain, as of now."""

    chain_id: int
    waiting: int
    """Tokens that somebody asks for and nobody judges."""
    longest_wait_s: float
    """Of these. 0: there is none."""
    running: int
    """Tokens that are being judged."""


class AskedRun(msgspec.Struct, frozen=True, kw_only=True):
    """What whoever asked for a report waits for: the end of a run of the token, with that number or
    a higher one."""

    chain_id: int
    address: Address
    from_run: int
    is_anew: bool = False

    def is_answered_by(self, state: RunState) -> bool:
        """Return whether the token's last run that has ended answers the question."""
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
    """The runs of one fleet, as one process sees and takes them. Thread-safe; all calls block and
    raise StoreError."""

    def __init__(self, statements: SingleStatements, *, holder: str) -> None:
        """`holder`: a name that no other process has, nor will have."""
        self._statements = statements
        self.holder = holder

    def ask(self, chain_id: int, address: Address, *, is_anew: bool) -> AskedRun | None:
        """Ask for a report; a run under way serves if it may. None: too many wait already."""
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
                AskedRun(chain_id=chain_id, address=address, from_run=one.from_run, is_anew=is_anew)
                for one in found
            ),
            None,
        )

    def take_asked(self, chain_id: int, *, at_most: int, older_s: float = 0.0) -> list[TokenRun]:
        """Begin the runs of tokens that were asked for longest ago and that nobody judges."""
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
        """Begin a run that nobody need have asked for. None: another process judges the token."""
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
        """Keep runs of this process for another while; return those that it still has.

        Only those that are named: one whose beginning was never answered ends by itself.
        """
        return self._statements.run(
            "runs/renew_runs",
            TokenRun,
            holder=self.holder,
            runs=[one.run for one in runs],
            lease_s=LEASE_S,
        )

    def show_pending(self, run: TokenRun, pending: bytes) -> None:
        """Show the report so far to whoever waits; nothing where the run was lost."""
        self._statements.run("runs/show_pending", _Number, **self._key(run), pending=pending)

    def end(self, run: TokenRun, end: TokenRunEnd) -> bool:
        """Tell how a run ended. False: another process had taken it over."""
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
        """Let other processes go on with the runs of this one, which ends."""
        self._statements.run("runs/give_back", _Number, holder=self.holder)

    def give_up(self) -> list[tuple[int, Address]]:
        """End the runs that have ended process after process; return their chains and tokens."""
        found = self._statements.run("runs/give_up", _Given, at_most=MOST_DEATHS)
        return [(one.chain_id, one.address) for one in found]

    def states_of(self, tokens: Sequence[tuple[int, Address]]) -> list[RunState]:
        """Return what is known of the runs of tokens, by chain and address; nothing of those that
        were not judged lately."""
        return self._statements.run(
            "runs/list_states",
            RunState,
            chain_ids=[chain_id for chain_id, _ in tokens],
            addresses=[blob(address) for _, address in tokens],
        )

    def count(self, chain_ids: Collection[int]) -> list[RunCounts]:
        """Return what there is to do on each of the chains."""
        return self._statements.run("runs/count_runs", RunCounts, chain_ids=list(chain_ids))

    def pending_of(self, asked: AskedRun) -> bytes | None:
        """Return the report so far, as it was shown. None: there is none."""
        found = self._statements.run(
            "runs/find_pending",
            _Pending,
            chain_id=asked.chain_id,
            address=blob(asked.address),
            from_run=asked.from_run,
        )
        return found[0].pending if found else None

    def delete_ended(self) -> None:
        """Forget how runs ended that nobody can wait for any more."""
        self._statements.run(
            "runs/delete_ended", _Number, settled_s=SETTLED_KEPT_S, failed_s=FAILED_KEPT_S
        )

    def guard_of(self, run: TokenRun) -> WriteGuard:
        """Return the condition under which the run may write: that it was not taken over."""
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
    """Another process judges the token now, so this one must not write."""
