"""Debian's Chromium for tests of pages, driven by playwright-core; one for a whole run of tests."""

import os
import shutil
import subprocess
from pathlib import Path
from typing import Final, Literal

import msgspec

from assay.demo.npm_packages import find_node

ROOT: Final = Path(__file__).parents[3]
SCREENSHOTS: Final = ROOT / ".cache" / "screenshots"
"""Screenshots of tests, for people; never committed."""

_STOP_S: Final = 10


def find_chromium() -> str | None:
    """Path of the browser. None: not installed."""
    return shutil.which("chromium")


class Cookie(msgspec.Struct, frozen=True, kw_only=True):
    """A cookie that the browser has before it goes anywhere."""

    name: str
    value: str
    url: str


class Visit(msgspec.Struct, frozen=True, kw_only=True):
    """URL to open, and the input there."""

    url: str
    width: int = 1280
    scheme: Literal["light", "dark"] = "light"
    has_script: bool = True
    has_axe: bool = False
    until: str = ""
    """A selector to wait for, once the page is loaded."""
    typed: str = ""
    """Text to type at the focus, followed by Enter."""
    tabs: int = 0
    """Maximum number of presses of Tab."""
    opens: bool = False
    """Open the first folded part by keyboard."""
    unfolds: bool = False
    """Open all folded parts before judging."""
    copies: bool = False
    """Click the first copy button."""
    clicks: tuple[str, ...] = ()
    """Selectors to click in turn, each once it is there."""
    then: str = ""
    """A selector to wait for after the clicks."""
    screenshot: str = ""
    framed: str = ""
    """A selector of the part that the screenshot shows. Empty: the whole page."""
    cookies: tuple[Cookie, ...] = ()


class Focused(msgspec.Struct, frozen=True, kw_only=True):
    """Element with the keyboard's focus after one more Tab."""

    tag: str
    text: str
    outline: bool


class Seen(msgspec.Struct, frozen=True, kw_only=True):
    """State of a page in the browser."""

    status: int
    url: str
    first_title: str
    title: str
    text: str
    overflow: int
    """Pixels by which the page is wider than the window, or a table or tabs than their place."""
    broken: tuple[str, ...]
    """Words that stand on two lines, but those of code and of tokens."""
    open: tuple[str, ...]
    background: str
    paint_ms: float | None
    scripts: int
    """Scripts that are not files."""
    console: tuple[str, ...]
    requests: tuple[str, ...]
    copied: str | None
    path: tuple[Focused, ...]
    violations: tuple[str, ...]
    """Violations found by axe-core: the rule, and the first elements."""


class Chromium:
    """The browser's process. Orders are answered one after the other."""

    def __init__(self, executable: str) -> None:
        driver = Path(__file__).with_name("driver.mjs")
        self._process = subprocess.Popen(
            [find_node(), str(driver), f"{ROOT}/", executable],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env={name: value for name, value in os.environ.items() if "proxy" not in name.lower()},
        )

    def visit(self, order: Visit) -> Seen:
        """Open a page. Raises AssertionError with the browser's own words where that fails."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(msgspec.json.encode(order) + b"\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the browser's driver has ended"
        failure = msgspec.json.decode(line, type=dict[str, object]).get("error")
        assert failure is None, failure
        return msgspec.json.decode(line, type=Seen)

    def close(self) -> None:
        """End it."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(_STOP_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()
