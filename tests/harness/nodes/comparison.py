"""Comparison of two reports on the same token, as two nodes led to them, field by field."""

from collections import Counter
from collections.abc import Iterator

import msgspec

from core.report.report import PoolResultRow, Report

_OWN = frozenset({"block_hash", "scanned_at_s", "transfer_checked_at_s"})
"""Fields that differ between any two analyses on two chains."""
_UNKNOWN_WITH = {"privileged_spenders": "allowance_bypass"}
"""Lists that are empty where they are not known, with the field that is None then."""
_UNKNOWN_WORDS = {"liquidity_risk": "unknown"}
"""Fields with a word for unknown; None there means not requested."""
_REASONS = frozenset({"error_code", "error_message"})
_OF_CODE = frozenset({"name", "symbol", "decimals"})
"""Fields that follow from the code alone, in addition to the static findings."""
UNSIMULATED = frozenset({"simulation_unavailable", "missing_swap_parameters"})
"""Error codes that explain an unknown trade."""


class Comparison(msgspec.Struct, frozen=True):
    """Gaps and contradictions of another node's reports."""

    nulls: Counter[str]
    """Tokens, by the field that is None although the reference knows it."""
    different: list[str]
    """A line for each field with another value."""


def compare_reports(reference: Report, other: Report, *, is_same_chain: bool) -> Comparison:
    """Compare all fields except the evidence.

    `is_same_chain` False: the other node could not run all transactions, so only fields that follow
    from the code are compared.
    """
    nulls: Counter[str] = Counter()
    different: list[str] = []
    pairs = _pairs(reference, other, different) if is_same_chain else _of_code(reference, other)
    for place, known, found in pairs:
        if known == found:
            continue
        if found is None:
            nulls[place] += 1
        else:
            different.append(f"{place}: {known!r} became {found!r}")
    return Comparison(Counter(dict.fromkeys(nulls, 1)), different)


def _pairs(
    reference: Report, other: Report, different: list[str]
) -> Iterator[tuple[str, object, object]]:
    """Yield the name, the known and the found value of each field."""
    for part in ("token", "static", "scan"):
        known, found = getattr(reference, part), getattr(other, part)
        yield from _fields(known, found)
    yield "holders", reference.holders, other.holders
    yield "clock_limits", reference.clock_limits, other.clock_limits
    if reference.pools is None or other.pools is None:
        yield "pools", reference.pools, other.pools
        return
    if len(reference.pools) != len(other.pools):
        different.append(f"pools: {len(reference.pools)} became {len(other.pools)}")
    for one, another in zip(reference.pools, other.pools, strict=False):
        yield from _pool_fields(one, another)


def _of_code(reference: Report, other: Report) -> Iterator[tuple[str, object, object]]:
    yield from _fields(reference.static, other.static)
    for name in _OF_CODE:
        yield name, getattr(reference.token, name), getattr(other.token, name)


def _fields(known: msgspec.Struct, found: msgspec.Struct) -> Iterator[tuple[str, object, object]]:
    for name in known.__struct_fields__:
        if name not in _OWN:
            yield name, _value(known, name), _value(found, name)


def _value(findings: msgspec.Struct, name: str) -> object:
    value = getattr(findings, name)
    if value is not None and value == _UNKNOWN_WORDS.get(name):
        return None
    if name in _UNKNOWN_WITH and getattr(findings, _UNKNOWN_WITH[name]) is None:
        return value or None
    return value


def _pool_fields(
    known: PoolResultRow, found: PoolResultRow
) -> Iterator[tuple[str, object, object]]:
    """A trade that could not be simulated has another error than one that could."""
    is_unsimulated = found.buy is found.sell is None and found.error_code in UNSIMULATED
    for name in known.__struct_fields__:
        if not (is_unsimulated and name in _REASONS):
            yield f"pools.{name}", getattr(known, name), getattr(found, name)
