"""A revert becomes one short printable line, whatever a contract puts into it."""

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from analysis.revert_reason import decode_revert

ERROR = bytes.fromhex("08c379a0")
PANIC = bytes.fromhex("4e487b71")


@pytest.mark.parametrize(
    ("data", "message", "reason"),
    [
        (ERROR + encode(["string"], ["not open"]), "x", "not open"),
        (ERROR + encode(["string"], [""]), "x", "reverted with an empty reason"),
        (PANIC + (0x11).to_bytes(32, "big"), "x", "panic 0x11"),
        (bytes.fromhex("deadbeef"), "x", "custom error 0xdeadbeef"),
        (b"", "out of gas", "out of gas"),
        (b"", "", "reverted without a reason"),
        (ERROR + b"\xff" * 64, "x", "custom error 0x08c379a0"),
        (ERROR + encode(["string"], ["a\nb\x00c"]), "x", "a b c"),
    ],
)
def test_reasons(data: bytes, message: str, reason: str) -> None:
    assert decode_revert(data, message) == reason


@given(st.binary(max_size=5_000), st.text())
def test_any_bytes_end_in_one_short_printable_line(data: bytes, message: str) -> None:
    for payload in (data, ERROR + data):
        reason = decode_revert(payload, message)
        assert reason
        assert len(reason) <= 200
        assert reason.isprintable()
