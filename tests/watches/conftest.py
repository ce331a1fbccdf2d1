"""Receivers of webhooks of each test's own."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from api.watches.delivery.webhook_signature import new_secret
from core.process.secret import Secret
from tests.harness.watches.webhook_receiver import Received, read_log, set_mode
from tests.house.sources import ROOT


class Receiver:
    """A receiver that can be killed and started again at the same port."""

    def __init__(self, log: Path) -> None:
        self.secret: Secret = new_secret()
        self.log = log
        self._port = 0
        self._process: subprocess.Popen[str] | None = None
        self.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._port}/hook"

    @property
    def taken(self) -> list[Received]:
        return read_log(self.log)

    def answer(self, mode: str) -> None:
        set_mode(self.log, mode)

    def sign_with(self, secret: str) -> None:
        """Expect signatures by this secret from now on."""
        self.kill()
        self.secret = Secret(secret)
        self.start()

    def start(self) -> None:
        self._process = subprocess.Popen(
            [
                *(sys.executable, "-m", "tests.harness.watches.webhook_receiver"),
                *(str(self._port), self.secret.value, str(self.log)),
            ],
            cwd=ROOT,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._port = int(self._process.stdout.readline())

    def kill(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


@pytest.fixture
def make_receiver(tmp_path: Path) -> Iterator[Callable[[], Receiver]]:
    made: list[Receiver] = []

    def make() -> Receiver:
        made.append(Receiver(tmp_path / f"receiver{len(made)}.log"))
        return made[-1]

    yield make
    for receiver in made:
        receiver.kill()
