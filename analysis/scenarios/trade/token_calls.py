"""Calls of an ERC-20 token that the simulations share."""

from analysis.simulation.simulate_v1 import CALL_GAS, READ_GAS, SimCall
from core.evm.abi import call_data
from core.evm.primitives import Address

UNLIMITED = 2**256 - 1


def balance_call(
    token: Address, owner: Address, label: str, *, reader: Address | None = None
) -> SimCall:
    """Return a balance read. `reader` None: the owner itself, which then needs coins for gas."""
    data = call_data("balanceOf(address)", owner)
    return SimCall(label=label, sender=reader or owner, to=token, data=data, gas=READ_GAS)


def approve_call(
    token: Address,
    owner: Address,
    spender: Address,
    label: str,
    *,
    amount: int = UNLIMITED,
    gas: int | None = None,
) -> SimCall:
    """Return an approval. `gas` None: CALL_GAS."""
    data = call_data("approve(address,uint256)", spender, amount)
    return SimCall(
        label=label, sender=owner, to=token, data=data, gas=gas or CALL_GAS, is_trade=True
    )


def transfer_call(token: Address, owner: Address, recipient: Address, amount: int) -> SimCall:
    """Return a transfer."""
    data = call_data("transfer(address,uint256)", recipient, amount)
    return SimCall(label="transfer", sender=owner, to=token, data=data, is_trade=True)
