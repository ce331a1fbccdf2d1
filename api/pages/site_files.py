"""Files of the documentation site that `make docs` builds, with their policies."""

import base64
import hashlib
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Final

import msgspec

from api.pages.page_rendering import KEPT_IN
from api.pages.static_files import StaticFile, make_static_file

_MEDIA_TYPES: Final = {
    ".css": "text/css",
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".xml": "application/xml",
}
"""Served media types by file suffix."""

_DRAWN: Final = ".png"
_FIRST: Final = "index.html"
_MOST_KEPT: Final = 64


class SiteFile(msgspec.Struct, frozen=True, kw_only=True):
    """One file of the site, with its policy."""

    file: StaticFile
    policy: str
    """Content-Security-Policy."""


def is_built(folder: Path | None) -> bool:
    """True if the folder has a site. None: there is no folder."""
    return folder is not None and (folder / _FIRST).is_file()


def find_file(folder: Path, path: str) -> Path | None:
    """Find the file of a path below the site; a path that ends with a slash is its page.

    None: there is none that is served. Paths never lead outside of the folder.
    """
    parts = [part for part in path.split("/") if part]
    if any(part.startswith(".") or "\\" in part or "\0" in part for part in parts):
        return None
    found = folder.joinpath(*parts)
    if path.endswith("/"):
        found /= _FIRST
    if found.suffix not in _MEDIA_TYPES or not found.is_file():
        return None
    return found if found.resolve().is_relative_to(folder.resolve()) else None


def read_file(file: Path) -> SiteFile:
    """Return a file that `find_file` found. Raises OSError."""
    return _read(file, file.stat().st_mtime_ns)


@lru_cache(maxsize=_MOST_KEPT)
def _read(file: Path, _changed_ns: int) -> SiteFile:
    body = file.read_bytes()
    return SiteFile(
        file=make_static_file(body, _MEDIA_TYPES[file.suffix], is_packed=file.suffix == _DRAWN),
        policy=_policy(body.decode() if file.suffix == ".html" else ""),
    )


def _policy(page: str) -> str:
    """Return the policy of a page: files of this service, and its inline scripts by their
    digests."""
    scripts = _Scripts()
    scripts.feed(page)
    digests = [hashlib.sha256(text.encode()).digest() for text in scripts.texts]
    allowed = dict.fromkeys(f" 'sha256-{base64.b64encode(one).decode()}'" for one in digests)
    return (
        f"default-src 'none'; script-src 'self'{''.join(allowed)}; style-src 'self'; "
        f"img-src 'self' data:; connect-src 'self'; worker-src 'self'; {KEPT_IN}"
    )


class _Scripts(HTMLParser):
    """Collector of the inline scripts of a page."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._is_inside = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        if tag == "script" and "src" not in attributes and "type" not in attributes:
            self._is_inside = True
            self.texts.append("")

    def handle_data(self, data: str) -> None:
        if self._is_inside:
            self.texts[-1] += data

    def handle_endtag(self, tag: str) -> None:
        self._is_inside = self._is_inside and tag != "script"
