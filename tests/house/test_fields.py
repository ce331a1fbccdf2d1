"""Protects the feature table: every field is declared once and fully, and its page is current."""

from types import NoneType
from typing import get_args

import pytest

from api.formats.goplus_format import TABLE as GOPLUS_RULES
from api.formats.goplus_format import GoPlusToken
from api.formats.native.compat import TABLE as COMPAT_RULES
from api.formats.native.compat import CompatFeatures
from api.formats.native.field_table import FIELDS, named_by
from api.formats.native.shapes import NativeFeatures
from api.formats.summary.flags import CATALOGUE, COMBINED
from core.report.fields.field import fields_of
from core.report.fields.scan_findings import ScanFindings
from core.report.fields.static_findings import StaticFindings
from docs.site.field_facts import kind_of


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
