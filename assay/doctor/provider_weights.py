"""Prices of calls by provider, as data."""

from collections.abc import Mapping
from datetime import date
from pathlib import Path

import msgspec

from config.toml import decode, load_toml

_FILE = Path(__file__).with_name("provider_weights.toml")


class Provider(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One provider's weights."""

    name: str
    unit: str
    source: str
    checked_on: date
    weights: dict[str, int]
    """Units a call, by method."""

    def units(self, calls: Mapping[str, float]) -> float:
        """Return the units of these calls; methods without a weight count as 0."""
        return sum(self.weights.get(method, 0) * count for method, count in calls.items())

    def unweighted(self, calls: Mapping[str, float]) -> tuple[str, ...]:
        """Return the methods that have no weight."""
        return tuple(sorted(set(calls) - self.weights.keys()))


class _File(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    provider: tuple[Provider, ...]


def load_providers() -> tuple[Provider, ...]:
    """Return all providers. Raises ConfigError."""
    return decode(load_toml(_FILE), _File, source_of=lambda _: str(_FILE)).provider
