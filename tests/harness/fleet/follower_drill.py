"""Drills of two followers on one chain: the one that follows is killed, paused or cut off."""

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Final, Literal, get_args

import msgspec
import psycopg

from assay.service.follow_role import follow_lease
from sql.chain.blocks import FOLLOW
from tests.harness.fault_simulation.expected_rows import differences_from
from tests.harness.fault_simulation.real_kills import FollowedChain, followed_chain, go_on
from tests.harness.fault_simulation.stored_rows import read_database
from tests.harness.parts.tcp_proxy import TcpProxy, proxied

Fault = Literal["kill", "pause", "silence", "cut", "stop"]
"""Faults of the follower with the lease.

kill: SIGKILL. pause: SIGSTOP until another follows. silence: its connections to the database stay
open and carry nothing. cut: they are reset, and new ones refused. stop: SIGTERM.
"""

FAULTS: Final[tuple[Fault, ...]] = get_args(Fault)

_WORLD = 1
_FINALITY = 6
_WITHIN_S = 60.0
_LOOK_EVERY_S = 0.02
_LEASE = "select token, holder from lease where name = %s and expires_at > clock_timestamp()"
_TIP = "select '0x' || encode(hash, 'hex') from checkpoint where stream = %s"


class DrillOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one fault."""

    fault: Fault
    taken_over_s: float
    """From the fault until the other process had the lease."""
    following_s: float
    """From the fault until the other process had stored a block that came after it."""
    differences: tuple[str, ...]
    """Differences between store and chain afterwards."""


class _Follower:
    """One process, with its own way to the database."""

    def __init__(self, proxy: TcpProxy, command: list[str], world: FollowedChain) -> None:
        self.proxy = proxy
        self._command = command
        self._world = world
        self.process = self._start()

    def _start(self) -> "subprocess.Popen[bytes]":
        """Start it, and wait until it requests the lease, as a start is no part of a take-over."""
        process = subprocess.Popen(self._command, stderr=self._world.errors, stdout=subprocess.PIPE)
        if process.stdout is not None:
            process.stdout.readline()
        return process

    def suffer(self, fault: Fault) -> None:
        if fault == "silence":
            self.proxy.silence()
        elif fault == "cut":
            self.proxy.refuse()
            self.proxy.cut()
        else:
            self.process.send_signal(_SIGNALS[fault])

    def recover(self, fault: Fault) -> None:
        """Be as before: it finds out that another has taken over."""
        if fault == "silence":
            self.proxy.silence(is_silent=False)
        elif fault == "cut":
            self.proxy.refuse(is_refusing=False)
        elif fault == "pause":
            self.process.send_signal(signal.SIGCONT)
        else:
            self.process.communicate(timeout=_WITHIN_S)
            self.process = self._start()

    def end(self) -> None:
        self.process.kill()
        self.process.communicate()


_SIGNALS: Final = {"kill": signal.SIGKILL, "pause": signal.SIGSTOP, "stop": signal.SIGTERM}


class FollowerDrill:
    """Two followers of one chain on one database."""

    def __init__(self, world: FollowedChain, followers: list[_Follower], url: str) -> None:
        self._world = world
        self._followers = followers
        self._url = url
        self._lease = follow_lease(world.model.chain.id)

    def suffer(self, fault: Fault) -> DrillOutcome:
        """Inject a fault into the follower, and wait until the other is level.

        The chain goes on and forks in the meantime.
        """
        self._come_level()
        token, leader = self._leader()
        began_s = time.monotonic()
        leader.suffer(fault)
        for _ in range(3):
            go_on(self._world.model, self._world.dice)
        while (lease := self._held()) is None or lease[0] <= token:
            self._pause(began_s)
        taken_over_s = time.monotonic() - began_s
        self._world.model.grow(1)
        self._wait_level(began_s)
        following_s = time.monotonic() - began_s
        leader.recover(fault)
        go_on(self._world.model, self._world.dice)
        self._come_level()
        return DrillOutcome(
            fault=fault,
            taken_over_s=taken_over_s,
            following_s=following_s,
            differences=tuple(self._differences()),
        )

    def _come_level(self) -> None:
        self._world.model.grow(1)
        self._wait_level(time.monotonic())

    def _wait_level(self, began_s: float) -> None:
        head = self._world.model.head.hash
        while self._read(_TIP, FOLLOW) != (head,):
            self._pause(began_s)

    def _leader(self) -> tuple[int, _Follower]:
        began_s = time.monotonic()
        while (lease := self._held()) is None:
            self._pause(began_s)
        token, holder = lease
        for follower in self._followers:
            if f"-{follower.process.pid}-" in holder:
                return token, follower
        raise AssertionError(holder)

    def _held(self) -> tuple[int, str] | None:
        found = self._read(_LEASE, self._lease)
        return None if found is None else (int(str(found[0])), str(found[1]))

    def _read(self, query: str, value: str) -> tuple[object, ...] | None:
        with psycopg.connect(self._url) as connection:
            try:
                return connection.execute(query.encode(), (value,)).fetchone()
            except psycopg.errors.UndefinedTable:
                return None

    def _differences(self) -> list[str]:
        """Read while the follower stands still: the chain does."""
        return differences_from(read_database(self._url), self._world.model)

    def _pause(self, began_s: float) -> None:
        if time.monotonic() - began_s > _WITHIN_S:
            self._world.errors.seek(0)
            message = f"not within {_WITHIN_S:g} s: {self._world.errors.read()[-3000:]}"
            raise AssertionError(message)
        time.sleep(_LOOK_EVERY_S)


@contextmanager
def two_followers(url: str, seed: int, *, skew_s: float = 0.0) -> Iterator[FollowerDrill]:
    """Start two followers of a made-up chain on the empty database at a URL. `skew_s`: how far the
    clock of one is ahead, and that of the other behind."""
    port = psycopg.conninfo.conninfo_to_dict(url)["port"]
    skewed, module = "tests.harness.fleet.skewed_clock", "tests.harness.fleet.follower_process"
    with ExitStack() as stack:
        world = stack.enter_context(followed_chain(seed))
        followers = []
        for own_skew_s in (skew_s, -skew_s):
            proxy = stack.enter_context(proxied(int(str(port))))
            own_url = url.replace(f":{port}", f":{proxy.port}")
            words = [world.url, own_url, str(_WORLD), str(_FINALITY)]
            clock = [sys.executable, "-m", skewed, str(own_skew_s)]
            follower = _Follower(proxy, [*clock, module, *words], world)
            stack.callback(follower.end)
            followers.append(follower)
        yield FollowerDrill(world, followers, url)
