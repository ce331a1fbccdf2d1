"""Reports of which nothing but the least is known."""

from typing import Any

from core.evm.primitives import Address, RawAmount
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from core.report.report import Report, ReportRow


def bare_report(
    token: Address,
    *,
    chain_id: int = 1,
    scanned_at_s: int = 1,
    is_settled: bool = True,
    supply_raw: int = 10**24,
) -> Report:
    """A report on a token; its past is fetched from then on."""
    known: dict[str, Any] = {
        "chain_id": chain_id,
        "address": token,
        "block_number": 1,
        "block_hash": "0x" + "00" * 32,
        "block_time_s": 1,
        "scanned_at_s": scanned_at_s,
        "is_settled": is_settled,
        "name": "Token",
        "symbol": "TKN",
        "decimals": 18,
        "supply_raw": RawAmount(supply_raw),
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
