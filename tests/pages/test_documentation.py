"""Protects the served documentation: the built site and nothing else, under a strict policy.

It loads nothing from another host.
"""

import base64
import hashlib
import re
from pathlib import Path

import httpx
import pytest

from config.settings import ApiSettings
from tests.harness.api.sign_in import PAGES
from tests.harness.api.world import World

SCRIPT = 'document.title = "set";'
PAGE = f"<!doctype html><title>x</title><script>{SCRIPT}</script><script src=a.js></script>"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Built site, and the files around it."""
    built = tmp_path / "site"
    (built / "field" / "burned").mkdir(parents=True)
    (built / "index.html").write_text(PAGE)
    (built / "field" / "burned" / "index.html").write_text("<!doctype html><p>burned")
    (built / "a.js").write_text("1;" * 1_000)
    (built / "a.js.map").write_text("{}")
    (built / ".hidden.html").write_text("secret")
    (tmp_path / "outside.html").write_text("secret")
    (built / "link.html").symlink_to(tmp_path / "outside.html")
    return built


def served(world: World, folder: Path | str) -> httpx.AsyncClient:
    client = world.client(settings=ApiSettings(docs_folder=str(folder)))
    client.headers.update(PAGES)
    return client


async def test_a_page_may_run_the_scripts_that_it_was_built_with(world: World, site: Path) -> None:
    response = await served(world, site).get("/docs/")
    assert (response.status_code, response.text) == (200, PAGE)
    policy = response.headers["content-security-policy"]
    digest = base64.b64encode(hashlib.sha256(SCRIPT.encode()).digest()).decode()
    assert f"script-src 'self' 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "unsafe" not in policy
    assert not re.search(r"https?:", policy)
    assert response.headers["x-content-type-options"] == "nosniff"


async def test_pages_are_found_as_the_site_links_them(world: World, site: Path) -> None:
    client = served(world, site)
    for path in ("/docs", "/docs/field/burned"):
        moved = await client.get(path)
        assert (moved.status_code, moved.headers["location"]) == (308, f"{path}/")
    assert "burned" in (await client.get("/docs/field/burned/")).text
    assert (await client.get("/docs/index.html")).status_code == 200
    assert '<a href="/docs/">Docs</a>' in (await client.get("/")).text


async def test_a_file_is_sent_compressed_and_told_unchanged(world: World, site: Path) -> None:
    client = served(world, site)
    first = await client.get("/docs/a.js", headers={"Accept-Encoding": "gzip"})
    assert (first.text, first.headers["content-encoding"]) == ("1;" * 1_000, "gzip")
    plain = await client.get("/docs/a.js", headers={"Accept-Encoding": "identity"})
    assert plain.text == first.text
    assert plain.headers["content-type"].startswith("text/javascript")
    again = await client.get("/docs/a.js", headers={"If-None-Match": first.headers["etag"]})
    assert (again.status_code, again.content) == (304, b"")
    (site / "a.js").write_text("2;")
    assert (await client.get("/docs/a.js")).text == "2;"


@pytest.mark.parametrize(
    "path",
    [
        *("a.js.map", ".hidden.html", "link.html", "nothing", "field", "..%2foutside.html"),
        *("%2e%2e/outside.html", "field/..%2f..%2foutside.html", "%00", "a.js/", "\\..\\outside"),
    ],
)
async def test_nothing_else_is_served(world: World, site: Path, path: str) -> None:
    response = await served(world, site).get(f"/docs/{path}")
    assert response.status_code in (400, 404)
    assert "secret" not in response.text


@pytest.mark.parametrize("folder", ["", "/nowhere"])
async def test_where_no_site_was_built_there_is_none(world: World, folder: str) -> None:
    client = served(world, folder)
    assert (await client.get("/docs/")).status_code == 404
    assert "/docs" not in (await client.get("/")).text
    assert "/docs" not in (await client.get("/browse")).text
