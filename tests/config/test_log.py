"""Protects the log: one line an event, with its level, and repetition counted."""

import json
import logging
import re
from collections.abc import Iterator

import pytest
import structlog
from hypothesis import given
from hypothesis import strategies as st

from config.log import (
    MOST_KEPT,
    WINDOW_S,
    LogFormat,
    RepeatCounter,
    configure_log,
    describe_exception,
)

Captured = pytest.CaptureFixture[str]

NASTY = "two\nlines \x1b[31mred \u202e"


@pytest.fixture(autouse=True)
def _log_as_before() -> Iterator[None]:
    before, handlers = structlog.get_config(), [*logging.getLogger().handlers]
    yield
    structlog.configure(**before)
    logging.getLogger().handlers[:] = handlers


def divide() -> None:
    try:
        _ = 1 / 0
    except ZeroDivisionError as error:
        raise KeyError(NASTY) from error


def log_all() -> None:
    """An event of each kind: with values, with a trace, of a library."""
    log = structlog.get_logger()
    log.info("moved", rows=3, of=NASTY)
    try:
        divide()
    except KeyError:
        log.exception("failed", chain="ethereum")
    log.debug("not shown")
    logging.getLogger("some.library").warning("said %s", NASTY)
    logging.getLogger("some.library").info("not shown either")


@pytest.mark.parametrize("coloured", [False, True])
def test_text_is_one_line_an_event_with_its_level(capsys: Captured, coloured: bool) -> None:
    configure_log("text", coloured=coloured)
    log_all()
    text = capsys.readouterr().err
    assert ("\x1b[" in text) is coloured
    lines = re.sub(r"\x1b\[[0-9;]*m", "", text).splitlines()
    assert all(line.isprintable() for line in lines)
    stamp = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d"
    begins = ("info", "moved"), ("error", "failed"), ("warning", "said")
    for line, (level, event) in zip(lines, begins, strict=True):
        assert re.match(rf"{stamp} \[{level} *\] {event}", line), line
    assert "KeyError" in lines[1]
    assert "config/test_log.py" in lines[1]
    assert "in divide" in lines[1]
    assert "because of ZeroDivisionError: division by zero" in lines[1]
    assert "source=some.library" in lines[2]


def test_json_is_one_object_an_event(capsys: Captured) -> None:
    configure_log("json", coloured=True)
    log_all()
    text = capsys.readouterr().err
    assert text.isascii()
    assert "\x1b" not in text
    moved, failed, said = map(json.loads, text.splitlines())
    assert (moved["level"], moved["event"]) == ("info", "moved")
    assert (moved["rows"], moved["of"]) == (3, NASTY)
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z", moved["timestamp"])
    assert (failed["level"], failed["chain"]) == ("error", "ethereum")
    assert failed["exception"].startswith("Traceback")
    assert (said["level"], said["event"]) == ("warning", f"said {NASTY}")


@pytest.mark.parametrize("form", ["text", "json"])
def test_an_event_that_repeats_is_counted(capsys: Captured, form: LogFormat) -> None:
    tell_rest = configure_log(form)
    for _ in range(50):
        structlog.get_logger().warning("node silent", chain="ethereum")
    structlog.get_logger().warning("node silent", chain="chain_56")
    assert len(capsys.readouterr().err.splitlines()) == 2
    tell_rest()
    (rest,) = capsys.readouterr().err.splitlines()
    assert re.search(r"repeated\W+49", rest)


class Clock:
    now_s = 0.0

    def __call__(self) -> float:
        return self.now_s


def shown(counter: RepeatCounter, event: str, **values: object) -> list[str]:
    try:
        return counter(None, "", {"event": event, "timestamp": object(), **values}).splitlines()
    except structlog.DropEvent:
        return []


def in_short(_: object, __: str, event: structlog.typing.EventDict) -> str:
    repeated = event.get("repeated")
    return f"{event['event']} x{repeated}" if repeated else str(event["event"])


def test_the_count_is_told_when_the_minute_has_ended() -> None:
    clock = Clock()
    counter = RepeatCounter(in_short, monotonic_s=clock)
    assert [shown(counter, "a") for _ in range(4)] == [["a"], [], [], []]
    clock.now_s = WINDOW_S - 1
    assert shown(counter, "b") == ["b"]
    clock.now_s = WINDOW_S
    assert shown(counter, "b") == ["a x3"]
    assert shown(counter, "a") == ["a"]
    assert counter.drain() == ["b x1"]
    assert counter.drain() == []


def test_what_differs_in_a_value_is_another_event() -> None:
    counter = RepeatCounter(in_short, monotonic_s=Clock())
    assert shown(counter, "a", n=1) == shown(counter, "a", n="1") == shown(counter, "a") == ["a"]


@given(st.lists(st.tuples(st.sampled_from("abc"), st.floats(0, WINDOW_S)), max_size=60))
def test_no_event_is_lost_and_none_told_twice(events: list[tuple[str, float]]) -> None:
    clock = Clock()
    counter = RepeatCounter(in_short, monotonic_s=clock)
    lines = []
    for event, after_s in events:
        clock.now_s += after_s
        lines += shown(counter, event)
    lines += counter.drain()
    times_logged = dict.fromkeys("abc", 0)
    for line in lines:
        event, _, repeated = line.partition(" x")
        times_logged[event] += int(repeated or 1)
    assert times_logged == {event: sum(each == event for each, _ in events) for event in "abc"}


def test_of_endlessly_many_events_the_last_are_kept_and_none_is_lost() -> None:
    counter = RepeatCounter(in_short, monotonic_s=Clock())
    lines = [line for at in range(MOST_KEPT + 5) for _ in "xx" for line in shown(counter, str(at))]
    assert lines[MOST_KEPT : MOST_KEPT + 2] == ["0 x1", str(MOST_KEPT)]
    assert len(counter.drain()) == MOST_KEPT


def test_a_group_of_errors_is_one_line_with_all_of_them() -> None:
    group = ExceptionGroup("both", [ValueError("one"), ExceptionGroup("in", [OSError(2, "two")])])
    line = describe_exception(group)
    assert "ValueError: one; ExceptionGroup: in" in line
    assert "FileNotFoundError: [Errno 2] two" in line
    assert "\n" not in line


def test_a_deep_stack_is_cut_at_its_outer_end() -> None:
    def fall(depth: int) -> None:
        if depth == 0:
            raise LookupError
        fall(depth - 1)

    with pytest.raises(LookupError) as caught:
        fall(40)
    line = describe_exception(caught.value)
    assert line.count("in fall") == 12
    assert line.endswith("< ...)")
