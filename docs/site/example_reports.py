"""Record the reports behind the examples of the OpenAPI document: `make examples`.

They are reports of the demo's tokens, without the long evidence of simulated calls.
"""

import time
from collections.abc import Iterable
from contextlib import closing
from typing import Final

import msgspec

from api.formats.token_snapshot import is_settled
from core.evm.primitives import Address
from core.report.report import EvidenceRow, Report
from docs.site.demo_run import ROOT, running_demo
from sql.engine.store import Store
from sql.reports.report_tables import read_report

REPORTS: Final = ROOT / "api" / "openapi" / "example_reports.json"

SYMBOLS: Final = ("TRAP", "BURN", "FUSE", "HTRAP", "FRESH", "CLONE", "FIXED")
"""The first is the example of every format; the others have values for its null fields."""

_MOST_CHARS: Final = 1_000
_CHAIN_ID: Final = 1
_WAIT_S: Final = 300.0
_PAUSE_S: Final = 1.0


def shortened(report: Report) -> Report:
    """Remove long evidence (simulated calls) and the storage words, which no answer includes."""
    return msgspec.structs.replace(report, evidence=tuple(_short(report.evidence)), state=None)


def _short(rows: Iterable[EvidenceRow]) -> Iterable[EvidenceRow]:
    return (row for row in rows if len(row.body) <= _MOST_CHARS and '"calls"' not in row.body)


def encoded(reports: Iterable[Report]) -> bytes:
    """Encode the file: one report per line."""
    lines = ",\n".join(msgspec.json.encode(report).decode() for report in reports)
    return f"[\n{lines}\n]\n".encode()


def _await_report(store: Store, address: Address) -> Report:
    """Wait for the settled report. Raises TimeoutError."""
    until_s = time.monotonic() + _WAIT_S
    while time.monotonic() < until_s:
        report = read_report(store, chain_id=_CHAIN_ID, address=address)
        if report is not None and is_settled(report):
            return report
        time.sleep(_PAUSE_S)
    message = f"no report on {address}"
    raise TimeoutError(message)


def main() -> None:
    """Write the file. Raises RuntimeError without a demo, TimeoutError without a report."""
    with running_demo() as demo, closing(Store.open(demo.store, must_exist=True)) as store:
        reports = [_await_report(store, demo.tokens[symbol]) for symbol in SYMBOLS]
    REPORTS.write_bytes(encoded(map(shortened, reports)))


if __name__ == "__main__":
    main()
