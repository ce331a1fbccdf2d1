"""Amounts, dates, addresses and foreign texts as they appear in sentences. Pure."""

from datetime import UTC, datetime
from typing import Final

from core.evm.primitives import Address, Hash32, checksum
from core.process.terminal import printable

LAST_DATE_S: Final = 253_402_300_799
"""End of the year 9999, the last that a date can be written for."""

_LONGEST_QUOTE: Final = 60
_LONGEST_WORD: Final = 40


def quoted(text: str) -> str:
    """Return untrusted text between quotation marks that it cannot close."""
    plain = printable(text).replace("“", "'").replace("”", "'")
    cut = plain if len(plain) <= _LONGEST_QUOTE else f"{plain[:_LONGEST_QUOTE]}…"
    return f"“{cut}”"


def percent(value: float) -> str:
    """Return a percentage cut to two decimals, so that 99.999 is never shown as all, nor a crumb as
    nothing."""
    cut = int(value * 100 + 1e-6) / 100
    return f"{cut:g} %" if cut or not value else "less than 0.01 %"


def usd(amount: float) -> str:
    """Return an amount in two or three digits: $1.2k, $30k, $4.5M."""
    for factor, suffix in ((1e9, "B"), (1e6, "M"), (1e3, "k")):
        if amount >= factor:
            return f"${amount / factor:.3g}{suffix}"
    return f"${amount:.0f}" if amount >= 1 or not amount else f"${amount:.2g}"


def day(time_s: int) -> str:
    """Return a date in UTC: 1 January 2100."""
    when = datetime.fromtimestamp(min(time_s, LAST_DATE_S), tz=UTC)
    return f"{when.day} {when:%B %Y}"


def short(address: Address) -> str:
    """Return the beginning and the end of an address: 0x6B17…1d0F."""
    shown = checksum(address)
    return f"{shown[:6]}…{shown[-4:]}"


def listed(words: list[str]) -> str:
    """Return one word, or several as `a, b and c`. At least one is needed."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}"


_NUMBERS: Final = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")


def spelled(count: int) -> str:
    """Return a number below ten as a word, others in digits."""
    return _NUMBERS[count] if 0 <= count < len(_NUMBERS) else str(count)


def short_word(word: Hash32) -> str:
    """Return a slot or a storage value without zeros in front, and without its middle if long."""
    digits = word.removeprefix("0x").lstrip("0") or "0"
    whole = len(digits) <= _LONGEST_WORD
    return f"0x{digits}" if whole else f"0x{digits[:8]}…{digits[-8:]}"
