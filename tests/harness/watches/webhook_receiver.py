"""Receiver of webhooks in a separate process, until a signal ends it.

python -m tests.harness.watches.webhook_receiver PORT SECRET LOG

Verifies each message with the library of the specification and writes its id and type to the log,
on disk before it answers. Its answers follow the file next to the log, which has a mode and may
change at any time. Prints its port.
"""

import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import ClassVar

import msgspec
from standardwebhooks import Webhook, WebhookVerificationError


class Received(msgspec.Struct, frozen=True, kw_only=True):
    """One message that was verified and taken."""

    id: str
    type: str
    body: dict[str, object]


class _Handler(BaseHTTPRequestHandler):
    secret: ClassVar[str]
    log: ClassVar[Path]

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        mode = read_mode(self.log)
        if mode == "hang":
            time.sleep(60)
        if mode.isdigit():
            self._answer(int(mode))
            return
        try:
            Webhook(self.secret).verify(body, dict(self.headers.items()))
        except WebhookVerificationError:
            self._answer(401)
            return
        decoded = msgspec.json.decode(body)
        taken = Received(id=self.headers["webhook-id"], type=decoded["type"], body=decoded)
        with self.log.open("ab") as file:
            file.write(msgspec.json.encode(taken) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._answer(204)

    def _answer(self, status: int) -> None:
        self.send_response(status)
        if status // 100 == 3:
            self.send_header("Location", f"http://{self.headers['Host']}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Log nothing."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True


def read_mode(log: Path) -> str:
    """ok, hang, or a status."""
    file = log.with_suffix(".mode")
    return file.read_text().strip() if file.exists() else "ok"


def set_mode(log: Path, mode: str) -> None:
    """Have the receiver answer otherwise from now on."""
    new = log.with_suffix(".new")
    new.write_text(mode)
    new.replace(log.with_suffix(".mode"))


def read_log(log: Path) -> list[Received]:
    """Every message that was taken, in order; one cut short by a kill was not."""
    if not log.exists():
        return []
    lines = log.read_bytes().split(b"\n")[:-1]
    return [msgspec.json.decode(line, type=Received) for line in lines if line.endswith(b"}")]


if __name__ == "__main__":
    _Handler.secret, _Handler.log = sys.argv[2], Path(sys.argv[3])
    with _Server(("127.0.0.1", int(sys.argv[1])), _Handler) as server:
        sys.stdout.write(f"{server.server_address[1]}\n")
        sys.stdout.flush()
        server.serve_forever()
