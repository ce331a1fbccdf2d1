"""Metadata of one setting: `name: Annotated[type, Setting(...)]`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

import msgspec

from config.store_address import FileAddress

Positive = Annotated[int, msgspec.Meta(ge=1)]
NonNegativeSeconds = Annotated[float, msgspec.Meta(gt=0)]


class Setting(msgspec.Struct, frozen=True):
    """Properties of a setting, except its name, type and default."""

    help: str
    """One sentence without a full stop, as the settings page prints it."""
    env: str | None = None
    """Environment variable that overrides every file. None: files only."""


class SettingRow(msgspec.Struct, frozen=True, kw_only=True):
    """One row of the table of settings."""

    name: str
    """Dotted name: table and key."""
    help: str
    env: str | None
    default: Any = None
    """None: set by the environment only."""


def rows_of(struct: type[msgspec.Struct], *, table: str = "") -> Iterator[SettingRow]:
    """Yield the settings of a struct, those of the structs in it included, in order."""
    hints = get_type_hints(struct, include_extras=True)
    for field in msgspec.structs.fields(struct):
        hint = hints[field.name]
        notes = getattr(hint, "__metadata__", ())
        setting = next((each for each in notes if isinstance(each, Setting)), None)
        name = f"{table}{field.name}"
        if setting is not None:
            yield SettingRow(
                name=name, help=setting.help, env=setting.env, default=_default_of(field)
            )
        else:
            for part in _structs_in(hint):
                yield from rows_of(part, table=f"{name}.")


def _default_of(field: msgspec.structs.FieldInfo) -> Any:
    """Return the default as a file would have it."""
    if field.default is msgspec.NODEFAULT:
        return None
    is_text = isinstance(field.default, Path | FileAddress)
    return str(field.default) if is_text else field.default


def _structs_in(hint: Any) -> Iterator[type[msgspec.Struct]]:
    for part in (hint, *get_args(hint)):
        if isinstance(part, type) and issubclass(part, msgspec.Struct):
            yield part
