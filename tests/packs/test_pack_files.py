"""Protects readers of a foreign pack: its file, its signature and the equality of its answers."""

import json

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data
from hypothesis import given
from hypothesis import strategies as st

from analysis.replay.answer_parts import FAILED, answer_parts
from analysis.replay.evidence_pack import (
    MOST_BYTES,
    MOST_CALLS,
    EvidencePack,
    EvidencePackError,
    canonical,
    compress_pack,
    decode_pack,
    encode_pack,
)
from analysis.replay.pack_signature import find_signer, sign_pack
from analysis.replay.replay_pack import check_pack
from core.errors import ConfigError
from core.evm.keccak import keccak
from core.evm.primitives import Address
from core.process import zstd
from core.process.secret import Secret
from core.rpc.messages import RpcAnswer, RpcFault
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


# --- pack signature -----------------------------------------------------------------------------

KEYS = tuple(f"0x{number:064x}" for number in (1, 2, 7**80))

ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def typed_data(pack: EvidencePack) -> dict[str, object]:
    """Return the signed data of a pack as EIP-712 JSON."""
    return {
        "primaryType": "EvidencePack",
        "types": {
            "EIP712Domain": [
                {"name": "name", "type": "string"},
                {"name": "version", "type": "string"},
                {"name": "chainId", "type": "uint256"},
            ],
            "EvidencePack": [
                {"name": "token", "type": "address"},
                {"name": "blockNumber", "type": "uint256"},
                {"name": "blockHash", "type": "bytes32"},
                {"name": "content", "type": "bytes32"},
            ],
        },
        "domain": {"name": "Assay evidence pack", "version": "1", "chainId": pack.chain_id},
        "message": {
            "token": pack.report.token.address,
            "blockNumber": pack.block.number,
            "blockHash": pack.block.hash,
            "content": "0x" + keccak(canonical(pack)).hex(),
        },
    }


@pytest.mark.parametrize("key", KEYS)
def test_another_library_signs_the_same_and_finds_the_signer(key: str) -> None:
    signed = sign_pack(PACK, Secret(key))
    assert signed.signature is not None
    message = encode_typed_data(full_message=typed_data(PACK))
    assert Account.sign_message(message, key).signature.hex() == signed.signature.value[2:]
    signer = Account.recover_message(message, signature=signed.signature.value)
    assert signer.lower() == signed.signature.signer == find_signer(signed)
    assert find_signer(decode_pack(encode_pack(signed))) == signed.signature.signer


def test_an_unsigned_pack_has_no_signer() -> None:
    assert find_signer(PACK) is None


def test_a_changed_pack_and_a_foreign_signer_are_found() -> None:
    signed = sign_pack(PACK, Secret(KEYS[0]))
    assert signed.signature is not None
    value = bytes.fromhex(signed.signature.value[2:])
    other_s = ORDER - int.from_bytes(value[32:64])
    mirrored = value[:32] + other_s.to_bytes(32) + bytes((55 - value[64],))
    signatures = [
        msgspec.structs.replace(signed.signature, signer=Address("0x" + "1" * 40)),
        msgspec.structs.replace(signed.signature, value="0x" + "0" * 130),
        msgspec.structs.replace(signed.signature, value="0x" + mirrored.hex()),
    ]
    forged = [msgspec.structs.replace(signed, signature=each) for each in signatures]
    for pack in (*forged, msgspec.structs.replace(signed, made_by="another")):
        with pytest.raises(EvidencePackError, match="signature"):
            find_signer(pack)


@pytest.mark.parametrize("key", ["", "0x12", "z" * 64, "0" * 64, "f" * 64])
def test_a_key_that_is_none_is_not_shown(key: str) -> None:
    with pytest.raises(ConfigError) as caught:
        sign_pack(PACK, Secret(key))
    assert caught.value.key == "ASSAY_SIGNING_KEY"
    assert not key or key not in str(caught.value)


# --- answer parts -------------------------------------------------------------------------------

LONG = "0x" + "ab" * 500

OTHER = LONG[:-1] + "c"


def raw(value: object) -> msgspec.Raw:
    return msgspec.Raw(json.dumps(value).encode())


def simulated(**call: object) -> msgspec.Raw:
    return raw([{"calls": [{"status": "0x1", "returnData": "0x01", "gasUsed": "0x5208"} | call]}])


LOG = {"address": "0xaa", "topics": ["0x01"], "data": "0x02"}

FAULT = RpcFault(code=3, message="execution reverted: no", data="0x08c379a0")

SAME: list[tuple[str, RpcAnswer, RpcAnswer]] = [
    ("eth_call", raw("0xAB"), raw("0xab")),
    ("eth_getStorageAt", raw("0x1"), raw("0x" + "1".rjust(64, "0"))),
    ("eth_call", FAULT, RpcFault(code=-32000, message="VM Exception", data="0x08C379A0")),
    ("eth_call", RpcFault(code=-1, message="Reverted"), RpcFault(code=3, message="x")),
    ("eth_simulateV1", simulated(), simulated(gasUsed="0x1")),
    ("eth_simulateV1", simulated(logs=[LOG]), simulated(logs=[LOG | {"logIndex": "0x1"}])),
    (
        "eth_simulateV1",
        simulated(status="0x0", returnData="0x", error={"message": "a", "data": "0x08"}),
        simulated(status="0x0", returnData="0x08", error={"message": "b"}),
    ),
]

DIFFERENT: list[tuple[str, RpcAnswer, RpcAnswer]] = [
    ("eth_call", raw(LONG), raw(OTHER)),
    ("eth_getCode", raw(LONG), raw(LONG + "ab")),
    ("eth_call", raw("0x"), FAULT),
    ("eth_call", FAULT, RpcFault(code=3, message="execution reverted")),
    ("eth_simulateV1", simulated(), simulated(status="0x0")),
    ("eth_simulateV1", simulated(), simulated(logs=[LOG])),
    ("eth_simulateV1", simulated(returnData=LONG), simulated(returnData=OTHER)),
    ("eth_getLogs", raw([LOG] * 70), raw([LOG] * 69 + [LOG | {"data": "0x03"}])),
]


@pytest.mark.parametrize(("method", "one", "other"), SAME)
def test_clients_that_say_the_same_agree(method: str, one: RpcAnswer, other: RpcAnswer) -> None:
    assert answer_parts(method, one) == answer_parts(method, other) != (FAILED,)


@pytest.mark.parametrize(("method", "one", "other"), DIFFERENT)
def test_another_answer_is_told_apart(method: str, one: RpcAnswer, other: RpcAnswer) -> None:
    assert answer_parts(method, one) != answer_parts(method, other)


@pytest.mark.parametrize(
    "answer",
    [
        RpcFault(code=-32601, message="the method does not exist"),
        RpcFault(code=-32000, message="header not found"),
        raw(None),
        raw("ab"),
        raw([{"calls": [{}]}]),
        msgspec.Raw(b"{"),
    ],
)
def test_what_was_not_carried_out_is_never_an_answer(answer: RpcAnswer) -> None:
    methods = ("eth_call", "eth_simulateV1") if answer != raw("ab") else ("eth_call",)
    assert {answer_parts(method, answer) for method in methods} == {(FAILED,)}


def test_a_part_is_short() -> None:
    assert all(len(part) <= 400 for part in answer_parts("eth_getCode", raw(LONG * 9)))
