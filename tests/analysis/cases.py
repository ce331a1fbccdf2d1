"""The case folders: sources of small tokens, and what must be found in them.

`tests/cases/<field>/{found,absent,unknown}/<Name>.{sol,vy,evm}` with `<Name>.toml`. The folder says
the label of the field the case was written for; the labels of all other fields are checked too.
`.evm` is for the assembler of `tests/analysis/static`.
"""

import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from core.evm.abi import selector_of
from core.report.fields.static_findings import StaticFindings

CASES: Final = Path(__file__).resolve().parents[1] / "cases"
FIELDS: Final = StaticFindings.__struct_fields__
LISTS: Final = ("balance_update_function", "allowance_update_function")
NOW_IN_FORCE: Final = ("has_trading_cap", "has_position_cap")
"""Current storage decides these with the code, so that code alone may leave them open."""

_SUFFIXES: Final = (".sol", ".vy", ".evm")
_PRAGMA: Final = re.compile(r"^pragma solidity >=([\d.]+)(?: <([\d.]+))?;$", re.MULTILINE)

Label = bool | frozenset[str] | None
"""None: unknown is the right answer."""


class Miss(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known blind spot."""

    fields: tuple[str, ...]
    why: str
    builds: tuple[str, ...] = ()
    """Empty: all."""


class _File(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    about: str
    holds: tuple[str, ...] = ()
    """Fields that are true; all others are false."""
    unsure: tuple[str, ...] = ()
    """Fields whose label the specification leaves open."""
    unknown: tuple[str, ...] = ()
    """Fields that no reading of the code can answer."""
    only: tuple[str, ...] = ()
    """Fields with a label, where the code is no whole token. Empty: all."""
    balance_update_function: tuple[str, ...] | None = None
    allowance_update_function: tuple[str, ...] | None = None
    missed: tuple[Miss, ...] = ()


class Standard(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """`labels.toml`."""

    balance_update_function: tuple[str, ...]
    allowance_update_function: tuple[str, ...]


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One source with its labels."""

    source: Path
    field: str
    kind: str
    labels: dict[str, Label]
    missed: tuple[Miss, ...]

    @property
    def name(self) -> str:
        return self.source.stem

    def accepts(self, version: tuple[int, ...]) -> bool:
        """Whether the source's pragma takes a compiler of this version."""
        found = _PRAGMA.search(self.source.read_text())
        assert found is not None, f"{self.source}: a pragma the cases do not use"
        lowest, bound = found.groups()
        return _version(lowest) <= version and (bound is None or version < _version(bound))

    def misses(self, field: str, build: str) -> bool:
        """Whether this answer is a known blind spot."""
        return any(
            field in miss.fields and (not miss.builds or build in miss.builds)
            for miss in self.missed
        )


def _version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))


@cache
def load_standard() -> Standard:
    return msgspec.toml.decode((CASES / "labels.toml").read_bytes(), type=Standard)


@cache
def load_cases() -> tuple[Case, ...]:
    return tuple(_load(path) for path in sorted(CASES.glob("*/*/*")) if path.suffix in _SUFFIXES)


def _load(source: Path) -> Case:
    file = msgspec.toml.decode(source.with_suffix(".toml").read_bytes(), type=_File)
    return Case(
        source=source,
        field=source.parents[1].name,
        kind=source.parent.name,
        labels=dict(_labels(file)),
        missed=file.missed,
    )


def _labels(file: _File) -> Iterator[tuple[str, Label]]:
    for field in file.only or FIELDS:
        if field in file.unsure:
            continue
        if field in file.unknown:
            yield field, None
        elif field in LISTS:
            given = getattr(file, field)
            signatures = getattr(load_standard(), field) if given is None else given
            yield field, frozenset(selector_of(signature) for signature in signatures)
        else:
            yield field, field in file.holds
