"""Protects the registries: detectors, pool families and fields are declared once and fully."""

import re
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import get_args

import pytest

from analysis.market.venues.venue import Venue
from analysis.market.venues.venue_registry import VENUES
from analysis.static.detectors import registry
from api.formats.goplus_format import TABLE as GOPLUS_RULES
from api.formats.goplus_format import GoPlusToken
from api.formats.native.compat import TABLE as COMPAT_RULES
from api.formats.native.compat import CompatFeatures
from api.formats.native.field_table import FIELDS, named_by
from api.formats.native.shapes import NativeFeatures
from api.formats.summary.flags import CATALOGUE, COMBINED
from config.facts.pool_family import BUILT_IN, KINDS
from core.report.fields.field import fields_of
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from docs.site.field_facts import kind_of
from tests.house.sources import ROOT, python_files, text_constants

SHARED = {"detector", "registry", "storage_guards"}

FOLDER = ROOT / "analysis" / "static" / "detectors"

FILES = sorted({path.stem for path in FOLDER.glob("[!_]*.py")} - SHARED)


def test_the_registry_is_the_folder_in_order() -> None:
    assert [detector.key for detector in registry.DETECTORS] == FILES


def test_every_static_field_has_its_detector() -> None:
    assert set(FILES) == set(StaticFindings.__struct_fields__)


# --- venues -------------------------------------------------------------------------------------

FAMILIES = ROOT / "analysis" / "market" / "venues" / "families"

NAMED = re.compile(rf"\b({'|'.join(KINDS)})\b")


def own_venue(path: Path) -> Venue | None:
    module = import_module(".".join(path.relative_to(ROOT).with_suffix("").parts))
    return getattr(module, "VENUE", None)


def test_the_venue_registry_is_the_folder_in_order() -> None:
    found = [own_venue(path) for path in sorted(FAMILIES.glob("[!_]*.py"))]
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
    own = {path for path in FAMILIES.glob("[!_]*.py") if own_venue(path) is not None}
    assert names == {path.relative_to(ROOT).as_posix() for path in own} | {
        "api/formats/native/shapes.py"
    }


# --- fields -------------------------------------------------------------------------------------


def test_every_finding_is_declared_and_once() -> None:
    for findings in (StaticFindings, ScanFindings):
        assert set(fields_of(findings)) == set(findings.__struct_fields__)
    assert not set(StaticFindings.__struct_fields__) & set(ScanFindings.__struct_fields__)
    assert set(NativeFeatures.__struct_fields__) <= set(FIELDS)


@pytest.mark.parametrize("key", FIELDS)
def test_a_field_says_why_it_is_null_if_it_may_be(key: str) -> None:
    may_be_unknown = NoneType in get_args(kind_of(key)) or kind_of(key) is NoneType
    # Lists of findings are never null; the reason explains an empty one.
    is_list = key in StaticFindings.__struct_fields__ and not may_be_unknown
    assert bool(FIELDS[key].null) is (may_be_unknown or is_list)


@pytest.mark.parametrize("key", StaticFindings.__struct_fields__)
def test_a_static_field_says_when_it_is_true_and_when_not(key: str) -> None:
    assert FIELDS[key].true_when
    assert FIELDS[key].not_when


def test_every_foreign_key_is_one_of_its_format() -> None:
    assert set(named_by("compat")) <= set(COMPAT_RULES) <= set(CompatFeatures.__struct_fields__)
    assert set(named_by("goplus")) <= set(GOPLUS_RULES) <= set(GoPlusToken.__struct_fields__)


def test_every_check_has_a_key_of_its_own() -> None:
    declared = [field.check.key or key for key, field in FIELDS.items() if field.check]
    keys = [*declared, *(check.key for check in COMBINED)]
    assert len(keys) == len(set(keys)) == len(CATALOGUE)
