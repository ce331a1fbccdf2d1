"""Callers that send requests to both API processes of a fleet, and check each answer."""

import random
import threading
import time
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

import httpx
import msgspec

from config.plans import load_plans
from core.evm.primitives import Address
from sql.accounts.ledger import Calls, Ledger
from tests.harness.fleet.answer_check import CalmAnswer, wrong_in_native, wrong_in_summary
from tests.harness.fleet.call_tally import CallTally, TalliedCall
from tests.harness.fleet.fleet_member import FleetMember
from tests.harness.fleet.traded_chain import KnownToken

HANG_S: Final = 30.0
"""Longer than anything a request may wait for: `docs/operate/fleet.md`, "Drills"."""

GRACE_S: Final = 10.0
"""After a fault is over."""

_PAUSE_S: Final = 0.15
_TRIAL_PAUSE_S: Final = 0.4
_TRIAL_KEYS: Final = 3
_TRIAL_LEFT: Final = 8
"""Calls of a trial key's lifetime that are left when it is first used here."""
_LONG_AGO: Final = "2026-01-01"
_REFRESHES: Final = 0.04
_QUIET_S: Final = 40.0


class Excuse(msgspec.Struct, frozen=True, kw_only=True):
    """Failures that a fault excuses."""

    began_s: float
    over_s: float | None = None
    """None: it is not over."""
    statuses: frozenset[int] = frozenset()
    members: frozenset[str] | None = None
    """Names of the API processes where. None: all."""
    cuts: bool = False
    """Connections may be refused or broken off."""

    def covers(self, sent_s: float, answered_s: float, at: str, status: int | None) -> bool:
        """True if a status, or a missing answer (None), is excused."""
        if self.members is not None and at not in self.members:
            return False
        if self.over_s is not None and sent_s > self.over_s + GRACE_S:
            return False
        is_meant = self.cuts if status is None else status in self.statuses
        return answered_s >= self.began_s and is_meant


class FleetCallers:
    """Calling threads, and their findings."""

    def __init__(
        self,
        servers: Sequence[FleetMember],
        tokens: Sequence[KnownToken],
        calm: Mapping[Address, CalmAnswer],
        *,
        seed: int,
    ) -> None:
        """Callers of a fleet. `calm`: its answers before the first fault."""
        self.wrong: list[str] = []
        """Answers that are wrong, and failures without an excuse."""
        self.statuses: Counter[int] = Counter()
        """Statuses of all answers; 0: none."""
        self.longest_s = 0.0
        """The longest that a call took since this was set to 0."""
        self._servers = servers
        self._tokens = tokens
        self._calm = calm
        self._seed = seed
        self._excuses: list[Excuse] = []
        self._lock = threading.Lock()
        self._may_call = threading.Event()
        self._ended = threading.Event()
        self._under_way = 0
        self._own: dict[str, CallTally] = {}
        self._trials: list[CallTally] = []
        self._all: list[CallTally] = []
        self._threads: list[threading.Thread] = []

    def start(self, ledger: Ledger) -> None:
        """Create keys and begin to call."""
        plan = load_plans()["admin"]
        for server in self._servers:
            made = ledger.create_key(plan, server.name, time.time())
            tally = CallTally(made.row.key_id, made.plaintext, before=0, limit=None)
            self._own[server.name] = tally
            self._all.append(tally)
        self.renew_trials(ledger)
        for at, server in enumerate(self._servers):
            for what, call in enumerate((self._ask_steadily, self._ask_steadily, self._ask_trial)):
                dice = random.Random(f"{self._seed} {at} {what}")  # noqa: S311 - chance
                thread = threading.Thread(target=call, args=(server, dice), daemon=True)
                self._threads.append(thread)
                thread.start()
        self._may_call.set()

    def stop(self) -> None:
        """End the threads."""
        self._ended.set()
        self._may_call.set()
        for thread in self._threads:
            thread.join(HANG_S)

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Have nobody call in a block."""
        self._may_call.clear()
        until_s = time.monotonic() + _QUIET_S
        while self._under_way and time.monotonic() < until_s:
            time.sleep(0.02)
        yield
        self._may_call.set()

    def renew_trials(self, ledger: Ledger) -> None:
        """Keep a few keys in use with a few calls of their lifetime left."""
        plan = load_plans()["trial"]
        lifetime = plan.lifetime or 0
        self._trials = [tally for tally in self._trials if not tally.is_spent]
        while len(self._trials) < _TRIAL_KEYS:
            made = ledger.create_key(plan, "trial", time.time())
            before = lifetime - _TRIAL_LEFT
            spent = Calls(key_id=made.row.key_id, day=_LONG_AGO, calls=before)
            ledger.add_calls([spent], time.time())
            tally = CallTally(made.row.key_id, made.plaintext, before=before, limit=lifetime)
            self._trials.append(tally)
            self._all.append(tally)

    def ask_own(
        self, client: httpx.Client, server: FleetMember, path: str
    ) -> httpx.Response | None:
        """Make one call with the key that is used at that server only. None: no answer."""
        return self.ask_once(client, server, path, self._own[server.name])

    def forgive_kill(self, server: FleetMember, killed_s: float) -> None:
        """A server was killed at that moment of the monotonic clock."""
        for tally in self._all:
            tally.forgive(killed_s, server.name)

    def excuse(self, excuse: Excuse) -> None:
        """The last fault so far, as it is known now."""
        with self._lock:
            same = self._excuses and self._excuses[-1].began_s == excuse.began_s
            self._excuses = [*(self._excuses[:-1] if same else self._excuses[-1:]), excuse]

    def count_differences(self, ledger: Ledger) -> list[str]:
        """Return the errors of the ledger, as text, while nobody calls."""
        found = []
        usages = self._usages(ledger)
        for tally in self._all:
            found += tally.differences(usages[tally.key_id])
            if tally.limit is not None:
                found += _beyond_window(tally, processes=len(self._servers))
        return found

    def is_written(self, ledger: Ledger) -> bool:
        """True if the ledger has all calls that it must have."""
        usages = self._usages(ledger)
        return all(usages[tally.key_id] >= tally.least() for tally in self._all)

    def _usages(self, ledger: Ledger) -> dict[int, int]:
        """Calls of each key's lifetime, by its id."""
        found = ledger.usages([tally.key_id for tally in self._all], time.time())
        return {
            tally.key_id: found[tally.key_id].lifetime if tally.key_id in found else 0
            for tally in self._all
        }

    def ask_once(
        self, client: httpx.Client, server: FleetMember, path: str, tally: CallTally
    ) -> httpx.Response | None:
        """Make one call and note its outcome. None: no answer."""
        sent_s = time.monotonic()
        try:
            answer = client.get(server.url + path, headers={"X-API-Key": tally.plaintext})
        except httpx.HTTPError as error:
            tally.maybe_counted()
            self._note(path, server, sent_s, None, repr(error))
            return None
        answered_s = time.monotonic()
        if answer.status_code in (200, 422, 500):
            tally.answered(TalliedCall(sent_s, answered_s, server.name))
        elif answer.status_code == httpx.codes.PAYMENT_REQUIRED:
            tally.is_spent = True
        elif answer.status_code == httpx.codes.SERVICE_UNAVAILABLE:
            tally.maybe_counted()
        self._note(path, server, sent_s, answer.status_code, answer.text)
        return answer

    def _ask_steadily(self, server: FleetMember, dice: random.Random) -> None:
        tally = self._own[server.name]
        with httpx.Client(timeout=HANG_S) as client:
            while self._begin(_PAUSE_S):
                try:
                    self._ask(client, server, tally, dice)
                finally:
                    self._finish()

    def _ask_trial(self, server: FleetMember, dice: random.Random) -> None:
        with httpx.Client(timeout=HANG_S) as client:
            while self._begin(_TRIAL_PAUSE_S):
                try:
                    tally = dice.choice(self._trials)
                    self._ask(client, server, tally, dice)
                finally:
                    self._finish()

    def _ask(
        self, client: httpx.Client, server: FleetMember, tally: CallTally, dice: random.Random
    ) -> None:
        token = dice.choice(self._tokens)
        path = f"/token/1/{token.address}"
        is_summary = dice.random() < 0.5
        if is_summary:
            path += "/summary"
        elif tally.limit is None and dice.random() < _REFRESHES:
            path += "?refresh=true"
        answer = self.ask_once(client, server, path, tally)
        if answer is None or answer.status_code != httpx.codes.OK:
            return
        self.judge(path, server, token, answer.content)

    def judge(self, path: str, server: FleetMember, token: KnownToken, body: bytes) -> None:
        """Compare an answer with the token's behaviour."""
        if path.endswith("/summary"):
            found = wrong_in_summary(body, token, self._calm[token.address])
        else:
            found = wrong_in_native(body, token)
        if found:
            with self._lock:
                self.wrong.append(f"{server.name} {path}: {'; '.join(found)}")

    def _note(
        self, path: str, server: FleetMember, sent_s: float, status: int | None, text: str
    ) -> None:
        answered_s = time.monotonic()
        with self._lock:
            self.statuses[status or 0] += 1
            self.longest_s = max(self.longest_s, answered_s - sent_s)
            if status in (200, 402, 429):
                return
            is_told = status != httpx.codes.INTERNAL_SERVER_ERROR or "analysis_failed" in text
            is_hang = answered_s - sent_s >= HANG_S
            is_excused = any(
                one.covers(sent_s, answered_s, server.name, status) for one in self._excuses
            )
            if is_hang or not is_told or not is_excused:
                took_s = answered_s - sent_s
                self.wrong.append(
                    f"{server.name} {path}: {status} after {took_s:.1f} s: {text[:200]}"
                )

    def _begin(self, pause_s: float) -> bool:
        """Wait for one's turn; False: it is over."""
        self._ended.wait(pause_s)
        while True:
            self._may_call.wait()
            if self._ended.is_set():
                return False
            with self._lock:
                if self._may_call.is_set():
                    self._under_way += 1
                    return True

    def _finish(self) -> None:
        with self._lock:
            self._under_way -= 1


def _beyond_window(tally: CallTally, *, processes: int) -> list[str]:
    """Return bursts beyond the sum of the processes' limits."""
    plan = load_plans()["trial"]
    limit, span_s = plan.burst_limit or 0, plan.burst_window_s or 0
    most = tally.most_within(span_s)
    if most <= processes * limit:
        return []
    return [f"key {tally.key_id}: {most} calls within {span_s} s, {limit} a process"]
