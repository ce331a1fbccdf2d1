"""Launch platform by a token's code: a clone of one of its implementations, or an identical code
hash.

Anybody can clone an implementation, so this counts only where no registry of the platform denies
the token.
"""

from collections.abc import Iterable

from analysis.static.analyse_code import analyse_code
from config.launchpads import Launchpad
from core.evm.keccak import keccak

_LONGEST_CLONE = 128
"""Longest code of a clone, in bytes. EIP-1167 takes 45, its successors with stored arguments
somewhat more."""


def platforms_of(code: bytes, pads: Iterable[Launchpad]) -> tuple[Launchpad, ...]:
    """Return the platforms whose code this is, in their order."""
    known = [pad for pad in pads if pad.clones_of or pad.code_hashes]
    if not known or not code:
        return ()
    targets = analyse_code(code).delegation.targets if len(code) <= _LONGEST_CLONE else ()
    digest = "0x" + keccak(code).hex()
    return tuple(
        pad
        for pad in known
        if digest in pad.code_hashes or any(target in pad.clones_of for target in targets)
    )
