"""Stored form of a whole report except for its code's shape: zstd of its JSON text."""

import msgspec

from core.process import zstd
from core.report.report import Report

_LEVEL = 1
"""zstd level: higher ones take twice as long and save nothing on addresses and ids."""


def encode_body(report: Report) -> bytes:
    """Return the stored form of a report, with its rows in the order of the API's response."""
    return zstd.compress(msgspec.json.encode(_in_order(report)), level=_LEVEL)


def decode_body(body: bytes) -> Report | None:
    """Return the report from its stored form. None: it has another release's format."""
    try:
        text = zstd.decompress(body)
        return msgspec.json.decode(text, type=Report)
    except (zstd.ZstdError, msgspec.DecodeError):
        return None


def _in_order(report: Report) -> Report:
    pools = report.pools
    return msgspec.structs.replace(
        report,
        pools=None if pools is None else tuple(sorted(pools, key=lambda row: row.ordinal)),
        holders=tuple(sorted(report.holders, key=lambda row: (row.role, row.ordinal))),
        shape=None,
    )
