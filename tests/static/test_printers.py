"""Printers show the engine's view; snapshots of small codes show its changes in a diff.

`python -m tests.static.test_printers` writes the snapshots.
"""

import json
from pathlib import Path
from typing import Final

import pytest
from click.testing import CliRunner

from analysis.static.printers import PRINTERS
from assay.cli import cli
from tests.harness.cases.cases import load_cases
from tests.harness.cases.cases_compile import BUILDS, runtime_of

FOLDER: Final = Path(__file__).resolve().parent / "snapshots"
BUILD: Final = next(build for build in BUILDS if build.name == "0.8-opt")
SHOWN: Final = (
    ("OwnGate", "cfg"),
    ("ImmutableImplementation", "cfg"),
    ("Diamond", "dot"),
    ("HandMadeSlots", "storage"),
    ("StructBalances", "storage"),
    ("PackedBalances", "storage"),
    ("Namespaced", "storage"),
    ("ConstantCap", "guards"),
    ("NotTwiceInABlock", "guards"),
    ("PositionAfter", "guards"),
    ("FrozenInStruct", "guards"),
    ("DaiStyle", "findings"),
)
ONE_STORE: Final = bytes.fromhex("602a600055")


def printed(name: str, printer: str) -> str:
    case = next(case for case in load_cases() if case.name == name)
    return PRINTERS[printer](runtime_of(case, BUILD))


def snapshot_of(name: str, printer: str) -> Path:
    return FOLDER / f"{name}.{printer}.txt"


@pytest.mark.parametrize(("name", "printer"), SHOWN)
def test_what_is_printed_is_what_was_printed(name: str, printer: str) -> None:
    assert printed(name, printer) == snapshot_of(name, printer).read_text(encoding="utf-8")


def test_a_store_is_printed_with_its_slot_and_value() -> None:
    """PUSH1 42, PUSH1 0, SSTORE, and the end of the code."""
    text = PRINTERS["cfg"](ONE_STORE)
    assert "4 SSTORE 0 := 0x2a" in text
    assert text.startswith("function dispatcher and fallback\n  n1 @0\n")
    assert PRINTERS["storage"](ONE_STORE) == "slot 0x0: written by dispatcher and fallback\n"


@pytest.mark.parametrize("given", [ONE_STORE.hex(), "0x" + ONE_STORE.hex()])
def test_the_command_takes_hex_and_json_lines(given: str) -> None:
    for text in (given, json.dumps({"id": 1, "runtime": given})):
        ended = CliRunner().invoke(cli, ["static", "--print", "storage"], input=f"{text}\n")
        assert (ended.exit_code, ended.output) == (0, PRINTERS["storage"](ONE_STORE))


@pytest.mark.parametrize("given", ["", "0x6", "{}", "code"])
def test_anything_else_is_refused_in_one_line(given: str) -> None:
    ended = CliRunner().invoke(cli, ["static", "--print", "cfg"], input=f"{given}\n")
    assert (ended.exit_code == 0) is (given == "")


if __name__ == "__main__":
    FOLDER.mkdir(exist_ok=True)
    for shown_name, shown_printer in SHOWN:
        path = snapshot_of(shown_name, shown_printer)
        path.write_text(printed(shown_name, shown_printer), encoding="utf-8")
