"""Many codes are answered line by line, in order, and a bad line harms no other."""

import json

import pytest

from analysis.static import analyse_stream
from analysis.static.analyse_stream import analyse_lines
from tests.harness.static.assembler import assemble
from tests.harness.static.bomb_codes import bomb

CODE = "0x" + assemble("CALLER SELFDESTRUCT 1 0 MSTORE 32 0 RETURN").hex()
LINES = [
    json.dumps({"id": "a", "runtime": "0x" + assemble("1 0 MSTORE 32 0 RETURN").hex()}).encode(),
    b"not json\n",
    b"\n",
    b'{"id": "no code"}\n',
    b'{"id": 7, "runtime": "0xzz"}\n',
    b'{"id": "odd", "runtime": "0x600"}\n',
    b"\xff\xfe\n",
    b'{"more": ' + b"[" * 100_000 + b"\n",
    json.dumps({"id": "long", "runtime": "00" * (2**20 + 1)}).encode(),
    json.dumps({"id": 8, "runtime": CODE[2:], "more": 1}).encode() + b"\n",
]


def test_a_code_over_its_processor_time_is_unknown_and_the_next_is_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(analyse_stream, "LONGEST_S", 0.5)
    lines = [json.dumps({"id": 1, "runtime": bomb("deep loops").hex()}).encode(), LINES[0]]
    cut, honest = [json.loads(line) for line in analyse_lines(lines, processes=1)]
    assert {name for name, value in cut["features"].items() if value is not None} == set()
    assert honest["features"]["can_selfdestruct"] is False


@pytest.mark.parametrize("processes", [1, 2])
def test_lines(processes: int) -> None:
    answers = [json.loads(line) for line in analyse_lines(LINES, processes=processes)]
    assert [answer["id"] for answer in answers] == [
        *("a", None, "no code", 7, "odd", None, None, "long", 8)
    ]
    good = [answer for answer in answers if "error" not in answer]
    assert [answer["features"]["can_selfdestruct"] for answer in good] == [False, True]
    assert all(answer["ms"] >= 0 and answer["evidence"] is not None for answer in good)
    assert all(answer["error"] for answer in answers if answer not in good)
