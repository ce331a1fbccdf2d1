"""Schedule of jobs: APScheduler's interval and cron triggers, as seconds.

Day-of-week numbers are a crontab's, 0 and 7 for Sunday: APScheduler 3 counts from Monday, so days
are passed to it by name. A time of day that a change of clocks leaves out comes an hour later that
day; one that comes twice is due twice.
"""

import math
import re
from datetime import UTC, datetime, timedelta, tzinfo
from itertools import pairwise
from typing import Final
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import msgspec
from apscheduler.triggers.base import BaseTrigger
from apscheduler.triggers.cron import CronTrigger
from apscheduler.triggers.interval import IntervalTrigger

from config.job_definition import JobDefinition, JobInvalidError

_DAYS: Final = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_NUMBERED: Final = re.compile(r"(?P<first>\*|[0-7])(?:-(?P<last>[0-7]))?(?:/(?P<step>[1-7]))?")
_NAMED: Final = re.compile(r"[a-z]{3}(-[a-z]{3})?", re.IGNORECASE)
_FIELD: Final = re.compile(r"[0-9A-Za-z*,/-]+")
_FIELDS: Final = 5
_LOOKED_AHEAD: Final = 10


class Schedule(msgspec.Struct, frozen=True):
    """Schedule of one job. The trigger runs on the wall clock of the zone, written as UTC.

    APScheduler 3 skips a month when it counts over a change of clocks itself.
    """

    trigger: BaseTrigger
    zone: tzinfo = UTC

    def next_due_s(self, after_s: float) -> int | None:
        """Return the first due time after a moment, Unix seconds. None: never again."""
        first = datetime.fromtimestamp(math.floor(after_s) + 1, tz=UTC)
        wall, due = self._wall_before(first), list[datetime]()
        # Wall clock times ascend, the moments they name only outside a repeated hour.
        while (wall := self.trigger.get_next_fire_time(None, wall)) is not None:
            once, again = (
                wall.replace(tzinfo=self.zone, fold=fold).astimezone(UTC) for fold in (0, 1)
            )
            # Left out by a change of clocks, a time has its second meaning before its first.
            due += (moment for moment in {once, max(once, again)} if moment >= first)
            if once >= first:
                break
            wall += timedelta(seconds=1)
        return math.ceil(min(due).timestamp()) if due else None

    def _wall_before(self, first: datetime) -> datetime:
        """Return the earliest wall clock time that can name a moment from `first` on."""
        day = timedelta(days=1)
        local = [moment.astimezone(self.zone) for moment in (first - day, first, first + day)]
        return first + min(moment.utcoffset() or timedelta() for moment in local)

    def longest_pause_s(self, after_s: float) -> int | None:
        """Return the longest time between two of the next due times. None: there are none."""
        due = [self.next_due_s(after_s)]
        while due[-1] is not None and len(due) < _LOOKED_AHEAD:
            due.append(self.next_due_s(due[-1]))
        known = [each for each in due if each is not None]
        return max((later - one for one, later in pairwise(known)), default=None)


def schedule_of(job: JobDefinition, *, anchor_s: int) -> Schedule:
    """Return the schedule of a job. `anchor_s`: Unix seconds that intervals are counted from.

    Raises JobInvalidError for a cron expression or a time zone that is none.
    """
    if job.every_s is not None:
        start = datetime.fromtimestamp(anchor_s, tz=UTC) + timedelta(seconds=job.every_s)
        return Schedule(IntervalTrigger(seconds=job.every_s, start_date=start, timezone=UTC))
    return Schedule(_cron(job.cron or ""), _zone(job.time_zone))


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC  # needs no database
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, OSError, ValueError) as error:  # or a path that leads elsewhere
        raise JobInvalidError(key="time_zone", reason=f"{name!r} is not a time zone") from error


def _cron(expression: str) -> CronTrigger:
    fields = expression.split()
    if len(fields) != _FIELDS:
        reason = f"expects five fields (minute, hour, day, month, day of week), not {len(fields)}"
        raise JobInvalidError(key="cron", reason=reason)
    minute, hour, day, month, weekday = fields
    if "*" not in (day, weekday):
        reason = "takes a day of month or a day of week, not both: crons differ in the meaning"
        raise JobInvalidError(key="cron", reason=reason)
    for field in fields:
        if not _FIELD.fullmatch(field):
            raise JobInvalidError(key="cron", reason=f"{field!r} is not a crontab field")
    try:
        return CronTrigger(
            minute=minute,
            hour=hour,
            day=day,
            month=month,
            day_of_week=_weekdays(weekday),
            timezone=UTC,
        )
    except ValueError as error:
        raise JobInvalidError(key="cron", reason=str(error)) from error


def _weekdays(field: str) -> str:
    """Return a field of week days with their names instead of numbers. Raises JobInvalidError."""
    if field == "*":
        return field
    names: list[str] = []
    for part in field.split(","):
        found = _NUMBERED.fullmatch(part)
        if found is None:
            if not _NAMED.fullmatch(part):
                raise JobInvalidError(key="cron", reason=f"{part!r} is not a day of the week")
            names.append(part)  # as a crontab's own names, which APScheduler knows
            continue
        first = 0 if found["first"] == "*" else int(found["first"])
        last = int(found["last"] or (6 if found["first"] == "*" or found["step"] else first))
        if last < first:
            raise JobInvalidError(key="cron", reason=f"{part!r} ends before it begins")
        names += (_DAYS[day % 7] for day in range(first, last + 1, int(found["step"] or 1)))
    return ",".join(dict.fromkeys(names))
