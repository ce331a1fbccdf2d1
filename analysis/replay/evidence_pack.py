"""Evidence pack: one report, and every node call behind it, in one file.

The file is JSON, or zstd of it. The signature is over its canonical form: keys sorted, no blanks,
no signature.
"""

from typing import Annotated, Final, Literal

import msgspec

from config.settings import AnalysisSettings
from core.errors import CallerError
from core.evm.primitives import Address, BlockRef, Hash32
from core.process import zstd
from core.report.report import Report

VERSION: Final = 1

MOST_BYTES: Final = 16 * 2**20
"""Largest file, uncompressed."""

MOST_CALLS: Final = 4_000
_LEVEL: Final = 22
_ZSTD_MAGIC: Final = b"\x28\xb5\x2f\xfd"

_Hash = Annotated[Hash32, msgspec.Meta(pattern="^0x[0-9a-f]{64}$")]
_Part = Annotated[str, msgspec.Meta(max_length=400)]

PackMethod = Literal[
    "eth_call",
    "eth_getBlockByHash",
    "eth_getCode",
    "eth_getLogs",
    "eth_getStorageAt",
    "eth_simulateV1",
]
"""Methods of a pack's requests: reads of one block, and simulations on it."""


class EvidencePackError(CallerError):
    """A file is no evidence pack, contains a forbidden request, or a pack would be too large."""

    def __init__(self, *, reason: str) -> None:
        super().__init__(f"evidence pack: {reason}")
        self.reason = reason


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Base of the parts of a pack."""


class RecordedCall(_Strict, frozen=True, kw_only=True):
    """One request to a node, and its answer."""

    method: PackMethod
    params: tuple[object, ...]
    """As sent, with the block by its hash (EIP-1898)."""
    answer: tuple[_Part, ...]
    """Parts of `answer_parts`: long ones are cut and end in a digest of the whole."""


class Given(_Strict, frozen=True, kw_only=True):
    """Inputs of the analysis besides the node's answers."""

    settings: AnalysisSettings
    index: msgspec.Raw
    """IndexedFacts as JSON: pools, holders and launches of the index."""
    secret: str
    """Seed of the simulations' accounts and amounts, for this pack only."""
    now_s: int
    """Unix seconds."""
    chain_facts: _Hash
    """Keccak of the configured facts of the chain: exchanges, anchors, launch platforms."""


class PackSignature(_Strict, frozen=True, kw_only=True):
    """Signature of the deployment that made the pack (EIP-712)."""

    signer: Annotated[Address, msgspec.Meta(pattern="^0x[0-9a-f]{40}$")]
    value: Annotated[str, msgspec.Meta(pattern="^0x[0-9a-f]{130}$")]
    """r, s and v as 65 bytes."""


class EvidencePack(_Strict, frozen=True, kw_only=True):
    """One analysis that others can repeat."""

    version: Literal[1] = VERSION
    made_by: Annotated[str, msgspec.Meta(max_length=100)]
    """Name and release of the program."""
    chain_id: Annotated[int, msgspec.Meta(ge=1, le=2**53)]
    block: BlockRef
    given: Given
    calls: Annotated[tuple[RecordedCall, ...], msgspec.Meta(max_length=MOST_CALLS)]
    report: Report
    """Report that follows from the calls. Its `evidence` is empty: the calls replace it."""
    signature: PackSignature | None = None


class PackFile(msgspec.Struct, frozen=True, kw_only=True):
    """A pack as a file."""

    body: bytes
    """zstd of JSON."""
    block: BlockRef
    """Block of the analysis."""
    signer: Address | None
    """None: it is not signed."""


def canonical(pack: EvidencePack) -> bytes:
    """Return the signed text: the pack as JSON with sorted keys, without the signature."""
    unsigned = msgspec.structs.replace(pack, signature=None)
    # Through plain values: `Raw` is written as it was read, with its keys in any order.
    plain = msgspec.json.decode(msgspec.json.encode(unsigned))
    return msgspec.json.encode(plain, order="sorted")


def encode_pack(pack: EvidencePack) -> bytes:
    """Return the pack as JSON text."""
    return msgspec.json.encode(pack)


def file_of(pack: EvidencePack) -> PackFile:
    """Return the pack as a file."""
    signer = None if pack.signature is None else pack.signature.signer
    return PackFile(body=compress_pack(encode_pack(pack)), block=pack.block, signer=signer)


def compress_pack(text: bytes) -> bytes:
    """Return the JSON text of a pack, compressed."""
    return zstd.compress(text, level=_LEVEL)


def decode_pack(data: bytes) -> EvidencePack:
    """Return the pack in a file, compressed or not. Its calls are not checked.

    Raises EvidencePackError.
    """
    text = _unpacked(data)
    try:
        return msgspec.json.decode(text, type=EvidencePack)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise EvidencePackError(reason=f"not one of version {VERSION}: {error}") from None


def _unpacked(data: bytes) -> bytes:
    if len(data) > MOST_BYTES:
        raise EvidencePackError(reason=f"more than {MOST_BYTES} bytes")
    if not data.startswith(_ZSTD_MAGIC):
        return data
    decompressor = zstd.ZstdDecompressor()
    try:
        text = decompressor.decompress(data, max_length=MOST_BYTES + 1)
    except zstd.ZstdError as error:
        raise EvidencePackError(reason=f"not zstd: {error}") from None
    if len(text) > MOST_BYTES:
        raise EvidencePackError(reason=f"more than {MOST_BYTES} bytes unpacked")
    if not decompressor.eof or decompressor.unused_data:
        raise EvidencePackError(reason="zstd data is cut short, or goes on behind its end")
    return text
