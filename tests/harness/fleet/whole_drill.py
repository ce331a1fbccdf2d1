"""Drills of a whole fleet: random faults one after another under load.

After each of them store, lake, ledger and answers are compared with known values.
"""

import random
import subprocess
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import httpx
import msgspec

from core.evm.primitives import Address
from tests.harness.fleet.fleet_callers import HANG_S, FleetCallers
from tests.harness.fleet.fleet_faults import (
    FAULTS,
    Fault,
    FaultKind,
    FaultyFleet,
    draw_fault,
    excuse_of,
    suffered,
)
from tests.harness.fleet.fleet_member import FleetMember
from tests.harness.fleet.node_rows import balance_differences, chain_differences
from tests.harness.fleet.run_audit import audit_differences
from tests.harness.fleet.whole_fleet import WholeFleet, until, whole_fleet
from tests.harness.parts.server_process import PartFailedError

FOLLOWING_WITHIN_S: Final = 10.0
"""After a fault is over, by the issue."""

_FOLLOWS_WITHIN_S: Final = 90.0
"""Time beyond which a delay counts as an end."""
_READY_WITHIN_S: Final = 90.0
_LEVEL_WITHIN_S: Final = 30.0
_WRITTEN_WITHIN_S: Final = 15.0
_ANSWERED_WITHIN_S: Final = 30.0
_GONE_WITHIN_S: Final = 20.0
_WHOLE_WITHIN_S: Final = 240.0
"""A past that could not be fetched is tried again a minute or two later."""
_COMPACT_S: Final = 120.0
_LOOK_EVERY_S: Final = 0.1


class WholeOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one drill."""

    fault: Fault
    following_s: float
    """From the end of the fault until a block was stored that was mined after it."""
    ready_s: float
    """From the end of the fault until every process was ready."""
    answered_s: float
    """Time of an analysis requested after it, at the slower of the API processes."""
    longest_call_s: float
    statuses: Counter[int]
    """Statuses of the calls during it; 0: no answer."""
    differences: tuple[str, ...]
    """Errors found. Empty: none."""


class WholeDrill:
    """A fleet that suffers."""

    def __init__(self, fleet: WholeFleet, callers: FleetCallers, seed: int) -> None:
        self._fleet = fleet
        self._callers = callers
        self._dice = random.Random(seed)  # noqa: S311 - chance, not secrecy
        self._reports = 0
        self._faulty = FaultyFleet(
            members=fleet.members,
            postgres=fleet.parts.postgres,
            valkey=fleet.parts.valkey,
            objects=fleet.parts.objects,
            compactor=fleet.compactor,
            leader=fleet.leader,
            compact=fleet.compact,
            on_kill=self._note_kill,
            found=[],
        )

    @property
    def url(self) -> str:
        """URL of the database."""
        return self._fleet.url

    @property
    def kinds(self) -> list[FaultKind]:
        """The kinds of faults that this machine can make."""
        can_fill = self._fleet.parts.has_small_disk
        return [kind for kind in FAULTS if can_fill or kind != "objects full"]

    def draw(self, kinds: Sequence[FaultKind], *, longest_s: float, with_minutes: bool) -> Fault:
        """Draw the next fault."""
        names = list(self._fleet.members)
        return draw_fault(self._dice, names, kinds, longest_s=longest_s, with_minutes=with_minutes)

    def suffer(self, fault: Fault) -> WholeOutcome:
        """Have the fault, wait until all is as before, and compare."""
        self._callers.longest_s = 0.0
        before = Counter(self._callers.statuses)
        began_s = time.monotonic()
        with ExitStack() as stack:
            excuse = excuse_of(fault, self._faulty, began_s)
            self._callers.excuse(excuse)
            with suffered(fault, self._faulty):
                if fault.compacts:
                    stack.enter_context(self._compacting())
                time.sleep(fault.seconds)
            over_s = time.monotonic()
            following_s = self._until_following(over_s)
            ready_s = self._until_ready(over_s)
            self._callers.excuse(msgspec.structs.replace(excuse, over_s=time.monotonic()))
            answered_s = self._ask_for_analyses()
        found = [*self._faulty.found, *self.compare(), *self._callers.wrong]
        self._faulty.found.clear()
        self._callers.wrong.clear()
        return WholeOutcome(
            fault=fault,
            following_s=following_s,
            ready_s=ready_s,
            answered_s=answered_s,
            longest_call_s=self._callers.longest_s,
            statuses=self._callers.statuses - before,
            differences=tuple(found),
        )

    def finish(self) -> list[str]:
        """Return the errors at the end, once the history of all tokens is fetched."""
        tokens = [token.address for token in self._fleet.chain.tokens]

        def is_whole() -> bool | None:
            """True once all is fetched; histories of a growing chain are fetched once final."""
            stored = self._fleet.read().tokens
            return all(stored[token][4] for token in tokens) or None

        def is_idle() -> bool | None:
            return self._fleet.open_runs() == 0 or None

        try:
            until(is_whole, "the past of tokens is not fetched", within_s=_WHOLE_WITHIN_S)
        except PartFailedError as error:
            return [str(error)]
        with self._callers.quiet(), self._fleet.chain.frozen():
            try:
                until(is_idle, "analyses do not end", within_s=_WHOLE_WITHIN_S)
                self._until_level()
            except PartFailedError as error:
                return [str(error)]
            stored = self._fleet.read()
            return balance_differences(stored, self._fleet.chain.node, tokens)

    @contextmanager
    def level(self) -> Iterator[None]:
        """Have the chain stand still once all of it is stored. Raises PartFailedError."""
        with self._fleet.chain.frozen():
            self._until_level()
            yield

    def totals(self) -> str:
        """Format the number of comparisons."""
        chain, calls = self._fleet.chain, self._callers.statuses.total()
        return (
            f"{chain.node.head_number()} blocks, {chain.reorgs} reorganisations, {calls} calls, "
            f"{self._reports} reports written, {self._fleet.lake_files()} files in the lake"
        )

    def logs(self) -> str:
        """Return the ends of all processes' logs."""
        members = self._fleet.members.values()
        return "\n".join(f"--- {one.name}\n{one.log_tail()}" for one in members)

    @contextmanager
    def _compacting(self) -> Iterator[None]:
        """Move rows to the lake during a block; after a failure another run does the rest."""
        process = self._fleet.compact()
        try:
            yield
        finally:
            try:
                process.wait(_COMPACT_S)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
                self._faulty.found.append(f"`assay compact` took longer than {_COMPACT_S:g} s")

    def _note_kill(self, member: FleetMember, killed_s: float) -> None:
        self._callers.forgive_kill(member, killed_s)

    def _until_following(self, over_s: float) -> float:
        """Seconds until a block is stored that was mined after a moment."""
        mined = self._fleet.chain.node.head_number() + 1
        until(
            lambda: self._fleet.has_followed(mined) or None,
            "the chain is not followed",
            within_s=_FOLLOWS_WITHIN_S,
        )
        return time.monotonic() - over_s

    def _until_ready(self, over_s: float) -> float:
        members = self._fleet.members.values()
        until(
            lambda: all(one.is_ready() for one in members) or None,
            "processes are not ready: "
            + ", ".join(one.name for one in members if not one.is_ready()),
            within_s=_READY_WITHIN_S,
        )
        return time.monotonic() - over_s

    def _ask_for_analyses(self) -> float:
        """Request a new analysis of each API process; return the slowest time in seconds."""
        began_s = time.monotonic()
        for server in self._fleet.servers:
            token = self._dice.choice(self._fleet.chain.tokens)
            before = self._fleet.ended_run(token.address)
            path = f"/token/1/{token.address}?refresh=true"
            with httpx.Client(timeout=HANG_S) as client:
                answer = self._callers.ask_own(client, server, path)
            if answer is None or answer.status_code != httpx.codes.OK:
                self._faulty.found.append(f"{server.name} has no answer to {path}")
                continue
            self._callers.judge(path, server, token, answer.content)
            if not self._has_ended_since(token.address, before):
                self._faulty.found.append(f"an analysis that {server.name} asked for has no end")
        return time.monotonic() - began_s

    def _has_ended_since(self, token: Address, before: int) -> bool:
        """Wait for the end of an analysis later than the one with that number."""

        def look() -> bool | None:
            return self._fleet.ended_run(token) > before or None

        try:
            return until(look, token, within_s=_ANSWERED_WITHIN_S)
        except PartFailedError:
            return False

    def compare(self) -> list[str]:
        """Return the errors in store, lake, ledger and analysing processes."""
        fleet = self._fleet
        with self._callers.quiet(), fleet.chain.frozen():
            try:
                self._until_level()
            except PartFailedError as error:
                return [str(error)]
            found = chain_differences(fleet.read(), fleet.chain.node, fleet.chain.facts)
            self._until_written()
            found += self._callers.count_differences(fleet.ledger)
            wrong, reports = audit_differences(fleet.url, list(fleet.members.values()))
            self._reports += reports
            found += wrong
            self._callers.renew_trials(fleet.ledger)
        return [*found, *self._left_behind()]

    def _until_level(self) -> None:
        """Wait until the newest block of a chain that stands still is stored. Raises
        PartFailedError."""
        head = self._fleet.chain.node.head_number()
        until(
            lambda: self._fleet.has_followed(head) or None,
            "the newest block is not stored",
            within_s=_LEVEL_WITHIN_S,
        )

    def _until_written(self) -> None:
        """Wait for as long as the servers may take to write their counts."""
        with suppress(PartFailedError):  # rows missing then are reported as lost
            until(
                lambda: self._callers.is_written(self._fleet.ledger) or None,
                "",
                within_s=_WRITTEN_WITHIN_S,
            )

    def _left_behind(self) -> list[str]:
        """Children of killed processes that have not ended by themselves."""

        def remaining() -> list[str]:
            return [
                f"{one.name} has left process {pid}"
                for one in self._fleet.members.values()
                for pid in one.left_behind()
            ]

        with suppress(PartFailedError):
            until(lambda: not remaining() or None, "", within_s=_GONE_WITHIN_S)
        return remaining()


@contextmanager
def whole_drill(seed: int) -> Iterator[WholeDrill]:
    """Start a fleet with callers. Raises PartFailedError."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="assay-drills-")))
        fleet = stack.enter_context(whole_fleet(seed, folder))
        callers = FleetCallers(fleet.servers, fleet.chain.tokens, fleet.ask_calmly(), seed=seed)
        fleet.chain.start()
        callers.start(fleet.ledger)
        stack.callback(callers.stop)
        yield WholeDrill(fleet, callers, seed)
