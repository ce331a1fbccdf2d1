"""A stored clock is never ahead of the clock; a freely chosen value is no stored clock."""

from pathlib import Path
from typing import Final

import pytest

from analysis.static.analyse_code import analyse_code
from assay.demo.compile import compile_runtime
from tests.harness.cases.cases import load_cases
from tests.harness.cases.cases_compile import builds_of, runtime_of

pytestmark = pytest.mark.compiler

SOURCE: Final = """// SPDX-License-Identifier: Apache-2.0
pragma solidity ^0.8.24;

contract Stamps {{
    struct Point {{ uint32 at; uint224 value; }}
    mapping(address => uint256) public balanceOf;
    mapping(address => Point[]) private _points;
    mapping(address => uint256) private _seen;
    uint48 private _last;
    address private immutable _maker = msg.sender;

    function transfer(address to, uint256 value) external returns (bool) {{
        {condition}
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        {noted}
        return true;
    }}

    {more}
}}
"""

STAMPED: Final = {
    "an entry": ("require(_seen[to] <= block.number);", "_seen[to] = block.number;", ""),
    "a field of a packed slot": (
        "require(_last < uint48(block.timestamp));",
        "_last = uint48(block.timestamp);",
        "",
    ),
    "the last of a list": (
        "Point[] storage all = _points[to]; uint256 count = all.length;"
        " require(count == 0 || all[count - 1].at <= uint32(block.number));",
        "_points[to].push(Point(uint32(block.number), uint224(value)));",
        "",
    ),
}
OTHER: Final = {
    "a delay": ("require(_seen[to] + 60 <= block.number);", "_seen[to] = block.number;", ""),
    "a later clock is stored": (
        "require(_seen[to] <= block.number);",
        "_seen[to] = block.number + 5;",
        "",
    ),
    "the other clock is stored": (
        "require(_seen[to] <= block.number);",
        "_seen[to] = block.timestamp;",
        "",
    ),
    "somebody stores what he likes": (
        "require(_seen[to] <= block.number);",
        "_seen[to] = block.number;",
        "function poke(address who, uint256 what) external { if (msg.sender == _maker)"
        " _seen[who] = what; }",
    ),
    "what is stored is never read back": ("require(block.number > 77);", "", ""),
}


def sources_of(tmp_path: Path, condition: str, noted: str, more: str) -> set[str]:
    path = tmp_path / "Stamps.sol"
    path.write_text(SOURCE.format(condition=condition, noted=noted, more=more))
    return {
        limit.source for limit in analyse_code(bytes.fromhex(compile_runtime(path))).clock_limits
    }


@pytest.mark.parametrize("name", STAMPED)
def test_a_clock_compared_with_its_own_past_is_a_stamp(tmp_path: Path, name: str) -> None:
    assert sources_of(tmp_path, *STAMPED[name]) == {"stamp"}


@pytest.mark.parametrize("name", OTHER)
def test_anything_else_is_none(tmp_path: Path, name: str) -> None:
    found = sources_of(tmp_path, *OTHER[name])
    assert found
    assert "stamp" not in found


@pytest.mark.parametrize(("name", "source"), [("VotesByBlock", "stamp"), ("VotesAhead", "storage")])
def test_a_block_packed_with_votes_is_a_stamp_by_every_compiler(name: str, source: str) -> None:
    [case] = [each for each in load_cases() if each.name == name]
    for build in builds_of(case):
        limits = analyse_code(runtime_of(case, build)).clock_limits
        assert {limit.source for limit in limits} == {source}, build.name
