"""A revert becomes one short printable line, for any content."""

import pytest
from eth_abi.abi import encode
from hypothesis import given
from hypothesis import strategies as st

from analysis.reads.revert_reason import decode_revert

ERROR = bytes.fromhex("08c379a0")
PANIC = bytes.fromhex("4e487b71")
WALLET = "0x" + "ab" * 20
NO_BALANCE = bytes.fromhex("e450d38c") + encode(["address", "uint256", "uint256"], [WALLET, 3, 5])
AFTER_SWAP = bytes.fromhex("b47b2fb1")


def wrapped(reason: bytes) -> bytes:
    """As v4-core's CustomRevert does it."""
    values = [WALLET, AFTER_SWAP, reason, bytes.fromhex("a9e35b2f")]
    return bytes.fromhex("90bfb865") + encode(["address", "bytes4", "bytes", "bytes"], values)


@pytest.mark.parametrize(
    ("data", "message", "reason"),
    [
        (ERROR + encode(["string"], ["not open"]), "x", "not open"),
        (ERROR + encode(["string"], [""]), "x", "reverted with an empty reason"),
        (PANIC + (0x11).to_bytes(32, "big"), "x", "panic 0x11"),
        (bytes.fromhex("deadbeef"), "x", "custom error 0xdeadbeef"),
        (b"", "out of gas", "out of gas"),
        (b"", "", "reverted without a reason"),
        (
            ERROR + b"\xff" * 64,
            "x",
            f"custom error 0x08c379a0(0x{'f' * 64}, 0x{'f' * 64})",
        ),
        (bytes.fromhex("deadbeef") + bytes(96), "x", "custom error 0xdeadbeef(0x0, 0x0, ...)"),
        (NO_BALANCE, "x", f"ERC20InsufficientBalance({WALLET}, 3, 5)"),
        (NO_BALANCE[:16], "x", "custom error 0xe450d38c(0x0)"),
        (bytes.fromhex("5212cba1"), "x", "CurrencyNotSettled()"),
        (
            wrapped(ERROR + encode(["string"], ["no selling"])),
            "x",
            f"{WALLET} failed in 0xb47b2fb1: no selling",
        ),
        (
            wrapped(wrapped(bytes.fromhex("d93c0665"))),
            "x",
            f"{WALLET} failed in 0xb47b2fb1: {WALLET} failed in 0xb47b2fb1: EnforcedPause()",
        ),
        (wrapped(b""), "x", f"{WALLET} failed in 0xb47b2fb1: HookCallFailed()"),
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
