"""Called trade: simulates an unsigned call from the account of its sender.

The account approves first where the call needs it, in a separate block. Another account reads
balances and allowances before and after, so that changes do not rest on events, which only name
contracts to read. Only missing coins and tokens are overridden. Sends no request.
"""

from collections.abc import Sequence
from typing import Final

import msgspec

from analysis.scenarios.trade.token_calls import approve_call, balance_call
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CALL_GAS,
    READ_GAS,
    CallHandle,
    SimCall,
    Simulation,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.abi import address_word, call_data
from core.evm.primitives import Address, BlockRef, RawAmount

_COINS_CODE: Final = "0x5f35315f5260205ff3"
"""BALANCE of the address in the calldata; MSTORE at 0; RETURN 32 bytes."""

_PERMIT2_EXPIRY_S: Final = 2**48 - 1

_FEE_MARGIN_PCT: Final = 25
"""Percent over the base fee: simulated blocks have up to a tenth more of it than the pinned one."""


class AllowanceKey(msgspec.Struct, frozen=True, kw_only=True):
    """One allowance of the sender."""

    token: Address
    spender: Address
    permit2: Address | None = None
    """The Permit2 contract that keeps it. None: the token itself."""
    is_for_all: bool = False
    """True for an operator of all items of a collection: 1 or 0."""


class WatchedReads(msgspec.Struct, frozen=True, kw_only=True):
    """Reads before and after the call."""

    contracts: tuple[Address, ...]
    """Tokens whose balance of the sender is read."""
    allowances: tuple[AllowanceKey, ...]


class SenderState(msgspec.Struct, frozen=True, kw_only=True):
    """The sender, and the coins and tokens that the simulation gives it."""

    address: Address
    given_wei: int | None
    """Wei that it is set to, without gas. None: its own are enough."""
    given_raw: RawAmount | None
    """Balance of the paying token that it is set to, in smallest units. None: its own is enough, or
    cannot be set."""
    slot_index: int | None


class TradeCall(msgspec.Struct, frozen=True, kw_only=True):
    """The call with its payment."""

    to: Address
    data: str
    value_wei: int
    pays_with: Address | None
    """Token that it takes from the sender. None: the native coin."""
    amount_raw: RawAmount
    """Amount that it pays."""
    spender: Address
    """Spender of the allowance: the called contract, or Permit2."""
    permit2: Address | None = None
    """Permit2, where the called contract pulls through it. None: it pulls itself."""


class CallReads(msgspec.Struct, frozen=True, kw_only=True):
    """Reads of the sender at one moment."""

    coins: CallHandle
    balances: tuple[CallHandle, ...]
    allowances: tuple[CallHandle, ...]


class CalledTrade(msgspec.Struct, frozen=True, kw_only=True):
    """The simulation of one call."""

    simulation: Simulation
    watched: WatchedReads
    before: CallReads
    approvals: tuple[CallHandle, ...]
    called: CallHandle
    after: CallReads
    gas_price_wei: int


def write_called_trade(
    call: TradeCall,
    sender: SenderState,
    watched: WatchedReads,
    *,
    pin: BlockRef,
    disguise: Disguise,
    blocks: Sequence[tuple[int, int]],
    needs_approval: bool,
) -> CalledTrade:
    """Return the simulation. `blocks`: number and time of the approval, and of the call."""
    builder = SimulationBuilder(blocks if needs_approval else blocks[:1])
    reader, probe = disguise.account("reader"), disguise.account("coins")
    price = (disguise.base_fee_wei or 0) * (100 + _FEE_MARGIN_PCT) // 100 + disguise.tips_wei[0]
    before = _write_reads(builder[0], sender.address, watched, reader=reader, probe=probe)
    approvals = _write_approvals(builder[0], call, sender.address, price) if needs_approval else ()
    last = builder[len(builder) - 1]
    called = last.add(
        SimCall(
            label="the call",
            sender=sender.address,
            to=call.to,
            data=call.data,
            value=call.value_wei,
            gas=CALL_GAS,
            is_trade=True,
            gas_price_wei=price,
        )
    )
    after = _write_reads(last, sender.address, watched, reader=reader, probe=probe)
    purses = {reader: disguise.purse(reader)}
    if sender.given_wei is not None:
        purses[sender.address] = sender.given_wei
    storage = {}
    if sender.given_raw is not None and sender.slot_index is not None and call.pays_with:
        storage[call.pays_with] = balance_override(
            sender.address, sender.given_raw, index=sender.slot_index
        )
    simulation = Simulation(
        pin=pin,
        disguise=disguise,
        blocks=builder.blocks(),
        purses=purses,
        storage=storage,
        code={probe: _COINS_CODE},
        is_validated=disguise.is_validated,
    )
    return CalledTrade(
        simulation=simulation,
        watched=watched,
        before=before,
        approvals=approvals,
        called=called,
        after=after,
        gas_price_wei=price,
    )


def least_wei(call: TradeCall, *, gas_price_wei: int) -> int:
    """Return the wei that nodes require of the sender: the value, and the gas of approvals and
    call."""
    approvals = 0 if call.pays_with is None else 2 if call.permit2 else 1
    return call.value_wei + (1 + approvals) * CALL_GAS * gas_price_wei


def _write_reads(
    calls: CallWriter, owner: Address, watched: WatchedReads, *, reader: Address, probe: Address
) -> CallReads:
    padded = address_word(owner)
    coins = SimCall(label="coins", sender=reader, to=probe, data=padded, gas=READ_GAS)
    return CallReads(
        coins=calls.add(coins),
        balances=tuple(
            calls.add(balance_call(contract, owner, f"balance of {contract}", reader=reader))
            for contract in watched.contracts
        ),
        allowances=tuple(
            calls.add(_allowance_call(key, owner, reader)) for key in watched.allowances
        ),
    )


def _allowance_call(key: AllowanceKey, owner: Address, reader: Address) -> SimCall:
    to = key.permit2 or key.token
    if key.permit2 is not None:
        names = "allowance(address,address,address)"
        data = call_data(names, owner, key.token, key.spender)
    elif key.is_for_all:
        data = call_data("isApprovedForAll(address,address)", owner, key.spender)
    else:
        data = call_data("allowance(address,address)", owner, key.spender)
    return SimCall(
        label=f"allowance of {key.spender}", sender=reader, to=to, data=data, gas=READ_GAS
    )


def _write_approvals(
    calls: CallWriter, call: TradeCall, owner: Address, price: int
) -> tuple[CallHandle, ...]:
    """Write the approval of exactly the amount, and through Permit2 the grant in it."""
    if call.pays_with is None:
        return ()
    written = [approve_call(call.pays_with, owner, call.spender, "approve", amount=call.amount_raw)]
    if call.permit2 is not None:
        grant = (call.pays_with, call.to, call.amount_raw, _PERMIT2_EXPIRY_S)
        data = call_data("approve(address,address,uint160,uint48)", *grant)
        written.append(SimCall(label="grant", sender=owner, to=call.permit2, data=data))
    return tuple(calls.add(msgspec.structs.replace(each, gas_price_wei=price)) for each in written)
