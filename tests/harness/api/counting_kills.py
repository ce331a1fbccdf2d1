"""Kills processes that count calls, and compares the ledger with the calls they admitted.

python -m tests.harness.api.counting_kills SPEC: a `KillsSpec` in JSON; prints an `Outcome` in JSON.

Each round forks two nodes on one ledger, a file or a database. Each node admits calls of a separate
unlimited key, and both admit those of keys with a small lifetime and, with a Valkey, of keys with
windows. Each call is noted after its admission, and each node gets SIGKILL at a random moment. An
unlimited key belongs to one node in one round, which isolates the cost of its kill; a limited key
stays until a node refuses it.
"""

import math
import random
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import msgspec

from api.auth.usage_counters import LOST_AT_MOST_S
from config.store_address import FileAddress, PostgresAddress, StoreAddress
from core.process.secret import Secret
from sql.accounts.ledger import Ledger
from tests.harness.api.limit_counter_process import FREE, PLANS, Node, Told, await_work, fork, kill

NODES = 2
LIFETIME_KEYS = 4
"""Keys with a lifetime, in use together."""
WINDOW_KEYS = 2
"""Keys with a window, in use together; where there is a Valkey."""

_WINDOW_USED_S = 30.0
"""Keys with a window are given up before the first call leaves it."""


class KillsSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Numbers of calls and kills after which rounds end, once a limit of each sort was reached."""

    calls: int
    kills: int
    seed: int
    url: str | None = None
    """URL of a PostgreSQL database. None: a ledger in a file."""
    redis_url: str | None = None
    """URL of a Valkey that shares the windows. None: no keys with windows."""


class Outcome(msgspec.Struct, kw_only=True):
    """Totals of all rounds."""

    kills: int = 0
    calls: int = 0
    """Calls admitted and noted, of all keys."""
    lifetime_calls: int = 0
    """Those of keys with a lifetime."""
    window_calls: int = 0
    """Those of keys with a window."""
    spent_keys: int = 0
    """Keys whose lifetime was used up."""
    full_windows: int = 0
    """Windows that were filled."""
    lost: int = 0
    """Lost calls, and calls refused below the limit.

    Lost are calls missing in the ledger that have a lifetime or were noted longer than the bound
    before the kill.
    """
    doubled: int = 0
    """Calls in the ledger that were neither noted nor in flight."""
    beyond: int = 0
    """Calls admitted or counted beyond a lifetime."""
    beyond_window: int = 0
    """Calls admitted beyond a window that was shared all the time."""
    longest_unwritten_s: float = 0.0
    """Age of the oldest lost call of an unlimited key at the kill."""
    failed: int = 0
    """Calls answered with 503, as the ledger was not written in time."""
    not_shared: int = 0
    """Windows left out, as Valkey was out of reach of a node for a moment."""


class _Key(msgspec.Struct, kw_only=True):
    """A key with a limit, over all rounds that use it."""

    digest: str
    key_id: int
    plan: str
    first_used_s: float
    admitted: int = 0
    untold: int = 0
    """Calls that may be counted without a note.

    One in flight at each kill of a node, and those that failed, as a commit without an answer does.
    """
    is_refused: bool = False
    was_shared: bool = True

    @property
    def lifetime(self) -> int | None:
        return PLANS[self.plan].lifetime

    @property
    def limit(self) -> int:
        return self.lifetime or PLANS[self.plan].per_minute or 0

    @property
    def is_done(self) -> bool:
        used_s = time.monotonic() - self.first_used_s
        return self.is_refused or (self.lifetime is None and used_s > _WINDOW_USED_S)


class _Drill:
    def __init__(self, spec: KillsSpec, address: StoreAddress) -> None:
        self._address = address
        self._redis_url = None if spec.redis_url is None else Secret(spec.redis_url)
        self._dice = random.Random(spec.seed)  # noqa: S311 - chance, not secrecy
        self._keys: list[_Key] = []
        self._most: dict[int, int] = {}
        """The most calls that the ledger may ever hold of a key."""
        self.outcome = Outcome()

    def round(self) -> None:
        """Fork the nodes, kill each at a random moment, and compare."""
        with closing(Ledger.of_store(self._address)) as ledger:
            free = [self._new_key(ledger, FREE.name) for _ in range(NODES)]
            self._fill_up(ledger)
        shared = tuple(key.digest for key in self._keys)
        tolds = [Told(1 + len(shared)) for _ in range(NODES)]
        processes = []
        for own, reported in zip(free, tolds, strict=True):
            digests = (own.digest, *shared)
            node = Node(address=self._address, redis_url=self._redis_url, digests=digests)
            processes.append(fork(node, reported))
        await_work(processes, tolds)
        killed_at_s = self._kill(processes)
        self.outcome.kills += NODES
        self.outcome.failed += sum(sum(reported.failed) for reported in tolds)
        with closing(Ledger.of_store(self._address)) as ledger:
            for own, reported, at_s in zip(free, tolds, killed_at_s, strict=True):
                self._compare_free(ledger, own, reported, at_s)
            for place, key in enumerate(self._keys, start=1):
                self._compare_limited(ledger, key, tolds, place)
        self._keys = [key for key in self._keys if not key.is_done]

    def is_enough(self, spec: KillsSpec) -> bool:
        """True if the numbers of the specification are reached."""
        outcome = self.outcome
        is_spent = outcome.spent_keys > 0
        is_filled = spec.redis_url is None or outcome.full_windows > outcome.not_shared
        are_many = outcome.calls >= spec.calls and outcome.kills >= spec.kills
        return are_many and is_spent and is_filled

    def look_again(self) -> None:
        """Compare all keys again, as a commit may have been in flight at a kill."""
        with closing(Ledger.of_store(self._address)) as ledger:
            found = ledger.usages(self._most, time.time())
        for key_id, usage in found.items():
            self.outcome.doubled += max(0, usage.lifetime - self._most[key_id])

    def _kill(self, processes: list[int]) -> list[float]:
        """Kill all, each at a random moment; return when, in the order of the processes."""
        # Most of the time goes into short lives; a long one can show a call that waited too long.
        longest_s = 2.5 if self._dice.random() < 0.2 else 0.5
        began_at_s = time.monotonic()
        due_s = [began_at_s + self._dice.uniform(0, longest_s) for _ in processes]
        killed_at_s = [0.0] * len(processes)
        for place in sorted(range(len(processes)), key=due_s.__getitem__):
            time.sleep(max(0.0, due_s[place] - time.monotonic()))
            killed_at_s[place] = time.monotonic()
            kill(processes[place])
        return killed_at_s

    def _fill_up(self, ledger: Ledger) -> None:
        lifetimes = [name for name, plan in PLANS.items() if plan.lifetime]
        windows = [name for name, plan in PLANS.items() if plan.per_minute]
        wanted = [(lifetimes, LIFETIME_KEYS)]
        if self._redis_url is not None:
            wanted.append((windows, WINDOW_KEYS))
        for names, count in wanted:
            have = sum(key.plan in names for key in self._keys)
            for _ in range(count - have):
                self._keys.append(self._new_key(ledger, self._dice.choice(names)))

    def _new_key(self, ledger: Ledger, plan: str) -> _Key:
        row = ledger.create_key(PLANS[plan], "", time.time()).row
        return _Key(digest=row.digest, key_id=row.key_id, plan=plan, first_used_s=time.monotonic())

    def _compare_free(self, ledger: Ledger, key: _Key, reported: Told, killed_at_s: float) -> None:
        outcome = self.outcome
        counted = ledger.usage(key.key_id, time.time()).lifetime
        admitted = reported.settled(math.inf)
        self._most[key.key_id] = admitted + 1
        outcome.calls += admitted
        outcome.lost += max(0, reported.settled(killed_at_s - LOST_AT_MOST_S) - counted)
        outcome.doubled += max(0, counted - self._most[key.key_id])
        unwritten_s = killed_at_s - reported.time_of(counted)
        outcome.longest_unwritten_s = max(outcome.longest_unwritten_s, unwritten_s)

    def _compare_limited(self, ledger: Ledger, key: _Key, tolds: list[Told], place: int) -> None:
        outcome = self.outcome
        admitted = sum(reported.admitted[place] for reported in tolds)
        key.admitted += admitted
        key.untold += NODES + sum(reported.failed[place] for reported in tolds)
        key.is_refused = any(reported.refused[place] for reported in tolds)
        key.was_shared &= not any(reported.flags[1] for reported in tolds)
        outcome.calls += admitted
        most = key.admitted + key.untold
        if key.lifetime is None:
            self._compare_window(key, admitted)
            return
        counted = ledger.usage(key.key_id, time.time()).lifetime
        self._most[key.key_id] = min(most, key.limit)
        outcome.lifetime_calls += admitted
        outcome.spent_keys += key.is_refused
        outcome.lost += max(0, key.admitted - counted)
        if key.is_refused:
            outcome.lost += max(0, key.limit - counted)
        outcome.doubled += max(0, counted - most)
        outcome.beyond += max(0, max(key.admitted, counted) - key.limit)

    def _compare_window(self, key: _Key, admitted: int) -> None:
        outcome = self.outcome
        outcome.window_calls += admitted
        if not key.was_shared:
            outcome.not_shared += key.is_done
            return
        outcome.beyond_window += max(0, key.admitted - max(key.limit, key.admitted - admitted))
        if key.is_refused:
            outcome.full_windows += 1
            outcome.lost += max(0, key.limit - key.admitted - key.untold)


def kill_counters(spec: KillsSpec, note: Callable[[Outcome], None] = lambda _: None) -> Outcome:
    """Do all rounds on one ledger; `note` gets the totals so far after each.

    Forks: the process must have no threads. Raises ChildProcessError when a node ends unexpectedly.
    """
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as folder:
        address: StoreAddress = FileAddress(Path(folder) / "store")
        if spec.url is not None:
            address = PostgresAddress(
                url=Secret(spec.url), lake=folder, prefix=Path(folder) / "files"
            )
        drill = _Drill(spec, address)
        while not drill.is_enough(spec):
            drill.round()
            note(drill.outcome)
        drill.look_again()
        return drill.outcome


if __name__ == "__main__":
    _spec = msgspec.json.decode(sys.argv[1], type=KillsSpec)
    sys.stdout.write(msgspec.json.encode(kill_counters(_spec)).decode())
