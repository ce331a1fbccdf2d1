"""Child processes that end with ours, however it ends, and the ports they listen on."""

import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

_STOP_S = 5.0

# Runs the command and, beside it, a reader of our end of a pipe. When this process goes, however it
# goes, the pipe closes and the reader ends the command. (PR_SET_PDEATHSIG would tie the child to
# the thread that started it, not to the process, and exists on Linux only.)
_LEASH = """
exec 3<&0 </dev/null
"$@" 3<&- &
node=$!
{ read -r _ <&3; kill -KILL "$node"; } 2>/dev/null &
reader=$!
exec 3<&-
wait "$node"
kill -KILL "$reader" 2>/dev/null
wait
"""


def start_child(command: Sequence[str], *, folder: Path | None = None) -> subprocess.Popen[bytes]:
    """Start a command in a process group of its own, without any output.

    `folder` None: ours. End it by `stop_child`.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _LEASH, "leash", *command],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def stop_child(leash: subprocess.Popen[bytes]) -> None:
    """End the process group, and wait for it. Harmless when it has ended."""
    if leash.stdin is not None:
        leash.stdin.close()
    try:
        leash.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        signal_child(leash, signal.SIGKILL)
        leash.wait()


def signal_child(leash: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the process group, unless it has ended."""
    if leash.poll() is None:
        os.killpg(leash.pid, number)


def find_free_port() -> int:
    """Return a TCP port that nobody listens on now."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
