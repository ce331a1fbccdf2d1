"""Rolling upgrade of a fleet under load.

Every process of one version is replaced by one of another, one after the other, while callers send
requests to whichever API process reports ready.
"""

import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from itertools import count
from pathlib import Path
from typing import Final, Literal

import httpx
import msgspec

from core.evm.primitives import Address
from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError

Role = Literal["follow", "analyse", "api"]

FLEET: Final[tuple[Role, ...]] = ("follow", "analyse", "api", "api")
"""Roles in the order in which their processes are replaced."""

PROBE_EVERY_S: Final = 0.2
"""Interval of a balancer's /ready; processes must drain for longer than that."""

_START_S = 60.0
_STOP_S = 30.0
_ANSWER_S = 20.0
_CALLERS = 3
_LOG_TAIL_CHARS = 3_000


class UpgradeOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Answers and failures during an upgrade."""

    answers: Counter[int]
    """Answers by HTTP status."""
    by_version: tuple[int, int]
    """Answers of the version before, and of the one after."""
    failures: tuple[str, ...]
    """Requests without an answer or with another status than 200, and processes with another exit
    code than 0."""
    replaced_s: tuple[float, ...]
    """Seconds of each replacement, from the start of the new process to the end of the old one."""


class _Member:
    """One process of the fleet."""

    def __init__(
        self, role: Role, root: Path, env: Mapping[str, str], log: Path, *, is_after: bool
    ) -> None:
        self.role: Final = role
        self.is_after: Final = is_after
        self.url: Final = f"http://127.0.0.1:{(port := free_port())}"
        self._log = log
        words = ("-m", "assay", "serve", "--role", role, "--port", str(port))
        with log.open("wb") as output:
            # Of that version: modules are looked up in the working folder first.
            self.process = subprocess.Popen(
                (sys.executable, *words), cwd=root, env=env, stdout=output, stderr=output
            )

    def is_ready(self) -> bool:
        try:
            return httpx.get(f"{self.url}/ready", timeout=_ANSWER_S).status_code == httpx.codes.OK
        except httpx.TransportError:
            return False

    def until_ready(self) -> None:
        until_s = time.monotonic() + _START_S
        while not self.is_ready():
            if self.process.poll() is not None or time.monotonic() > until_s:
                message = f"{self.role} is not ready: {self.log_tail()}"
                raise PartFailedError(message)
            time.sleep(PROBE_EVERY_S / 4)

    def stop(self) -> int:
        """Return the exit code after SIGTERM."""
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(_STOP_S)

    def kill(self) -> None:
        self.process.kill()
        self.process.wait()

    def log_tail(self) -> str:
        return self._log.read_text(errors="replace")[-_LOG_TAIL_CHARS:]


class _Balancer:
    """Sends each request to the next API process that last reported ready."""

    def __init__(self) -> None:
        self.members: list[_Member] = []
        self._ready: list[_Member] = []
        self._turns = count()

    def probe(self) -> None:
        self._ready = [member for member in tuple(self.members) if member.is_ready()]

    def next(self) -> _Member | None:
        ready = self._ready
        return ready[next(self._turns) % len(ready)] if ready else None


class Upgrade:
    """Running fleet of one version, and its callers' results so far."""

    def __init__(
        self,
        stack: ExitStack,
        start: Callable[[Role, Path | None], _Member],
        *,
        tokens: Sequence[Address],
        key: str,
    ) -> None:
        self._stack = stack
        self._start = start
        self._tokens = tokens
        self._headers = {"X-API-Key": key}
        self._balancer = _Balancer()
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._answers: Counter[int] = Counter()
        self._sides = [0, 0]
        self._failures: list[str] = []
        self._members = [self._begin(role, None) for role in FLEET]

    def run(self, after: Path, *, between_s: float) -> UpgradeOutcome:
        """Replace all processes under load; `between_s` is waited before each, and at the end."""
        threads = [threading.Thread(target=self._probe)]
        threads += [threading.Thread(target=self._call, args=(at,)) for at in range(_CALLERS)]
        for thread in threads:
            thread.start()
        replaced_s = []
        try:
            for at, old in enumerate(self._members):
                time.sleep(between_s)
                began_s = time.monotonic()
                self._members[at] = self._begin(old.role, after)
                code = old.stop()
                if code != 0:
                    self._failures.append(f"{old.role} ended with {code}: {old.log_tail()}")
                if old in self._balancer.members:
                    self._balancer.members.remove(old)
                replaced_s.append(time.monotonic() - began_s)
            time.sleep(between_s)
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()
        return UpgradeOutcome(
            answers=self._answers,
            by_version=(self._sides[0], self._sides[1]),
            failures=tuple(self._failures),
            replaced_s=tuple(replaced_s),
        )

    def _begin(self, role: Role, after: Path | None) -> _Member:
        member = self._start(role, after)
        self._stack.callback(member.kill)
        member.until_ready()
        if role == "api":
            self._balancer.members.append(member)
            self._balancer.probe()
        return member

    def _probe(self) -> None:
        while not self._ended.wait(PROBE_EVERY_S):
            self._balancer.probe()

    def _call(self, first: int) -> None:
        at = first
        while not self._ended.is_set():
            token = self._tokens[at % len(self._tokens)]
            at += 1
            self._ask(f"/token/1/{token}")

    def _ask(self, path: str) -> None:
        member = self._balancer.next()
        if member is None:
            self._fail(f"{path}: no API process is ready")
            time.sleep(PROBE_EVERY_S)
            return
        try:
            answer = httpx.get(member.url + path, headers=self._headers, timeout=_ANSWER_S)
        except httpx.HTTPError as error:
            self._fail(f"{path}: {error!r}")
            return
        with self._lock:
            self._answers[answer.status_code] += 1
            self._sides[member.is_after] += 1
        if answer.status_code != httpx.codes.OK:
            self._fail(f"{path}: {answer.status_code} {answer.text[:200]}")

    def _fail(self, what: str) -> None:
        with self._lock:
            self._failures.append(what)


@contextmanager
def running_fleet(
    root: Path, env: Mapping[str, str], folder: Path, *, tokens: Sequence[Address], key: str
) -> Iterator[Upgrade]:
    """Run a fleet of the version whose code is in `root`.

    `env`: its whole environment; `folder`: for logs; `tokens`: requested by the callers with `key`,
    on the chain with id 1. Raises PartFailedError when a process does not become ready.
    """
    numbers = count(1)

    def start(role: Role, after: Path | None) -> _Member:
        log = folder / f"{next(numbers):02}-{role}.log"
        return _Member(role, after or root, env, log, is_after=after is not None)

    with ExitStack() as stack:
        yield Upgrade(stack, start, tokens=tokens, key=key)
