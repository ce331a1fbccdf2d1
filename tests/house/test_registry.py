"""Every detector is registered under the field it answers, and no field is without its detector."""

from analysis.static.detectors import registry
from core.report.fields.static_findings import StaticFindings
from tests.house.sources import ROOT

SHARED = {"detector", "registry", "storage_guards"}
FOLDER = ROOT / "analysis" / "static" / "detectors"
FILES = sorted({path.stem for path in FOLDER.glob("[!_]*.py")} - SHARED)


def test_the_registry_is_the_folder_in_order() -> None:
    assert [detector.key for detector in registry.DETECTORS] == FILES


def test_every_static_field_has_its_detector() -> None:
    assert set(FILES) == set(StaticFindings.__struct_fields__)
