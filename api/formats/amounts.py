"""Exact conversion of raw amounts to the numbers and decimal strings in answers."""

from decimal import Decimal

from core.evm.primitives import RawAmount

_HUNDREDTHS_OF_PCT = 10_000


def whole_tokens(amount_raw: int, *, decimals: int) -> float:
    """Return the amount in whole tokens, as the JSON number nearest to the exact value."""
    return float(amount_raw / 10**decimals)


def share_pct(part_raw: RawAmount, *, of_raw: RawAmount) -> float:
    """Return the part in percent of the whole, not rounded. 0 when the whole is 0."""
    return float(100 * part_raw / of_raw) if of_raw else 0.0


def truncated_pct(part_raw: RawAmount, *, of_raw: RawAmount) -> float:
    """Return the part in percent of the whole, truncated (not rounded) to two decimals. 0 when the
    whole is 0."""
    if not of_raw:
        return 0.0
    return (part_raw * _HUNDREDTHS_OF_PCT // of_raw) / 100


def decimal_text(amount_raw: RawAmount, *, decimals: int) -> str:
    """Return the amount in whole tokens as the shortest exact decimal string, all digits kept."""
    whole, rest = divmod(amount_raw, 10**decimals)
    fraction = f"{rest:0{decimals}d}".rstrip("0") if rest else ""
    return f"{whole}.{fraction}" if fraction else str(whole)


def share_text(part_raw: int, *, of_raw: int) -> str:
    """Return the part of the whole, 0 to 1, as `number_text`. 0 when the whole is 0."""
    return number_text(part_raw / of_raw if of_raw else 0.0)


def number_text(value: float) -> str:
    """Return the shortest decimal string that parses to the same number: '0.02', '1', '12.5'."""
    text = format(Decimal(repr(value)), "f")
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return "0" if text == "-0" else text
