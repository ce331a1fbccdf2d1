"""Protects readers of a foreign pack: a hostile file is an error, and nothing more."""

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.replay.evidence_pack import (
    MOST_BYTES,
    MOST_CALLS,
    EvidencePackError,
    canonical,
    compress_pack,
    decode_pack,
    encode_pack,
)
from analysis.replay.replay_pack import check_pack
from core.process import zstd
from tests.harness.packs.small_packs import PACK

TEXT = encode_pack(PACK)
PLAIN = msgspec.json.decode(TEXT)


def changed(**fields: object) -> bytes:
    return msgspec.json.encode({**PLAIN, **fields})


def test_a_pack_is_read_as_it_was_written_packed_or_not() -> None:
    for data in (TEXT, compress_pack(TEXT)):
        assert canonical(decode_pack(data)) == canonical(PACK)


def test_the_order_of_keys_in_a_file_does_not_change_what_is_signed() -> None:
    turned = msgspec.json.encode(dict(reversed(PLAIN.items())))
    assert turned != TEXT
    assert canonical(decode_pack(turned)) == canonical(PACK)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"{}",
        b"null",
        b"\xff\xfe",
        b"[" * 100_000,
        zstd.compress(TEXT)[:-5],
        zstd.compress(TEXT) + b"more",
        b"\x28\xb5\x2f\xfd" + b"\0" * 20,
        zstd.compress(b" " * (MOST_BYTES + 1)),
        b" " * (MOST_BYTES + 1),
        changed(version=2),
        changed(more=1),
        changed(chain_id=0),
        changed(made_by="a" * 101),
        changed(calls=[{"method": "eth_sendRawTransaction", "params": [], "answer": []}]),
        changed(calls=[{"method": "eth_call", "params": [], "answer": ["0" * 401]}]),
        changed(calls=PLAIN["calls"] * (MOST_CALLS + 1)),
        changed(signature={"signer": "0x", "value": "0x"}),
        changed(report={}),
    ],
    ids=range(19),
)
def test_a_hostile_file_is_refused(data: bytes) -> None:
    with pytest.raises(EvidencePackError):
        decode_pack(data)


@given(st.data())
def test_a_damaged_file_is_a_pack_or_refused(data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(TEXT) - 1))
    damaged = bytearray(TEXT)
    damaged[at] = data.draw(st.integers(0, 255))
    try:
        check_pack(decode_pack(bytes(damaged)))
    except EvidencePackError:
        return


@pytest.mark.parametrize(
    "field",
    [("number", -1), ("number", 2**63), ("time_s", -1), ("hash", "0x12"), ("hash", "z" * 66)],
)
def test_a_block_that_is_none_is_refused(field: tuple[str, object]) -> None:
    name, value = field
    forged = msgspec.json.decode(TEXT)
    forged["block"][name] = value
    if name != "time_s":
        forged["report"]["token"][f"block_{name}"] = value
    with pytest.raises(EvidencePackError):
        check_pack(decode_pack(msgspec.json.encode(forged)))


def test_a_report_of_another_block_is_refused() -> None:
    check_pack(PACK)
    token = msgspec.structs.replace(PACK.report.token, block_number=PACK.block.number + 1)
    other = msgspec.structs.replace(PACK.report, token=token)
    with pytest.raises(EvidencePackError, match="another block"):
        check_pack(msgspec.structs.replace(PACK, report=other))
