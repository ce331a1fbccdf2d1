"""Starts ten `assay sql` commands at once, and again when they have ended, until there is a line of
input: what the benchmark of analysts has beside the load.
"""

import os
import subprocess
import sys
import threading
import time

import msgspec

AT_ONCE = 10


class StartersSpec(msgspec.Struct, frozen=True, kw_only=True):
    """Where they work."""

    store: str


class StartersReport(msgspec.Struct, frozen=True, kw_only=True):
    """What came of it."""

    rounds_s: tuple[float, ...]
    """Seconds until the last of ten had its answer, round by round."""
    cpu_s: float
    """Processor time of one command, its statement's process included."""
    failed: int


def work(spec: StartersSpec) -> StartersReport:
    """Start commands until there is input."""
    env = {**os.environ, "ASSAY_STORE": spec.store}
    command = [sys.executable, "-m", "assay", "sql", "select count(*) from v_tokens"]
    rounds_s: list[float] = []
    failed = 0
    stop = threading.Event()
    threading.Thread(target=_await_line, args=[stop], daemon=True).start()
    while not stop.is_set():
        began_s = time.monotonic()
        started = [
            subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
            for _ in range(AT_ONCE)
        ]
        failed += sum(process.wait() != 0 for process in started)
        rounds_s.append(time.monotonic() - began_s)
    used = os.times()
    cpu_s = (used.children_user + used.children_system) / (AT_ONCE * len(rounds_s))
    return StartersReport(rounds_s=tuple(rounds_s), cpu_s=cpu_s, failed=failed)


def _await_line(stop: threading.Event) -> None:
    sys.stdin.readline()
    stop.set()


def main() -> None:
    """See the top."""
    os.setsid()  # as analysts have who log in: Linux shares the processor among sessions first
    spec = msgspec.json.decode(sys.argv[1], type=StartersSpec)
    _tell("at work")
    _tell(work(spec))
    sys.stdin.read()


def _tell(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.encode(value) + b"\n")
    sys.stdout.flush()


if __name__ == "__main__":
    main()
