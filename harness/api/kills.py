"""Kills processes that count calls, and compares the ledger with the calls they let through.

python -m harness.api.kills KILLS SEED [POSTGRES_URL]

On a ledger in a file of its own, or in the database at the URL. Each round forks two processes.
They admit calls of a key with a lifetime and of one without, and tell each after it was let
through; at a random moment both get SIGKILL. What the ledger holds then must lie between what was
told and what may have been under way.
"""

import asyncio
import os
import random
import signal
import struct
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

import msgspec

from api.auth.keys import Caller, Keyring
from api.auth.limits import KeyLimits
from api.auth.rate_windows import LocalWindows
from api.auth.usage_counters import LOST_AT_MOST_S, UsageCounters
from config.plans import Plan
from config.store_address import FileAddress, PostgresAddress, StoreAddress
from core.secret import Secret
from sql.ledger import Ledger

PLANS = {
    "life": Plan(name="life", lifetime=10**12, may_refresh=False),
    "day": Plan(name="day", per_minute=10**12, per_day=10**12, may_refresh=False),
}
PROCESSES = 2
AT_ONCE = 8
"""Calls of the key without a lifetime for each one of the other."""

_TOLD = struct.Struct("<cd")
"""Which key, and when its call had been let through."""


class Outcome(msgspec.Struct, kw_only=True):
    """What all rounds found."""

    kills: int = 0
    calls: int = 0
    lost: int = 0
    """Calls told longer than the bound before the kill, or of a lifetime, and not in the ledger."""
    doubled: int = 0
    """Calls in the ledger that were neither told nor under way."""
    longest_unwritten_s: float = 0.0
    """How long before its kill the oldest lost call of a day had been told."""


async def _call_for_ever(address: StoreAddress, digests: dict[str, str], told: int) -> None:
    ledger = Ledger.of_store(address)
    books = UsageCounters(ledger, now_s=time.time)
    keyring = Keyring(ledger, PLANS, books)
    limits = KeyLimits(ledger, books, LocalWindows(), now_s=time.time)
    callers: dict[str, Caller | None] = {
        name: await keyring.find(digest) for name, digest in digests.items()
    }
    while True:
        for name in ("life", *("day",) * AT_ONCE):
            caller = callers[name]
            assert caller is not None
            await limits.admit(caller)
            os.write(told, _TOLD.pack(name[:1].encode(), time.monotonic()))


def _fork(address: StoreAddress, digests: dict[str, str]) -> tuple[int, int]:
    """A process that counts until it is killed, and where it tells so."""
    told, tell = os.pipe()
    process = os.fork()
    if process == 0:
        try:
            os.close(told)
            asyncio.run(_call_for_ever(address, digests, tell))
        finally:
            os._exit(1)
    os.close(tell)
    return process, told


def _read_all(told: int, first: bytes) -> list[tuple[bytes, float]]:
    heard = first
    while part := os.read(told, 1 << 20):
        heard += part
    os.close(told)
    whole = len(heard) - len(heard) % _TOLD.size
    return list(_TOLD.iter_unpack(heard[:whole]))


def _round(
    address: StoreAddress, digests: dict[str, str], dice: random.Random, outcome: Outcome
) -> None:
    before = _held(address)
    children = [_fork(address, digests) for _ in range(PROCESSES)]
    first = [os.read(told, _TOLD.size) for _, told in children]
    # Most of the time goes into short lives; a long one can show a call that waited too long.
    longest_s = 2.0 if dice.random() < 0.2 else 0.4
    deadline_s = time.monotonic() + dice.uniform(0, longest_s)
    heard = [b"" for _ in children]
    while time.monotonic() < deadline_s:
        heard = [
            more + os.read(told, 1 << 16) for more, (_, told) in zip(heard, children, strict=True)
        ]
    killed_at_s = time.monotonic()
    for process, _ in children:
        os.kill(process, signal.SIGKILL)
    for process, _ in children:
        os.waitpid(process, 0)
    said = [
        call
        for start, more, (_, told) in zip(first, heard, children, strict=True)
        for call in _read_all(told, start + more)
    ]
    after = _held(address)
    life = sum(name == b"l" for name, _ in said)
    told_at_s = sorted(at_s for name, at_s in said if name == b"d")
    settled = sum(at_s < killed_at_s - LOST_AT_MOST_S for at_s in told_at_s)
    counted_life, counted_day = (after[name] - before[name] for name in ("life", "day"))
    outcome.kills += 1
    outcome.calls += len(said)
    outcome.lost += max(0, life - counted_life) + max(0, settled - counted_day)
    outcome.doubled += max(0, counted_life - life - PROCESSES)
    outcome.doubled += max(0, counted_day - len(told_at_s) - PROCESSES)
    if counted_day < len(told_at_s):
        unwritten_s = killed_at_s - told_at_s[counted_day]
        outcome.longest_unwritten_s = max(outcome.longest_unwritten_s, unwritten_s)


def _held(address: StoreAddress) -> dict[str, int]:
    with closing(Ledger.of_store(address)) as ledger:
        keys = {row.plan: row.key_id for row in ledger.list_keys()}
        return {name: ledger.usage(keys[name], time.time()).lifetime for name in PLANS}


def kill_counters(kills: int, seed: int, url: str | None = None) -> Outcome:
    """So many rounds on one ledger. Forks: the process must have no threads."""
    dice, outcome = random.Random(seed), Outcome()  # noqa: S311 - chance, not secrecy
    with tempfile.TemporaryDirectory(prefix="assay-kills-") as folder:
        address: StoreAddress = FileAddress(Path(folder) / "store")
        if url is not None:
            address = PostgresAddress(url=Secret(url), lake=folder, prefix=Path(folder) / "files")
        with closing(Ledger.of_store(address)) as ledger:
            digests = {
                name: ledger.create_key(plan, "", time.time()).row.digest
                for name, plan in PLANS.items()
            }
        for _ in range(kills):
            _round(address, digests, dice, outcome)
    return outcome


if __name__ == "__main__":
    _kills, _seed, *_url = sys.argv[1:]
    sys.stdout.write(msgspec.json.encode(kill_counters(int(_kills), int(_seed), *_url)).decode())
