"""Faults of a fleet: of its processes, of the parts, and of the links between them."""

import random
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Final, Literal, get_args

import msgspec

from tests.harness.fleet.fleet_callers import Excuse
from tests.harness.fleet.fleet_member import PARTS, FleetMember, Part
from tests.harness.parts.postgres_server import PostgresServer
from tests.harness.parts.s3_server import S3Server
from tests.harness.parts.tcp_proxy import TcpProxy
from tests.harness.parts.valkey_server import ValkeyServer

FaultKind = Literal[
    "kill",
    "pause",
    "stop",
    "two leaders",
    "clock skew",
    "link cut",
    "link silent",
    "link half-open",
    "link slow",
    "postgres killed",
    "postgres cut",
    "postgres silent",
    "valkey lost",
    "valkey silent",
    "objects refused",
    "objects silent",
    "objects full",
    "node cut",
    "node silent",
    "compaction killed",
]
"""Kinds of faults.

kill: SIGKILL, another process a while later. pause: SIGSTOP. stop: SIGTERM. two leaders: the
follower is paused beyond its lease, and wakes up. clock skew: a process whose clock is minutes
wrong. link: between one process and one server; half-open: its messages arrive, and no answer
comes. postgres, valkey, objects, node: the server itself, or all links to it. lost: killed and
emptied.
"""

FAULTS: Final[tuple[FaultKind, ...]] = get_args(FaultKind)

_MINUTE_S: Final = 60.0
_NOTED_S: Final = 0.2
_MINUTES: Final = 0.1
"""Share of the faults of PostgreSQL that last a minute."""
_BEYOND_LEASE_S: Final = (4.5, 8.0)
_SLOW_S: Final = (0.05, 0.4)
_SKEW_S: Final = (60.0, 240.0)
_COMPACTS: Final = 0.25
"""Share of other faults during which rows are moved to the lake."""


class Fault(msgspec.Struct, frozen=True, kw_only=True):
    """One fault as it was drawn."""

    kind: FaultKind
    seconds: float
    """Duration; of processes that end: until another is started."""
    target: str | None = None
    """Name of a process. None: a part, or whichever process leads."""
    part: Part | None = None
    """Server at the other end of a link."""
    amount_s: float = 0.0
    """Delay each way of slow links; offset of clocks, below 0 if behind."""
    compacts: bool = False
    """True if rows are moved to the lake at the same time."""


def draw_fault(
    dice: random.Random,
    names: Sequence[str],
    kinds: Sequence[FaultKind],
    *,
    longest_s: float,
    with_minutes: bool,
) -> Fault:
    """Draw any fault."""
    kind = dice.choice(kinds)
    seconds = dice.uniform(0.5, longest_s)
    if kind == "two leaders":
        seconds = dice.uniform(*_BEYOND_LEASE_S)
    is_long = dice.random() < _MINUTES
    if with_minutes and is_long and kind.startswith("postgres"):
        seconds = _MINUTE_S
    is_of_process = kind in ("kill", "pause", "stop", "clock skew") or kind.startswith("link")
    target, part = dice.choice(names), dice.choice(PARTS)
    amount_s = dice.uniform(*(_SLOW_S if kind == "link slow" else _SKEW_S))
    if kind == "clock skew" and dice.random() < 0.5:
        amount_s = -amount_s
    compacts = dice.random() < _COMPACTS
    return Fault(
        kind=kind,
        target=target if is_of_process else None,
        part=part if kind.startswith("link") else None,
        seconds=round(seconds, 2),
        amount_s=round(amount_s, 3) if kind in ("link slow", "clock skew") else 0.0,
        compacts=compacts or kind.startswith(("objects", "compaction")),
    )


class FaultyFleet(msgspec.Struct, kw_only=True):
    """Fleet that faults are injected into."""

    members: Mapping[str, FleetMember]
    postgres: PostgresServer
    valkey: ValkeyServer
    objects: S3Server
    compactor: FleetMember
    """Its links are those of the process that moves rows to the lake now; it is never started."""
    leader: Callable[[], FleetMember]
    """Follower of the chain."""
    compact: Callable[[], "subprocess.Popen[bytes]"]
    on_kill: Callable[[FleetMember, float], None]
    """Called at each SIGKILL, with the time of the monotonic clock."""
    found: list[str]
    """Errors in the faults themselves, such as an exit code."""

    def target(self, fault: Fault) -> FleetMember:
        """The process that a fault is of."""
        return self.leader() if fault.target is None else self.members[fault.target]

    def ways(self, part: Part) -> list[TcpProxy]:
        """Those of all processes to a part."""
        return [one.links[part] for one in (*self.members.values(), self.compactor)]


def excuse_of(fault: Fault, fleet: FaultyFleet, began_s: float) -> Excuse:
    """Return the failures that a fault which has just begun excuses."""
    is_api = fault.target is not None and fleet.members[fault.target].role == "api"
    own = frozenset({fault.target or ""})
    if fault.kind.startswith("postgres"):
        return Excuse(began_s=began_s, statuses=frozenset({500, 503}))
    if is_api and fault.kind in ("kill", "stop", "clock skew"):
        return Excuse(began_s=began_s, members=own, cuts=True)
    if is_api and fault.part == "postgres":
        return Excuse(began_s=began_s, members=own, statuses=frozenset({500, 503}))
    return Excuse(began_s=began_s)


@contextmanager
def suffered(fault: Fault, fleet: FaultyFleet) -> Iterator[None]:
    """Have a fault from the beginning of a block until its end."""
    with _HOW[fault.kind](fault, fleet):
        yield


# --- processes ----------------------------------------------------------------------------------


@contextmanager
def _killed(fault: Fault, fleet: FaultyFleet) -> Iterator[None]:
    member = fleet.target(fault)
    killed_s = time.monotonic()
    member.kill()
    time.sleep(_NOTED_S)  # answers in transit are noted by their callers
    fleet.on_kill(member, killed_s)
    yield
    member.start()


@contextmanager
def _paused(fault: Fault, fleet: FaultyFleet) -> Iterator[None]:
    member = fleet.target(fault)
    member.pause()
    try:
        yield
    finally:
        member.resume()


@contextmanager
def _stopped(fault: Fault, fleet: FaultyFleet) -> Iterator[None]:
    _stop(fleet.target(fault), fleet)
    yield
    fleet.target(fault).start()


@contextmanager
def _skewed(fault: Fault, fleet: FaultyFleet) -> Iterator[None]:
    member = fleet.target(fault)
    _stop(member, fleet)
    member.start(skew_s=fault.amount_s)
    member.until_ready()
    yield
    _stop(member, fleet)
    member.start()


def _stop(member: FleetMember, fleet: FaultyFleet) -> None:
    code = member.stop()
    if code != 0:
        fleet.found.append(f"{member.name} ended with {code}: {member.log_tail()}")


# --- links --------------------------------------------------------------------------------------


@contextmanager
def _cut(ways: Sequence[TcpProxy]) -> Iterator[None]:
    for way in ways:
        way.refuse()
        way.cut()
    yield
    for way in ways:
        way.refuse(is_refusing=False)


@contextmanager
def _silent(ways: Sequence[TcpProxy]) -> Iterator[None]:
    for way in ways:
        way.silence()
    yield
    for way in ways:
        way.silence(is_silent=False)


@contextmanager
def _half_open(ways: Sequence[TcpProxy]) -> Iterator[None]:
    for way in ways:
        way.hold_answers()
    yield
    for way in ways:
        way.hold_answers(is_holding=False)


@contextmanager
def _slow(ways: Sequence[TcpProxy], amount_s: float) -> Iterator[None]:
    for way in ways:
        way.delay(amount_s)
    yield
    for way in ways:
        way.delay(0.0)


def _link(fault: Fault, fleet: FaultyFleet) -> list[TcpProxy]:
    return [fleet.target(fault).links[fault.part or "postgres"]]


# --- parts --------------------------------------------------------------------------------------


@contextmanager
def _postgres_killed(_: Fault, fleet: FaultyFleet) -> Iterator[None]:
    fleet.postgres.kill()
    yield
    fleet.postgres.start()


@contextmanager
def _valkey_lost(_: Fault, fleet: FaultyFleet) -> Iterator[None]:
    fleet.valkey.kill()
    fleet.valkey.empty()
    yield
    fleet.valkey.start()


@contextmanager
def _objects_full(_: Fault, fleet: FaultyFleet) -> Iterator[None]:
    fleet.objects.fill_disk()
    yield
    fleet.objects.empty_disk()


@contextmanager
def _compaction_killed(fault: Fault, fleet: FaultyFleet) -> Iterator[None]:
    with fleet.compact() as process:
        try:
            process.wait(fault.seconds)
        except subprocess.TimeoutExpired:
            process.kill()
    yield


_How = Callable[[Fault, FaultyFleet], AbstractContextManager[None]]

_HOW: Final[dict[FaultKind, _How]] = {
    "kill": _killed,
    "pause": _paused,
    "stop": _stopped,
    "two leaders": _paused,
    "clock skew": _skewed,
    "link cut": lambda fault, fleet: _cut(_link(fault, fleet)),
    "link silent": lambda fault, fleet: _silent(_link(fault, fleet)),
    "link half-open": lambda fault, fleet: _half_open(_link(fault, fleet)),
    "link slow": lambda fault, fleet: _slow(_link(fault, fleet), fault.amount_s),
    "postgres killed": _postgres_killed,
    "postgres cut": lambda _, fleet: _cut(fleet.ways("postgres")),
    "postgres silent": lambda _, fleet: _silent(fleet.ways("postgres")),
    "valkey lost": _valkey_lost,
    "valkey silent": lambda _, fleet: _silent(fleet.ways("valkey")),
    "objects refused": lambda _, fleet: _cut(fleet.ways("objects")),
    "objects silent": lambda _, fleet: _silent(fleet.ways("objects")),
    "objects full": _objects_full,
    "node cut": lambda _, fleet: _cut(fleet.ways("node")),
    "node silent": lambda _, fleet: _silent(fleet.ways("node")),
    "compaction killed": _compaction_killed,
}
