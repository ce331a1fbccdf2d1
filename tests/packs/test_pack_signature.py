"""Protects signatures of packs: eth_account, which wallets' tools use, has the same opinion."""

import msgspec
import pytest
from eth_account import Account
from eth_account.messages import encode_typed_data

from analysis.replay.evidence_pack import (
    EvidencePack,
    EvidencePackError,
    canonical,
    decode_pack,
    encode_pack,
)
from analysis.replay.pack_signature import find_signer, sign_pack
from core.errors import ConfigError
from core.evm.keccak import keccak
from core.evm.primitives import Address
from core.process.secret import Secret
from tests.harness.packs.small_packs import PACK

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
