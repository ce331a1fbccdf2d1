"""Store and ledger with reports and keys, and the server and requests over them."""

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from assay.service.record_report import record_report
from assay.service.refresh_policy import next_refresh
from config.plans import load_plans
from config.settings import AnalysisSettings
from core.evm.primitives import Address
from core.report.report import PoolResultRow, Report
from sql.accounts.ledger import Ledger
from sql.engine.store import Store
from tests.harness.api.sample_reports import DEAD, make_holder, make_pool, make_report
from tests.harness.measure.http_load import Load
from tests.harness.measure.machine import ROOT
from tests.harness.measure.process_cost import Process
from tests.harness.measure.table_server import LEDGER, STORE

KEYS = 600
"""Keys on the plan `enterprise`, 50 calls a second each: more than any server here can serve."""
TOKENS = 300
POOLS = 11
"""Pools of a usual report; with them a response has about 6 KB."""
MANY_POOLS = 30_000
"""Pools of the report of token number `TOKENS`."""


class Server(Process):
    """A child process that serves."""

    def __init__(self, pid: int, port: int) -> None:
        super().__init__(pid)
        self.port = port


@contextmanager
def serving(kind: str, path: Path) -> Iterator[Server]:
    """Run one server of `table_server`, stopped at the end."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.harness.measure.table_server", kind, str(path)],
        cwd=ROOT,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # as service managers start it
    )
    try:
        yield Server(process.pid, int(process.stdout.readline() if process.stdout else ""))
    finally:
        process.terminate()
        process.wait(30)


def numbered_address(number: int) -> Address:
    """Return a distinct address for each number."""
    return Address(f"0x{number + 2**150:040x}")


def prepare_tables(folder: Path) -> list[str]:
    """Write a store with reports and a ledger; return the keys."""
    with closing(Store.open(folder / STORE)) as store:
        for token in range(TOKENS):
            _write(store, _report_of(token, POOLS))
        _write(store, _report_of(TOKENS, MANY_POOLS))
    plan = load_plans()["enterprise"]
    with closing(Ledger.open(folder / LEDGER)) as ledger:
        return [ledger.create_key(plan, "bench", time.time()).plaintext for _ in range(KEYS)]


def _report_of(token: int, pools: int) -> Report:
    """Build a fresh settled report with that many pools and ten holders."""
    rows: list[PoolResultRow] = [
        make_pool(
            ordinal=at,
            pool=numbered_address(1000 * token + at),
            liquidity_usd=90_000.0 / (at + 1),
        )
        for at in range(pools)
    ]
    holders = [make_holder(numbered_address(at), 10**22, at=at) for at in range(10)]
    return make_report(
        pools=tuple(rows),
        holders=(*holders, make_holder(DEAD, 10**21, role="burn")),
        address=numbered_address(token),
        scanned_at_s=int(time.time()),
    )


def _write(store: Store, report: Report) -> None:
    record_report(store, report, next_refresh(report, AnalysisSettings()))


def token_request(token: int, key: str) -> bytes:
    """Encode one HTTP request for the report of a token."""
    path = f"/token/1/{numbered_address(token)}"
    lines = (f"GET {path} HTTP/1.1", "Host: localhost", f"X-API-Key: {key}")
    return "\r\n".join((*lines, "", "")).encode()


def require_success(load: Load) -> Load:
    """Return the load. Ends the program where a call failed."""
    if set(load.statuses) != {200}:
        sys.exit(f"not every call succeeded: {load.statuses}")
    return load
