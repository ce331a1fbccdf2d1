"""Keccak-256, by which Ethereum hashes code, signatures, storage keys and addresses."""

from sha3 import keccak_256


def keccak(data: bytes) -> bytes:
    """Return the 32-byte hash. Not NIST's SHA3-256, which pads differently."""
    return bytes(keccak_256(data).digest())
