"""Analysed tokens of chain 1 in a store, for searches."""

from typing import Any

import msgspec

from assay.service.record_report import NextRefresh, record_report
from core.evm.primitives import Address
from core.report.report import Report
from sql.engine.store import Store
from tests.harness.api.sample_reports import make_pool, make_report

LATER = NextRefresh(worth=0, due_s=2**40)
"""No test lives to see it."""


def address(number: int) -> Address:
    """The address of a number, none of them a burn address."""
    return Address(f"0x{number + 0xAA00:040x}")


def token(number: int, symbol: str, name: str = "", usd: float = 0.0, **changes: Any) -> Report:
    """A token of chain 1 with so much in its only pool."""
    pool = msgspec.structs.replace(changes.pop("pool", make_pool()), quote_side_usd=usd)
    return make_report(address=address(number), symbol=symbol, name=name, pools=(pool,), **changes)


def fill(store: Store, *reports: Report) -> None:
    """Store reports in this order."""
    for report in reports:
        record_report(store, report, LATER)
