"""API key plans (rate limits, quotas and rights), loaded from `plans.toml`."""

from pathlib import Path
from typing import Annotated

import msgspec

from config.toml import decode, load_toml
from core.errors import ConfigError

BUILT_IN = Path(__file__).parent / "plans.toml"

Count = Annotated[int, msgspec.Meta(ge=1)]


class Plan(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Limits and rights of a key. A limit that is None does not apply."""

    name: str
    burst_limit: Count | None = None
    """Calls within any `burst_window_s` seconds."""
    burst_window_s: Count | None = None
    """None exactly when `burst_limit` is."""
    per_minute: Count | None = None
    per_day: Count | None = None
    """Calls a calendar day, UTC."""
    per_month: Count | None = None
    """Calls a calendar month, UTC."""
    lifetime: Count | None = None
    """Calls in all; never refilled."""
    expires_after_days: Count | None = None
    """None: keys of this plan do not expire."""
    watches: Count | None = None
    """Watches of one key."""
    watched_tokens: Count | None = None
    """Tokens of all its watches; one in two watches counts twice."""
    may_refresh: bool
    """True if refresh and redecompile are allowed."""


class _Plans(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    plan: tuple[Plan, ...]


def load_plans(path: Path = BUILT_IN) -> dict[str, Plan]:
    """Return all plans by name. Raises ConfigError with the file and the key."""
    plans = decode(load_toml(path), _Plans, source_of=lambda _: str(path)).plan
    found: dict[str, Plan] = {}
    for at, plan in enumerate(plans):
        if plan.name in found:
            raise ConfigError(
                source=str(path), key=f"plan[{at}].name", reason=f"{plan.name} occurs twice"
            )
        if (plan.burst_limit is None) != (plan.burst_window_s is None):
            raise ConfigError(
                source=str(path),
                key=f"plan[{at}].burst_window_s",
                reason="requires burst_limit, and the reverse",
            )
        found[plan.name] = plan
    return found
