"""Accounts and words that only an override can set, and code that returns them.

They are derived from the hash of the head, so that no node can know them before the request.
"""

from hashlib import sha256

from core.evm.primitives import Address, Hash32
from core.rpc.headers import Header
from core.rpc.messages import RpcRequest

RETURN_STORED = "0x60005460005260206000f3"
"""SLOAD(0), returned."""

RETURN_TIME = "0x4260005260206000f3"
"""TIMESTAMP, returned."""

_GAS = hex(1_000_000)


def drawn_word(head: Header, purpose: str) -> Hash32:
    """Derive a word from the head and a purpose."""
    return Hash32("0x" + sha256(f"{head.ref.hash}:{purpose}".encode()).hexdigest())


def drawn_address(head: Header, purpose: str) -> Address:
    """Derive an address without code, coins and history."""
    return Address("0x" + drawn_word(head, purpose)[-40:])


def returning(word: Hash32) -> str:
    """Return 0x runtime code that returns the word."""
    return f"0x7f{word[2:]}60005260206000f3"


def returning_balance(of: Address) -> str:
    """Return 0x code that returns the balance of an account in wei."""
    return f"0x73{of[2:]}3160005260206000f3"


def pinned(head: Header) -> dict[str, str]:
    """Return the head as a block argument by hash (EIP-1898)."""
    return {"blockHash": head.ref.hash}


def call_with(
    overrides: dict[str, dict[str, object]] | None, block: object, *, to: str | None, data: str
) -> RpcRequest:
    """Build an eth_call. `to` None: the data is creation code, whose result is returned."""
    transaction = {"data": data, "gas": _GAS, **({} if to is None else {"to": to})}
    return RpcRequest("eth_call", (transaction, block, *([overrides] if overrides else [])))
