"""Every detector is registered under the field it answers, and says what it is about."""

from analysis.static.detectors import registry
from core.report import StaticFindings
from tests.house.sources import ROOT

SHARED = {"detector", "registry", "storage_guards"}
FOLDER = ROOT / "analysis" / "static" / "detectors"
FILES = sorted({path.stem for path in FOLDER.glob("[!_]*.py")} - SHARED)


def test_the_registry_is_the_folder_in_order() -> None:
    assert [detector.key for detector in registry.DETECTORS] == FILES


def test_every_static_field_has_its_detector() -> None:
    assert set(FILES) == set(StaticFindings.__struct_fields__)


def test_a_detector_says_when_it_is_true_and_when_not() -> None:
    for detector in registry.DETECTORS:
        assert detector.version >= 1
        assert detector.true_when
        assert detector.not_when
