"""Test cases of the detectors: small token sources with the expected answer of every field.

`tests/cases/<field>/{found,absent,unknown}/<Name>.{sol,vy,evm}`: the folder is the label of the
field the case was written for; the labels of all other fields are checked too. Solidity and Vyper
sources end with their expectation, a block of comments below `// ----`, one value a line:

    // about: One percent of each transfer is burnt.
    // expect: has_tax_functionality
    // balance_update_function: none

Keys are the fields of `Expectation`; `expect` names a field that is true. `.evm` sources, for the
assembler of `tests/harness/static`, have theirs in `<Name>.toml`.
"""

import re
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import Final

import msgspec

from core.evm.abi import selector_of
from core.report.fields.static_findings import StaticFindings

CASES: Final = Path(__file__).resolve().parents[2] / "cases"
FIELDS: Final = StaticFindings.__struct_fields__
LISTS: Final = ("balance_update_function", "allowance_update_function")
NOW_IN_FORCE: Final = ("has_trading_cap", "has_position_cap")
"""Current storage decides these with the code, so that code alone may leave them open."""

_SUFFIXES: Final = (".sol", ".vy", ".evm")
_PRAGMA: Final = re.compile(r"^pragma solidity >=([\d.]+)(?: <([\d.]+))?;$", re.MULTILINE)
_RULER: Final = re.compile(r"^\n(//|#) ----\n", re.MULTILINE)
_MISS: Final = re.compile(r"(?P<fields>[\w, ]+?)(?: by (?P<builds>[^:]+))?: (?P<why>.+)")

Label = bool | frozenset[str] | None
"""None: unknown is the right answer."""


class Miss(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A known blind spot."""

    fields: tuple[str, ...]
    why: str
    builds: tuple[str, ...] = ()
    """Empty: all."""


class Expectation(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Expected answers of one source."""

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

    @property
    def text(self) -> str:
        """Source without its expectation, so that a changed label recompiles nothing."""
        return source_text(self.source)

    def accepts(self, version: tuple[int, ...]) -> bool:
        """True if the source's pragma accepts a compiler of this version."""
        found = _PRAGMA.search(self.text)
        assert found is not None, f"{self.source}: a pragma the cases do not use"
        lowest, bound = found.groups()
        return _version(lowest) <= version and (bound is None or version < _version(bound))

    def misses(self, field: str, build: str) -> bool:
        """True if a wrong answer of this build is a known blind spot."""
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


def source_text(source: Path) -> str:
    """Text of a case's source without its expectation."""
    return _RULER.split(source.read_text(encoding="utf-8"), maxsplit=1)[0]


def read_expectation(source: Path) -> Expectation:
    """Read the expectation at the end of a source, or in the TOML file next to an `.evm` one."""
    if source.suffix == ".evm":
        return msgspec.toml.decode(source.with_suffix(".toml").read_bytes(), type=Expectation)
    parts = _RULER.split(source.read_text(encoding="utf-8"), maxsplit=1)
    assert len(parts) > 1, f"{source}: no expectation below a `----` comment"
    _, comment, block = parts
    return parse_expectation(line.removeprefix(comment) for line in block.splitlines())


def parse_expectation(lines: Iterable[str]) -> Expectation:
    """Parse lines of `key: value`, a repeated key for a list, `none` for an empty one."""
    values: dict[str, list[object]] = {}
    for line in lines:
        key, _, value = line.strip().partition(": ")
        entries = values.setdefault("holds" if key == "expect" else key, [])
        if key == "missed":
            entries.append(_parse_miss(value))
        elif value != "none":
            entries.append(value)
    about = " ".join(map(str, values.pop("about", ())))
    return msgspec.convert({"about": about, **values}, Expectation)


def _parse_miss(text: str) -> dict[str, object]:
    """Parse `field, field by build, build: reason`, in which the builds may be absent."""
    found = _MISS.fullmatch(text)
    assert found is not None, f"not a known miss: {text}"
    return {
        "fields": found["fields"].split(", "),
        "builds": found["builds"].split(", ") if found["builds"] else [],
        "why": found["why"],
    }


def _load(source: Path) -> Case:
    expectation = read_expectation(source)
    return Case(
        source=source,
        field=source.parents[1].name,
        kind=source.parent.name,
        labels=dict(_labels(expectation)),
        missed=expectation.missed,
    )


def _labels(expectation: Expectation) -> Iterator[tuple[str, Label]]:
    for field in expectation.only or FIELDS:
        if field in expectation.unsure:
            continue
        if field in expectation.unknown:
            yield field, None
        elif field in LISTS:
            given = getattr(expectation, field)
            signatures = getattr(load_standard(), field) if given is None else given
            yield field, frozenset(selector_of(signature) for signature in signatures)
        else:
            yield field, field in expectation.holds
