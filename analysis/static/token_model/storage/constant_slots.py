"""Constant slots that may be entries of mappings.

Optimisers hash constant keys at compile time, so `balances[0x12..]` is one number in the code, and
nothing shows its key. Slots that standards and libraries name by a text are known.
"""

from functools import cache
from typing import Final

from core.evm.keccak import keccak

_SMALL: Final = 2**64
_WORD: Final = 32
_STRUCT: Final = 32
"""Slots after a named one that belong to the same struct."""
_PLAIN: Final = (
    "org.zeppelinos.proxy.implementation",
    "org.zeppelinos.proxy.admin",
    "org.zeppelinos.proxy.owner",
    "org.zeppelinos.proxy.pendingOwner",
    "PROXIABLE",
    "diamond.standard.diamond.storage",
)
_LESS_ONE: Final = (
    "eip1967.proxy.implementation",
    "eip1967.proxy.beacon",
    "eip1967.proxy.admin",
    "eip1967.proxy.rollback",
)
"""Source: ERC-1967."""
_NAMESPACES: Final = tuple(
    f"openzeppelin.storage.{name}"
    for name in (
        *("ERC20", "ERC20Capped", "ERC20Wrapper", "ERC4626", "ERC20Pausable", "ERC721", "ERC1155"),
        *("Ownable", "Ownable2Step", "AccessControl", "AccessControlEnumerable", "AccessManaged"),
        *("AccessControlDefaultAdminRules", "Initializable", "Pausable", "ReentrancyGuard"),
        *("EIP712", "Nonces", "Votes", "Governor", "ERC2981"),
    )
)
"""Source: ERC-7201, and openzeppelin-contracts-upgradeable 5."""


def may_be_entry(slot: object) -> bool:
    """True for a constant that looks like a hash and has no known name."""
    if not isinstance(slot, int) or slot < _SMALL:
        return False
    return is_hash_like(slot) and not any(0 <= slot - named < _STRUCT for named in standard_slots())


def is_hash_like(number: int) -> bool:
    """True for a word with as many different bytes as hashes have; masks and texts have fewer."""
    return len(set(number.to_bytes(_WORD))) > _WORD // 2


@cache
def standard_slots() -> frozenset[int]:
    """Return the slots that standards and libraries name by a text."""
    hashes = {_hash(text.encode()) for text in _PLAIN}
    hashes |= {_hash(text.encode()) - 1 for text in _LESS_ONE}
    inner = (_hash(text.encode()) - 1 for text in _NAMESPACES)
    return frozenset(hashes | {_hash(number.to_bytes(_WORD)) & ~0xFF for number in inner})


def _hash(data: bytes) -> int:
    return int.from_bytes(keccak(data))
