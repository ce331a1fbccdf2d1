"""Reader of TOML files: every mistake in one becomes a ConfigError with the file and the key."""

import re
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import msgspec

from core.errors import ConfigError, InvalidAddressError
from core.evm.primitives import Address, checksum, parse_address

T = TypeVar("T")
SourceOf = Callable[[str], str]
"""Maps a dotted key to the file it was read from."""

# msgspec messages end with the path of the value and name a wrong field in back-quotes.
_AT = re.compile(r"^(?P<reason>.*?)(?: - at `(?P<path>.*)`)?$", re.DOTALL)
_FIELD = re.compile(r"^Object (?:contains unknown|missing required) field `(?P<field>[^`]*)`$")


def load_toml(path: Path) -> dict[str, object]:
    """Return one file as plain values. Raises ConfigError if it cannot be read or is not TOML."""
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ConfigError(
            source=str(path), key="the file", reason=error.strerror or str(error)
        ) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ConfigError(source=str(path), key="the file", reason=str(error)) from error


def decode(values: object, into: type[T], *, source_of: SourceOf) -> T:
    """Convert plain values to a struct. Raises ConfigError for a wrong, missing or unknown key."""
    try:
        return msgspec.convert(values, into)
    except msgspec.ValidationError as error:
        key, reason = _place(str(error))
        raise ConfigError(source=source_of(key), key=key, reason=reason) from error


def decode_address(text: object, *, key: str, source_of: SourceOf) -> Address:
    """Return an address from a file, in lower case.

    Raises ConfigError for another form, and for mixed case with a wrong EIP-55 checksum: a typo
    would otherwise be used on chain. All lower case has no checksum and is accepted.
    """
    try:
        address = parse_address(text if isinstance(text, str) else repr(text))
    except InvalidAddressError as error:
        raise ConfigError(source=source_of(key), key=key, reason=str(error)) from error
    if text not in (address, checksum(address)):
        raise ConfigError(
            source=source_of(key),
            key=key,
            reason=f"{text} has a wrong EIP-55 checksum; written right it is {checksum(address)}",
        )
    return address


def walk(values: object, key: str = "") -> Iterator[tuple[str, object]]:
    """Yield every leaf value with its dotted key: `dex[2].router`."""
    if isinstance(values, dict):
        for name, value in values.items():
            yield from walk(value, f"{key}.{name}" if key else str(name))
    elif isinstance(values, list) and values and isinstance(values[0], dict):
        for at, value in enumerate(values):
            yield from walk(value, f"{key}[{at}]")
    else:
        yield key, values


def _place(message: str) -> tuple[str, str]:
    match = _AT.match(message)
    reason, path = (match["reason"], match["path"]) if match else (message, None)
    key = (path or "$").removeprefix("$").removeprefix(".")
    field = _FIELD.match(reason)
    if field:
        key = f"{key}.{field['field']}" if key else field["field"]
        reason = "is not a known key" if "unknown" in reason else "is missing"
    return key or "the file", reason
