"""Protects the end: admitted calls are answered and counted, and the process ends silently."""

import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pytest

from sql.accounts.ledger import Ledger
from tests.harness.api.sample_reports import MINED_AT_S, TOKEN
from tests.harness.api.world import PLANS
from tests.house.sources import ROOT

pytestmark = pytest.mark.process

PATH = f"/token/1/{TOKEN}"
CALLERS = 4
MOST_S = 60


def start(path: Path) -> tuple["subprocess.Popen[str]", int]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.harness.api.served_process", str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    return process, int(process.stdout.readline())


def call_until_it_ends(base: str, key: str, answered: list[int]) -> None:
    """Call over one connection; a call that is cut off does not count."""
    with httpx.Client(base_url=base, headers={"X-API-Key": key}, timeout=MOST_S) as client:
        while True:
            try:
                answered.append(client.get(PATH).status_code)
            except httpx.TransportError:
                return


@pytest.mark.parametrize(("name", "plan"), [(signal.SIGTERM, "pro"), (signal.SIGINT, "admin")])
def test_under_load_no_count_is_lost_and_nothing_is_said(
    tmp_path: Path, name: signal.Signals, plan: str
) -> None:
    path = tmp_path / "ledger.sqlite"
    ledger = Ledger.open(path)
    new = ledger.create_key(PLANS[plan], "test", MINED_AT_S)
    process, port = start(path)
    idle = [socket.create_connection(("127.0.0.1", port)) for _ in range(20)]
    answered: list[int] = []
    callers = [
        threading.Thread(
            target=call_until_it_ends, args=(f"http://127.0.0.1:{port}", new.plaintext, answered)
        )
        for _ in range(CALLERS)
    ]
    for caller in callers:
        caller.start()
    while len(answered) < 200:
        assert process.poll() is None
        time.sleep(0.01)
    process.send_signal(name)
    _, said = process.communicate(timeout=MOST_S)
    for caller in callers:
        caller.join(MOST_S)
    for connection in idle:
        connection.close()
    assert (process.returncode, said) == (0, "")
    let_in = sum(status == 200 for status in answered)
    assert set(answered) <= {200, 429}
    # A call may be counted and its answer cut off, one for each caller; none the other way round.
    counted = ledger.usage(new.row.key_id, MINED_AT_S).day
    assert let_in <= counted <= let_in + CALLERS
    ledger.close()
