"""The calendar as it looks from one moment at one place: days, weeks, months and years around it, as ranges.

Ranges are half-open, in the wall time of the place. Weeks begin on Monday. Where a year, a month or a week is not
named, the latest one that has begun is meant: memory looks back.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY = timedelta(days=1)
WEEK = timedelta(weeks=1)
_YEARS = range(1900, 2101)

#: The parts of a day: from which hour to which, beyond 24 where a night reaches into the next day.
PARTS_OF_DAY = {
    "small hours": (0, 6),
    "morning": (5, 12),
    "noon": (11, 14),
    "afternoon": (12, 18),
    "evening": (18, 24),
    "night": (18, 30),
}
#: The seasons of the north: their first months; each takes three, and winter reaches into the next year.
SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "winter": 12}


@dataclass(frozen=True, slots=True)
class Range:
    """From ``since`` to ``until``, in wall time; None is open. ``month``, ``day``: where no year was named."""

    since: datetime | None
    until: datetime | None
    month: int | None = None
    day: int | None = None

    @property
    def is_day(self) -> bool:
        return self.since is not None and self.until == self.since + DAY and self.since.time() == time()


@dataclass(frozen=True, slots=True)
class Calendar:
    """The calendar around a moment, in the wall time of a zone."""

    moment: datetime
    zone: ZoneInfo

    def moment_of(self, wall: datetime) -> datetime:
        """A wall time as a moment. Midnights that come twice when clocks go back are the first, so days meet."""
        return wall.replace(tzinfo=self.zone).astimezone(UTC)

    def wall(self, moment: datetime) -> datetime:
        """A moment as wall time, which knows whether it is the first or the second of its name."""
        return moment.astimezone(self.zone).replace(tzinfo=None)

    @property
    def now(self) -> datetime:
        return self.wall(self.moment)

    @property
    def today(self) -> date:
        return self.now.date()

    def day(self, offset: int) -> Range:
        return of_days(self.today + offset * DAY, 1)

    def week(self, offset: int) -> Range:
        return of_days(self.monday(offset), 7)

    def weekend(self, offset: int) -> Range:
        """Saturday and Sunday of a week."""
        return of_days(self.monday(offset) + 5 * DAY, 2)

    def weekday(self, number: int, offset: int) -> Range:
        """A day of a week, 0 is Monday."""
        return of_days(self.monday(offset) + number * DAY, 1)

    def latest_weekday(self, number: int, *, before_today: bool = False) -> Range:
        """The latest day of this name up to today, or before today."""
        back = (self.today.weekday() - number) % 7
        return self.day(-(back or 7) if before_today else -back)

    def coming_weekday(self, number: int) -> Range:
        """The first day of this name after today."""
        return self.day((number - self.today.weekday()) % 7 or 7)

    def month(self, offset: int) -> Range:
        return of_month(*_month_of(self.now.year, self.now.month + offset))

    def year(self, offset: int) -> Range:
        return of_years(self.now.year + offset)

    def named_month(self, month: int, year: int | None = None) -> Range:
        """A month of a year; without one, the latest that has begun."""
        if year is not None:
            return of_month(year, month)
        return replace(of_month(self.now.year - (month > self.now.month), month), month=month)

    def named_day(self, month: int, day: int, year: int | None = None) -> Range | None:
        """A day of a year; without one, the latest up to today. None if there is no such day."""
        if year is not None:
            return _of_date(year, month, day)
        for past in range(self.now.year, self.now.year - 9, -1):
            found = _of_date(past, month, day)
            if found is not None and found.since is not None and found.since <= self.now:
                return replace(found, month=month, day=day)
        return None

    def season(self, name: str, year: int) -> Range:
        first = SEASONS[name]
        return Range(datetime(year, first, 1), of_month(*_month_of(year, first + 2)).until)

    def latest_season(self, name: str, *, over: bool) -> Range:
        """The latest season of this name that has begun, or that is over."""
        for year in range(self.now.year, self.now.year - 3, -1):
            found = self.season(name, year)
            mark = found.until if over else found.since
            if mark is not None and mark <= self.now:
                return found
        raise AssertionError("one of three years has the season")

    def ago(self, number: int, unit: str) -> Range | None:
        """So many units back: that day, or the week, month or year of it; of hours and minutes, the time around it."""
        if unit in ("minute", "hour"):
            then = self.moment.astimezone(UTC) - number * _short(unit)
            about = max(_short(unit) / 2, number * _short(unit) / 4)
            return Range(self.wall(then - about), self.wall(then + about))
        if unit == "day":
            return self.day(-number) if self.now.year - number // 365 > _YEARS.start else None
        if unit == "week":
            return self.week(-number) if self.now.year - number // 52 > _YEARS.start else None
        if unit == "month":
            return self.month(-number) if self.now.year - number // 12 > _YEARS.start else None
        return self.year(-number) if self.now.year - number >= _YEARS.start else None

    def past(self, number: int, unit: str) -> Range | None:
        """The last so many units: from the day that far back to the end of today; of hours and minutes, up to now."""
        if unit in ("minute", "hour"):
            now = self.moment.astimezone(UTC)
            return Range(self.wall(now - number * _short(unit)), self.wall(now + timedelta(microseconds=1)))
        if number * {"day": 1, "week": 7, "month": 31, "year": 366}[unit] > 366 * 50:
            return None
        if unit in ("day", "week"):
            first = self.today - number * (DAY if unit == "day" else WEEK)
        else:
            year, month = _month_of(self.now.year, self.now.month - number * (12 if unit == "year" else 1))
            first = date(year, month, min(self.today.day, days_in(year, month)))
        return Range(datetime.combine(first, time()), self.day(0).until)

    def few(self, unit: str) -> Range | None:
        """A few units ago: from six back to two back."""
        far, near = self.ago(6, unit), self.ago(2, unit)
        return Range(far.since, near.until) if far is not None and near is not None else None

    def monday(self, offset: int) -> date:
        return self.today - self.today.weekday() * DAY + offset * WEEK


def part_of_day(day: Range, name: str) -> Range:
    """A part of a day, as ``PARTS_OF_DAY`` has it."""
    assert day.since is not None
    first, last = PARTS_OF_DAY[name]
    return Range(day.since + timedelta(hours=first), day.since + timedelta(hours=last))


def clock_time(day: Range, hour: int, minute: int | None) -> Range:
    """An hour of a day, or a minute of it."""
    assert day.since is not None
    since = day.since + timedelta(hours=hour, minutes=minute or 0)
    return Range(since, since + timedelta(hours=1) if minute is None else since + timedelta(minutes=1))


def part_of_month(month: Range, third: int) -> Range:
    """Days 1 to 10, 11 to 20, or from 21 on."""
    assert month.since is not None
    since = month.since + 10 * third * DAY
    return Range(since, month.until if third == 2 else since + 10 * DAY)


def months_of(year: Range, first: int, number: int) -> Range:
    """Some months of a year."""
    assert year.since is not None
    return Range(
        of_month(year.since.year, first).since, of_month(*_month_of(year.since.year, first + number - 1)).until
    )


def of_days(first: date, number: int) -> Range:
    since = datetime.combine(first, time())
    return Range(since, since + number * DAY)


def of_month(year: int, month: int) -> Range:
    return Range(datetime(year, month, 1), datetime(*_month_of(year, month + 1), 1))


def of_years(year: int, last: int | None = None) -> Range:
    return Range(datetime(year, 1, 1), datetime((last or year) + 1, 1, 1))


def is_year(year: int) -> bool:
    return year in _YEARS


def days_in(year: int, month: int) -> int:
    return (datetime(*_month_of(year, month + 1), 1) - datetime(year, month, 1)).days


def _of_date(year: int, month: int, day: int) -> Range | None:
    fits = 1 <= month <= 12 and is_year(year) and 1 <= day <= days_in(year, month)
    return of_days(date(year, month, day), 1) if fits else None


def _month_of(year: int, month: int) -> tuple[int, int]:
    """A month that may lie before or after its year."""
    return year + (month - 1) // 12, (month - 1) % 12 + 1


def _short(unit: str) -> timedelta:
    return timedelta(hours=1) if unit == "hour" else timedelta(minutes=1)
