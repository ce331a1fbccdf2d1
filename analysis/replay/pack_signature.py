"""Signatures of evidence packs: EIP-712 typed data, signed with secp256k1.

Signed are the token, the block and the Keccak hash of the pack's canonical form, in a domain that
names the chain. Source: EIP-712; the malleability bound of EIP-2.
"""

from typing import Final

import coincurve
import msgspec

from analysis.replay.evidence_pack import (
    EvidencePack,
    EvidencePackError,
    PackSignature,
    canonical,
)
from core.errors import ConfigError
from core.evm.keccak import keccak
from core.evm.primitives import Address
from core.process.secret import Secret

KEY_VARIABLE: Final = "ASSAY_SIGNING_KEY"

NAME: Final = "Assay evidence pack"
DOMAIN_VERSION: Final = "1"
DOMAIN_TYPE: Final = "EIP712Domain(string name,string version,uint256 chainId)"
PACK_TYPE: Final = (
    "EvidencePack(address token,uint256 blockNumber,bytes32 blockHash,bytes32 content)"
)

_KEY_BYTES: Final = 32
_V_BASE: Final = 27
_ORDER: Final = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141


def sign_pack(pack: EvidencePack, key: Secret) -> EvidencePack:
    """Return the pack with a signature by the private key, 32 bytes of hex. Raises ConfigError for
    a key that is none, without showing it."""
    try:
        secret = bytes.fromhex(key.value.removeprefix("0x"))
        private = coincurve.PrivateKey(secret if len(secret) == _KEY_BYTES else b"")
    except ValueError:
        reason = "is no private key: 32 bytes as hex, above 0 and below the order of secp256k1"
        raise ConfigError(source="environment", key=KEY_VARIABLE, reason=reason) from None
    signed = private.sign_recoverable(digest(pack), hasher=None)
    value = signed[:64] + bytes((signed[64] + _V_BASE,))
    signature = PackSignature(signer=_address(private.public_key), value="0x" + value.hex())
    return msgspec.structs.replace(pack, signature=signature)


def find_signer(pack: EvidencePack) -> Address | None:
    """Return the signer of the pack in its present form. None: not signed.

    Raises EvidencePackError for a signature of another content, or by another than it names.
    """
    if pack.signature is None:
        return None
    value = bytes.fromhex(pack.signature.value[2:])
    if value[64] not in (_V_BASE, _V_BASE + 1) or int.from_bytes(value[32:64]) > _ORDER // 2:
        raise EvidencePackError(reason="its signature is in no canonical form")
    recoverable = value[:64] + bytes((value[64] - _V_BASE,))
    try:
        public = coincurve.PublicKey.from_signature_and_message(
            recoverable, digest(pack), hasher=None
        )
    except Exception as error:  # coincurve raises Exception itself
        raise EvidencePackError(reason="its signature is invalid") from error
    if _address(public) != pack.signature.signer:
        reason = f"it was changed after {pack.signature.signer} signed it, or by somebody else"
        raise EvidencePackError(reason=f"its signature does not fit: {reason}")
    return pack.signature.signer


def digest(pack: EvidencePack) -> bytes:
    """Return the 32 bytes that are signed."""
    domain = keccak(
        keccak(DOMAIN_TYPE.encode())
        + keccak(NAME.encode())
        + keccak(DOMAIN_VERSION.encode())
        + pack.chain_id.to_bytes(32)
    )
    content = keccak(
        keccak(PACK_TYPE.encode())
        + bytes.fromhex(pack.report.token.address[2:]).rjust(32, b"\0")
        + pack.block.number.to_bytes(32)
        + bytes.fromhex(pack.block.hash[2:])
        + keccak(canonical(pack))
    )
    return keccak(b"\x19\x01" + domain + content)


def _address(key: coincurve.PublicKey) -> Address:
    return Address("0x" + keccak(key.format(compressed=False)[1:])[-20:].hex())
