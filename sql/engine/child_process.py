"""Child processes that run one module, isolated from this process."""

import ctypes
import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, cast

_ROOT = Path(__file__).parents[2]
_READ_BYTES = 1 << 16
_PR_SET_PDEATHSIG = 1


@contextmanager
def start_child(
    module: str, request: bytes, *, niceness: int, keeps_open: Sequence[int] = ()
) -> Iterator["subprocess.Popen[bytes]"]:
    """Start `main` of a module with a request on its standard input; yield the process.

    Its standard output is a pipe. It is killed at the end of the block and when this process ends.
    It runs in a new session, so it gets no signals of the terminal, with the code of this process,
    and with an empty environment, so it sees no secrets of the service.

    niceness: its priority, as of `nice`, unless this process has a lower one. keeps_open: file
    descriptors that it inherits.
    """
    # Before all imports: that of DuckDB takes a third of a second of processor time.
    program = (
        f"import sys; sys.path[:0] = [{str(_ROOT)!r}]; "
        f"from core.process.low_priority import lower_priority; lower_priority({niceness}); "
        "from core.process.time_slice import restore_time_slice; restore_time_slice(); "
        f"from sql.engine.child_process import end_with_starter; end_with_starter({os.getpid()}); "
        f"from {module} import main; main()"
    )
    cache = ["-X", f"pycache_prefix={sys.pycache_prefix}"] if sys.pycache_prefix else []
    process = subprocess.Popen(
        [sys.executable, "-P", *cache, "-c", program],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env={"LC_ALL": "C.UTF-8"},
        pass_fds=keeps_open,
        start_new_session=True,  # its priority is that of a session: see `lower_priority`
    )
    try:
        # It may end before it has read everything; its output shows how it ended.
        with suppress(BrokenPipeError), cast(IO[bytes], process.stdin) as pipe:
            pipe.write(request)
        yield process
    finally:
        process.kill()
        process.wait()
        cast(IO[bytes], process.stdout).close()


def end_with_starter(starter: int) -> None:
    """Have the system kill this process when its parent `starter` ends.

    Raises SystemExit if the parent has ended already.
    """
    with suppress(AttributeError):  # not Linux
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != starter:
        sys.exit()


def read_some(process: "subprocess.Popen[bytes]", *, wait_s: float) -> bytes | None:
    """Return the next output of a process, waiting at most `wait_s`. None: nothing yet.

    Empty at the end of the output.
    """
    out = cast(IO[bytes], process.stdout).fileno()
    output = select.poll()  # select() takes no descriptor above 1,023
    output.register(out)
    return os.read(out, _READ_BYTES) if output.poll(1_000 * wait_s) else None
