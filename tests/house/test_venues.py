"""Every pool family has its events and its venue, and no other code names it."""

import re
from importlib import import_module
from pathlib import Path

from analysis.market.venues.venue import Venue
from analysis.market.venues.venue_registry import VENUES
from config.facts.pool_family import BUILT_IN, KINDS
from tests.house.sources import ROOT, python_files, text_constants

FOLDER = ROOT / "analysis" / "market" / "venues" / "families"
NAMED = re.compile(rf"\b({'|'.join(KINDS)})\b")


def own_venue(path: Path) -> Venue | None:
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return getattr(module, "VENUE", None)


def test_the_registry_is_the_folder_in_order() -> None:
    found = [own_venue(path) for path in sorted(FOLDER.glob("[!_]*.py"))]
    assert [venue for venue in found if venue is not None] == list(VENUES)


def test_every_family_has_one_venue() -> None:
    assert sorted(venue.kind for venue in VENUES) == sorted(KINDS)
    assert len(set(KINDS)) == len(list(BUILT_IN.glob("*.toml")))


def test_a_pool_is_read_as_a_contract_or_as_an_entry() -> None:
    assert all((venue.request_pool is None) != (venue.entries is None) for venue in VENUES)


def test_only_a_familys_own_module_names_it() -> None:
    """Documentation of the API may (`shapes`)."""
    names = {
        path.relative_to(ROOT).as_posix()
        for path in python_files(
            "core", "config", "sql", "indexer", "analysis", "api", "assay/doctor", "assay/service"
        )
        for _, text in text_constants(path)
        if NAMED.search(text)
    }
    own = {path for path in FOLDER.glob("[!_]*.py") if own_venue(path) is not None}
    assert names == {path.relative_to(ROOT).as_posix() for path in own} | {
        "api/formats/native/shapes.py"
    }
