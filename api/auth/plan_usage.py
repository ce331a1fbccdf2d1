"""Usage of a key against its plan, and when limits reset. Reading it does not count as a call."""

from datetime import UTC, datetime, timedelta

from api.auth.keys import Caller
from api.auth.limits import KeyLimits
from api.auth.rate_windows import WindowKind, WindowUse
from api.formats.shape_building import Shape
from api.formats.times import iso_utc
from sql.accounts.ledger import Usage

_DAYS_IN_LONGEST_MONTH = 31


class WindowState(Shape, frozen=True, kw_only=True):
    """One moving window: at most `limit` calls within any `window_s` seconds."""

    limit: int
    """Calls that fit into the window."""
    window_s: int
    """Length of the window in seconds."""
    used: int
    """Calls in the window now."""
    remaining: int
    """Calls that still fit now."""
    frees_in_s: int | None
    """Seconds until the oldest counted call leaves. null: none is in the window."""


class Quota(Shape, frozen=True, kw_only=True):
    """Calls of one period."""

    limit: int | None
    """Calls of the period. None: no limit."""
    used: int
    """Calls counted in the period."""
    remaining: int | None
    """Calls left. None: no limit."""
    resets_at: str | None
    """ISO 8601 UTC. null: it never does."""


class KeyUsage(Shape, frozen=True, kw_only=True):
    """The plan of a key and what is left of it."""

    plan: str
    """Plan of the key."""
    may_refresh: bool
    """The plan allows refresh and redecompile."""
    expires_at: str | None
    """ISO 8601 UTC. null: the key has no deadline."""
    burst: WindowState | None
    """Calls within some seconds. None: the plan has no such limit."""
    minute: WindowState | None
    """Calls within 60 seconds. None: the plan has no such limit."""
    day: Quota
    """Calls of the day, in UTC."""
    month: Quota
    """Calls of the month, in UTC."""
    lifetime: Quota
    """Calls of the key's whole life; they do not refill."""


async def read_usage(limits: KeyLimits, caller: Caller, *, now_s: float) -> KeyUsage:
    """Return the plan's limits with the key's usage. Raises StoreError when the ledger cannot be
    read."""
    used, windows = await limits.look(caller)
    states: dict[WindowKind, WindowState] = {use.window.kind: _window_state(use) for use in windows}
    plan, expires_at_s = caller.plan, caller.key.expires_at_s
    return KeyUsage(
        plan=plan.name,
        may_refresh=plan.may_refresh,
        expires_at=None if expires_at_s is None else iso_utc(expires_at_s),
        burst=states.get("burst"),
        minute=states.get("minute"),
        **_quotas(caller, used, now_s),
    )


def _window_state(use: WindowUse) -> WindowState:
    return WindowState(
        limit=use.window.limit,
        window_s=use.window.span_s,
        used=use.used,
        remaining=max(0, use.window.limit - use.used),
        frees_in_s=use.frees_in_s,
    )


def _quotas(caller: Caller, used: Usage, now_s: float) -> dict[str, Quota]:
    today = datetime.fromtimestamp(now_s, tz=UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    next_month = (today.replace(day=1) + timedelta(days=_DAYS_IN_LONGEST_MONTH)).replace(day=1)
    plan = caller.plan
    return {
        "day": _quota(plan.per_day, used.day, resets=today + timedelta(days=1)),
        "month": _quota(plan.per_month, used.month, resets=next_month),
        "lifetime": _quota(plan.lifetime, used.lifetime, resets=None),
    }


def _quota(limit: int | None, used: int, *, resets: datetime | None) -> Quota:
    return Quota(
        limit=limit,
        used=used,
        remaining=None if limit is None else max(0, limit - used),
        resets_at=None if resets is None else iso_utc(int(resets.timestamp())),
    )
