"""A report of which nothing but the least is known: its token's past is fetched from then on."""

from typing import Any

from core.fields.scan_findings import ScanFindings
from core.fields.static_findings import StaticFindings
from core.primitives import Address, RawAmount
from core.report import Report, ReportRow

_SUPPLY = RawAmount(10**70)
"""More than there ever is: only the first block of a token makes its past whole."""


def report_on(token: Address, chain_id: int) -> Report:
    """A settled report on a token."""
    known: dict[str, Any] = {
        "chain_id": chain_id,
        "address": token,
        "block_number": 1,
        "block_hash": "0x" + "00" * 32,
        "block_time_s": 1,
        "scanned_at_s": 1,
        "is_settled": True,
        "name": "Token",
        "symbol": "TKN",
        "decimals": 18,
        "supply_raw": _SUPPLY,
        "burned_raw": RawAmount(0),
        "privileged_spenders": (),
    }
    unknown: dict[str, Any] = dict.fromkeys(ReportRow.__struct_fields__)
    return Report(
        token=ReportRow(**{**unknown, **known}),
        static=StaticFindings(),
        scan=ScanFindings(),
        pools=None,
        holders=(),
        clock_limits=(),
        evidence=(),
    )
