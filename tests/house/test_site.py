"""Protects the documentation site: it builds without a dead link, and loads nothing from other
hosts."""

import asyncio
import os
import re
import subprocess
import sys
from contextlib import closing
from html.parser import HTMLParser
from pathlib import Path

import pytest

from api.formats.native.field_table import FIELDS
from api.formats.summary.flags import CATALOGUE
from config.settings import ApiSettings
from docs.site.operation_pages import operation_pages, read_document
from docs.site.tour_pictures import PICTURES, TOUR
from tests.harness.api.open_port import listening
from tests.harness.api.world import World
from tests.harness.browser.chromium import Chromium, Visit
from tests.harness.store.empty_files import new_ledger
from tests.house.sources import ROOT

pytestmark = pytest.mark.process


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built as `make docs` does: a link or an anchor that leads nowhere ends it.

    `--quiet` would not count warnings.
    """
    folder = tmp_path_factory.mktemp("site")
    built = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder)],
        cwd=ROOT,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stdout + built.stderr
    return folder


class Loaded(HTMLParser):
    """Addresses that a browser loads for a page: everything except the targets of links."""

    def __init__(self) -> None:
        super().__init__()
        self.addresses: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        names = ("src", "srcset", "data", *(("href",) if tag == "link" else ()))
        is_named_only = tag == "link" and attributes.get("rel") in {"canonical", "next", "prev"}
        if not is_named_only:
            self.addresses += [str(attributes[name]) for name in names if attributes.get(name)]


def test_no_page_asks_another_host_for_anything(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    outside_addresses = []
    for page in pages:
        loaded = Loaded()
        loaded.feed(page.read_text(encoding="utf-8"))
        assert loaded.addresses, page
        outside_addresses += [address for address in loaded.addresses if "//" in address]
    assert not outside_addresses
    styles = [path.read_text(encoding="utf-8") for path in site.rglob("*.css")]
    assert styles
    assert not [style for style in styles if "url(http" in style or "url(//" in style]


def test_every_field_flag_and_operation_has_a_page(site: Path) -> None:
    document = read_document()
    operations = [page.path for page in operation_pages(document)]
    assert len(operations) == 1 + sum(map(len, document["paths"].values()))
    paths = {
        *(f"field/{key}" for key in FIELDS),
        *(f"flag/{check.key}" for check in CATALOGUE),
        *(path.removesuffix(".md") for path in operations),
    }
    built = {page.parent.relative_to(site).as_posix() for page in site.rglob("*/index.html")}
    assert paths <= built


def test_the_tour_shows_the_pictures_that_are_taken() -> None:
    tour = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    shown = re.findall(r"\]\(pictures/(\w+)\.png\)", tour)
    assert shown == [picture.name for picture in TOUR]
    assert {path.stem for path in PICTURES.iterdir()} == set(shown)
    assert sum(path.stat().st_size for path in PICTURES.iterdir()) < 200_000


async def test_we_serve_it_under_a_strict_policy(
    site: Path, tmp_path: Path, chromium: Chromium
) -> None:
    """A script that the policy forbids, or a request to another host, would be in the console."""
    with closing(new_ledger(tmp_path / "ledger.sqlite")) as ledger:
        app = World(ledger).make_app(settings=ApiSettings(docs_folder=str(site)))
        async with listening(app) as port:
            url = f"http://127.0.0.1:{port}/docs/"
            seen = await asyncio.to_thread(
                chromium.visit, Visit(url=url, width=360, then="[data-md-color-scheme]")
            )
        await app.aclose()
    assert (seen.status, seen.console, seen.overflow) == (200, (), 0)
    assert [each for each in seen.requests if not each.startswith((url, "data:"))] == []
    assert any(each.endswith(".js") for each in seen.requests)
    assert "Tour" in seen.text
