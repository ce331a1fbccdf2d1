"""Transfer check: simulates one transfer of a holder and measures its tax.

Determines transfer_success, send_tax and receive_tax from balances alone: neither logs nor return
values are trusted. Source: the specification, "Transfer check".
"""

from collections.abc import Collection, Sequence

import msgspec

from analysis.reads.revert_reason import decode_revert
from analysis.scenarios.trade.token_calls import balance_call
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.abi import call_data
from core.evm.primitives import Address, BlockRef, RawAmount

VERSION = 2

_SHARE_OF_SUPPLY = 10_000
"""Divisor of the supply: a transfer of a ten-thousandth is under every limit that allows trade at
all."""

RECHECK_S = 6 * 3_600
"""Seconds after which a check that found no wallet is repeated. Source: the specification, "Other
constants"."""

MOVED_NOTHING = "the call succeeded but moved nothing"
"""Reason of a transfer that is refused without a revert."""

_TRIED_SHARES = (("", 1), ("smaller ", 100), ("smallest ", 10**6))
"""Label prefix and divisor of the amount, for each attempt."""

_KEPT_PARTS = 4
"""Factor between balance and sent amount: some tokens revert when a wallet is emptied."""


class Wallet(msgspec.Struct, frozen=True, kw_only=True):
    """The sender: a wallet funded through the balance slot by state override, or a real holder."""

    address: Address
    balance_raw: RawAmount
    amount_raw: RawAmount
    """Amount that it sends."""
    slot_index: int | None
    """Index of the balance slot to fund it by. None: a real holder with that balance."""


class TransferSteps(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to transfer, with both balances read before and after."""

    amount_raw: RawAmount
    sender_before: CallHandle
    recipient_before: CallHandle
    transfer: CallHandle
    sender_after: CallHandle
    recipient_after: CallHandle


class TransferSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """The attempts of one wallet, largest amount first: one simulation."""

    wallet: Wallet
    simulation: Simulation
    attempts: tuple[TransferSteps, ...]


class TransferResult(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of the check. All None: not determined."""

    success: bool | None
    send_tax: float | None
    """Percent."""
    receive_tax: float | None
    """Percent."""
    reason: str
    """Empty on success."""


def funded_wallet(
    disguise: Disguise, token: Address, *, supply_raw: RawAmount, slot_index: int
) -> Wallet:
    """Return a fresh wallet that holds a share of supply too small for a whale."""
    amount = sent_share(supply_raw, disguise)
    return Wallet(
        address=disguise.account(f"{token}:sender"),
        balance_raw=RawAmount(amount * _KEPT_PARTS),
        amount_raw=amount,
        slot_index=slot_index,
    )


def holder_wallet(
    disguise: Disguise, holder: Address, *, balance_raw: RawAmount, supply_raw: RawAmount
) -> Wallet:
    """Return a real holder that sends no more than an ordinary amount. Its balance must not be
    0."""
    return Wallet(
        address=holder,
        balance_raw=balance_raw,
        amount_raw=RawAmount(min(balance_raw, sent_share(supply_raw, disguise))),
        slot_index=None,
    )


def sent_share(supply_raw: RawAmount, disguise: Disguise) -> RawAmount:
    """Return the amount that a wallet sends, at least one unit."""
    return disguise.about(RawAmount(supply_raw // _SHARE_OF_SUPPLY), "share of supply")


_SHORTLISTED = 3


def real_holders(wallets: Sequence[Wallet], special: Collection[Address]) -> tuple[Wallet, ...]:
    """Return wallets that are not funded by override and not special to the code, in order."""
    return tuple(
        wallet for wallet in wallets if wallet.slot_index is None and wallet.address not in special
    )


def choose(wallets: Sequence[Wallet], special: Collection[Address]) -> tuple[Wallet, ...]:
    """Return the senders: the funded wallet, and the largest real holder that is not special to the
    code.

    Owners, and other accounts that the code compares with the caller, are often exempt from tax and
    limits, so they are not representative.
    """
    funded = [wallet for wallet in wallets if wallet.slot_index is not None]
    return (*funded[:1], *real_holders(wallets, special)[:1])


def shortlist(wallets: Sequence[Wallet], special: Collection[Address]) -> tuple[Wallet, ...]:
    """Return more wallets than `choose` will need, for use while not all special accounts are
    known."""
    funded = [wallet for wallet in wallets if wallet.slot_index is not None]
    return (*funded[:1], *real_holders(wallets, special)[:_SHORTLISTED])


def is_due(no_wallet_at_s: int | None, *, now_s: float) -> bool:
    """True if the check is due. `no_wallet_at_s`: time of the last check if it found no wallet;
    such a check is not repeated at every analysis."""
    return no_wallet_at_s is None or now_s - no_wallet_at_s > RECHECK_S


def checked_at_s(
    result: TransferResult | None, *, no_wallet_at_s: int | None, now_s: int
) -> int | None:
    """Return the time of the check that counts. None: one had a wallet and determined nothing.

    `result` None: no wallet.
    """
    if result is not None:
        return now_s if result.success is not None else None
    return now_s if is_due(no_wallet_at_s, now_s=now_s) else no_wallet_at_s


def write_simulation(
    pin: BlockRef, disguise: Disguise, token: Address, wallet: Wallet, *, block: tuple[int, int]
) -> TransferSimulation:
    """Return the attempts in one block: a transfer that reverts for its size may pass with a
    smaller amount."""
    recipient = disguise.account(f"{token}:recipient")
    builder = SimulationBuilder([block])
    attempts = tuple(
        write_transfer(
            builder[0].named(prefix),
            token,
            wallet.address,
            recipient,
            RawAmount(max(1, wallet.amount_raw // share)),
            reader=recipient,
        )
        for prefix, share in _TRIED_SHARES
    )
    funding = (
        {}
        if wallet.slot_index is None
        else {token: balance_override(wallet.address, wallet.balance_raw, index=wallet.slot_index)}
    )
    simulation = Simulation(
        pin=pin,
        disguise=disguise,
        blocks=builder.blocks(),
        purses={account: disguise.purse(account) for account in (wallet.address, recipient)},
        storage=funding,
    )
    return TransferSimulation(wallet=wallet, simulation=simulation, attempts=attempts)


def write_transfer(
    calls: CallWriter,
    token: Address,
    sender: Address,
    recipient: Address,
    amount: RawAmount,
    *,
    reader: Address,
) -> TransferSteps:
    """Write a transfer. `reader`: the account that reads the balances, which needs coins for
    gas."""

    def write_balances(when: str) -> tuple[CallHandle, CallHandle]:
        return (
            calls.add(balance_call(token, sender, f"sender {when}", reader=reader)),
            calls.add(balance_call(token, recipient, f"recipient {when}", reader=reader)),
        )

    before = write_balances("before")
    data = call_data("transfer(address,uint256)", recipient, amount)
    transfer = calls.add(SimCall(label="transfer", sender=sender, to=token, data=data))
    after = write_balances("after")
    return TransferSteps(
        amount_raw=amount,
        sender_before=before[0],
        recipient_before=before[1],
        transfer=transfer,
        sender_after=after[0],
        recipient_after=after[1],
    )


def read_result(
    written: TransferSimulation, result: SimulationResult | NotSimulated
) -> TransferResult:
    """Return the result, from balances. The first attempt that passes counts. If all revert, or
    move nothing, `success` is False."""
    if isinstance(result, NotSimulated):
        return unsettled(result.reason)
    wallet = written.wallet
    given_raw = None if wallet.slot_index is None else wallet.balance_raw
    first, *smaller = written.attempts
    results = [
        read_transfer(result, first, given_raw=given_raw),
        *(read_transfer(result, each) for each in smaller),
    ]
    return next((each for each in results if each.success), results[0])


def read_transfer(
    result: SimulationResult, steps: TransferSteps, *, given_raw: RawAmount | None = None
) -> TransferResult:
    """Return the result of one attempt. `given_raw`: balance of a wallet funded by state override;
    None: not checked."""
    before, after = result.word(steps.sender_before), result.word(steps.sender_after)
    there, then = result.word(steps.recipient_before), result.word(steps.recipient_after)
    if before is None or after is None or there is None or then is None:
        return unsettled("balanceOf did not answer on stage")
    if before < steps.amount_raw or (given_raw is not None and before != given_raw):
        return unsettled("the wallet could not be funded")
    transfer = result[steps.transfer]
    if not transfer.ok:
        return _refused(decode_revert(transfer.data, transfer.message))
    amount, left, arrived = steps.amount_raw, before - after, then - there
    if arrived <= 0 and left <= 0:
        return _refused(MOVED_NOTHING)
    return TransferResult(
        success=True,
        send_tax=percent(left - amount, amount),
        receive_tax=percent(amount - arrived, amount),
        reason="",
    )


def percent(part: int, whole: int) -> float:
    """Return `part` of `whole` in percent, four decimals, never below 0."""
    return round(max(0, part) * 100 / whole, 4)


def unsettled(reason: str) -> TransferResult:
    """Return a result that determines nothing, which is never a pass."""
    return TransferResult(success=None, send_tax=None, receive_tax=None, reason=reason)


def _refused(reason: str) -> TransferResult:
    return TransferResult(success=False, send_tax=None, receive_tax=None, reason=reason)
