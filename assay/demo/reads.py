"""Reads of contracts on the embedded chain."""

from typing import cast

from assay.demo.anvil import AnvilNode
from core.evm.abi import call_data, decode_values
from core.evm.primitives import Address


def read(
    node: AnvilNode, to: Address, signature: str, *values: object, returns: str = "(uint256)"
) -> tuple[object, ...]:
    """Call a view function at the head and decode its result.

    Raises NodeRefusedError if it reverts, AbiError for a result of another type.
    """
    call = {"to": to, "data": call_data(signature, *values)}
    return decode_values(returns, str(node.rpc("eth_call", call, "latest")))


def read_address(node: AnvilNode, to: Address, signature: str, *values: object) -> Address:
    """As `read`, for a function that returns one address."""
    return Address(str(read(node, to, signature, *values, returns="(address)")[0]))


def balance_of(node: AnvilNode, token: Address, account: Address) -> int:
    """Return the balance of an account, in smallest units."""
    return cast(int, read(node, token, "balanceOf(address)", account)[0])
