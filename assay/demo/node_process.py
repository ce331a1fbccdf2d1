"""Child processes that are killed when this process exits, even by SIGKILL, and free ports."""

import os
import signal
import socket
import subprocess
from collections.abc import Sequence
from pathlib import Path

_STOP_S = 5.0

# Runs the command and, in parallel, a reader of a pipe from this process. When this process exits
# for any reason, the pipe closes and the reader kills the command. (PR_SET_PDEATHSIG would tie the
# child to the thread that started it, not to the process, and exists on Linux only.)
_SCRIPT = """
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
    """Start a command in a new process group, without any output.

    `folder` None: the current one. Stop it with `stop_child`.
    """
    return subprocess.Popen(
        ["/bin/sh", "-c", _SCRIPT, "child", *command],
        cwd=folder,
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


def stop_child(child: subprocess.Popen[bytes]) -> None:
    """Stop the process group and wait for it. Harmless if it has ended."""
    if child.stdin is not None:
        child.stdin.close()
    try:
        child.wait(_STOP_S)
    except subprocess.TimeoutExpired:
        signal_child(child, signal.SIGKILL)
        child.wait()


def signal_child(child: subprocess.Popen[bytes], number: signal.Signals) -> None:
    """Send a signal to the process group, unless it has ended."""
    if child.poll() is None:
        os.killpg(child.pid, number)


def find_free_port() -> int:
    """Return a free TCP port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
