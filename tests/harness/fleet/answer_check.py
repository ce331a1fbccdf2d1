"""Check of an answer on a token: the known behaviour, or unknown."""

from typing import Final, Literal

import msgspec

from tests.harness.fleet.traded_chain import KnownToken

Verdict = Literal["danger", "warning", "safe", "not_tested"]

_PENDING: Final = "pending"
_TAX_WITHIN: Final = 0.2
"""Percentage points: simulated amounts are rounded."""


class _Pool(msgspec.Struct, kw_only=True):
    buy_success: bool | str | None
    buy_tax: float | str | None
    sell_success: bool | str | None
    sell_tax: float | str | None


class _Features(msgspec.Struct, kw_only=True):
    dex: list[_Pool]


class _Native(msgspec.Struct, kw_only=True):
    contract_address: str
    error_code: str | None
    features: _Features


class _Dominant(msgspec.Struct, kw_only=True):
    buy_tax: float | None
    sell_tax: float | None


class _Summary(msgspec.Struct, kw_only=True):
    contract_address: str
    error_code: str | None
    verdict: Verdict
    unknown_flag_count: int
    can_buy: bool | None
    can_sell: bool | None
    dominant_pool: _Dominant | None


class CalmAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """Answer of a fleet without faults on a token."""

    verdict: Verdict
    unknown: int
    """Checks without an answer."""


def read_calm(body: bytes) -> CalmAnswer | None:
    """Read the answer to compare with from a summary. None: it is not settled."""
    found = msgspec.json.decode(body, type=_Summary)
    if found.can_buy is None or found.can_sell is None or found.dominant_pool is None:
        return None
    return CalmAnswer(verdict=found.verdict, unknown=found.unknown_flag_count)


def wrong_in_summary(body: bytes, token: KnownToken, calm: CalmAnswer) -> list[str]:
    """Return the errors in a summary, as text."""
    try:
        found = msgspec.json.decode(body, type=_Summary)
    except msgspec.DecodeError as error:
        return [f"not a summary: {error}"]
    wrong = _wrong_address(found.contract_address, token)
    wrong += _wrong_value("can_buy", found.can_buy, expected=True)
    wrong += _wrong_value("can_sell", found.can_sell, expected=token.can_sell)
    if found.dominant_pool is not None:
        wrong += _wrong_tax("buy_tax", found.dominant_pool.buy_tax, token.buy_tax)
        wrong += _wrong_tax("sell_tax", found.dominant_pool.sell_tax, token.sell_tax)
    allowed = {calm.verdict}
    is_less = found.unknown_flag_count > calm.unknown
    if is_less or found.can_buy is None or found.can_sell is None:
        allowed |= {"not_tested", "warning"}
    if found.verdict not in allowed:
        wrong.append(f"verdict {found.verdict}, not of {sorted(allowed)}")
    return wrong


def wrong_in_native(body: bytes, token: KnownToken) -> list[str]:
    """Return the errors in an answer of the native format, as text."""
    try:
        found = msgspec.json.decode(body, type=_Native)
    except msgspec.DecodeError as error:
        return [f"not of the native format: {error}"]
    wrong = _wrong_address(found.contract_address, token)
    for pool in found.features.dex[:1]:
        wrong += _wrong_value("buy_success", pool.buy_success, expected=True)
        wrong += _wrong_value("sell_success", pool.sell_success, expected=token.can_sell)
        wrong += _wrong_tax("buy_tax", pool.buy_tax, token.buy_tax)
        wrong += _wrong_tax("sell_tax", pool.sell_tax, token.sell_tax)
    return wrong


def _wrong_address(served: str, token: KnownToken) -> list[str]:
    return [] if served.lower() == token.address else [f"it is about {served}"]


def _wrong_value(field: str, served: bool | str | None, *, expected: bool) -> list[str]:
    is_right = served in (None, _PENDING) or served is expected
    return [] if is_right else [f"{field} {served}"]


def _wrong_tax(field: str, served: float | str | None, expected: float | None) -> list[str]:
    if served is None or served == _PENDING:
        return []
    is_right = expected is not None and abs(float(served) - expected) < _TAX_WITHIN
    return [] if is_right else [f"{field} {served}, not {expected}"]
