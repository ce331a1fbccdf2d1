"""Description of an evidence pack, as an answer for agents."""

import hashlib

from analysis.replay.evidence_pack import PackFile
from api.formats.shape_building import Shape
from core.evm.primitives import Address, checksum


class PackAnswer(Shape, frozen=True, kw_only=True):
    """Description of a pack; the file itself is embedded in the same result."""

    chain: str
    """Slug."""
    contract_address: str
    """Address of the token, with its checksum."""
    block_number: int
    """Block of the analysis."""
    block_hash: str
    """Hash of that block: a check of the pack needs a node that has it."""
    file_name: str
    """Name for the file."""
    size_bytes: int
    """Length of the file."""
    sha256: str
    """SHA-256 of the file, hex."""
    signer: str | None
    """Address of the signer (EIP-712), with its checksum. null: it is not signed."""


def pack_name(chain: str, address: str) -> str:
    """Return the file's name."""
    return f"{chain}-{address.lower()}.pack.zst"


def pack_answer(file: PackFile, *, chain: str, address: str) -> PackAnswer:
    """Describe a pack. `address`: an admitted one."""
    return PackAnswer(
        chain=chain,
        contract_address=checksum(Address(address.lower())),
        block_number=file.block.number,
        block_hash=file.block.hash,
        file_name=pack_name(chain, address),
        size_bytes=len(file.body),
        sha256=hashlib.sha256(file.body).hexdigest(),
        signer=None if file.signer is None else checksum(file.signer),
    )
