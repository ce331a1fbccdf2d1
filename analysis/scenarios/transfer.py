"""Transfer check: simulates one transfer of a holder and measures its tax.

Determines transfer_success, send_tax and receive_tax from balances alone: neither logs nor return
values are trusted. Source: the specification, "Transfer check".
"""

from collections.abc import Collection, Sequence

import msgspec

from analysis.reads.revert_reason import decode_revert
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    NotSimulated,
    SimBlock,
    SimCall,
    Simulation,
    SimulationResult,
)
from core.abi import call_data
from core.primitives import Address, BlockRef, RawAmount

VERSION = 2

_SHARE_OF_SUPPLY = 10_000
"""Divisor of the supply: a transfer of a ten-thousandth is under every limit that allows trade at
all."""

RECHECK_S = 6 * 3_600
"""Seconds after which a check that found no wallet is repeated. Source: the specification, "Other
constants"."""

_TRIED_SHARES = (("", 1), ("smaller ", 100), ("smallest ", 10**6))
"""Label prefix and divisor of the amount, for each attempt."""

_KEPT_PARTS = 4
"""The wallet holds this many times what it sends: some tokens revert when a wallet is emptied."""


class Wallet(msgspec.Struct, frozen=True, kw_only=True):
    """The sender: a wallet funded through the balance slot by state override, or a real holder."""

    address: Address
    balance_raw: RawAmount
    amount_raw: RawAmount
    """Amount that it sends."""
    slot_index: int | None
    """Index of the balance slot to fund it by. None: a real holder with that balance."""


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


def write_play(
    pin: BlockRef, disguise: Disguise, token: Address, wallet: Wallet, *, block: tuple[int, int]
) -> Simulation:
    """Return a simulation of one block that, for each attempt, reads both balances, sends a part
    and reads both again."""
    recipient = disguise.account(f"{token}:recipient")
    number, time_s = block

    def read(label: str, owner: Address) -> SimCall:
        return SimCall(
            label=label,
            sender=recipient,
            to=token,
            data=call_data("balanceOf(address)", owner),
            gas=READ_GAS,
        )

    def tried(words: str, amount: RawAmount) -> tuple[SimCall, ...]:
        return (
            read(f"{words}sender before", wallet.address),
            read(f"{words}recipient before", recipient),
            SimCall(
                label=f"{words}transfer",
                sender=wallet.address,
                to=token,
                data=call_data("transfer(address,uint256)", recipient, amount),
            ),
            read(f"{words}sender after", wallet.address),
            read(f"{words}recipient after", recipient),
        )

    calls = tuple(
        call for words, each in _tries(wallet).items() for call in tried(words, each.amount_raw)
    )
    funding = (
        {}
        if wallet.slot_index is None
        else {token: balance_override(wallet.address, wallet.balance_raw, index=wallet.slot_index)}
    )
    return Simulation(
        pin=pin,
        disguise=disguise,
        blocks=(SimBlock(number=number, time_s=time_s, calls=calls),),
        purses={account: disguise.purse(account) for account in (wallet.address, recipient)},
        storage=funding,
    )


def _tries(wallet: Wallet) -> dict[str, Wallet]:
    """Return the wallet with the amount of each attempt, by label prefix: a transfer that reverts
    for its size may pass with a smaller amount."""
    amounts = {
        words: RawAmount(max(1, wallet.amount_raw // share)) for words, share in _TRIED_SHARES
    }
    return {
        words: msgspec.structs.replace(wallet, amount_raw=amount)
        for words, amount in amounts.items()
    }


def read_result(wallet: Wallet, played: SimulationResult | NotSimulated) -> TransferResult:
    """Return the result, from balances. The first attempt that passes counts. If all revert, or
    move nothing, `success` is False."""
    if isinstance(played, NotSimulated):
        return unsettled(played.reason)
    results = [
        _read_try(each, played, words)
        for words, each in _tries(wallet).items()
        if f"{words}transfer" in played.by_label
    ]
    return next((result for result in results if result.success), results[0])


def _read_try(wallet: Wallet, played: SimulationResult, words: str) -> TransferResult:
    before, after = played[f"{words}sender before"].word, played[f"{words}sender after"].word
    there, then = played[f"{words}recipient before"].word, played[f"{words}recipient after"].word
    if before is None or after is None or there is None or then is None:
        return unsettled("balanceOf did not answer on stage")
    if before < wallet.amount_raw or (
        wallet.slot_index is not None and not words and before != wallet.balance_raw
    ):
        return unsettled("the wallet could not be funded")
    transfer = played[f"{words}transfer"]
    if not transfer.ok:
        return _refused(decode_revert(transfer.data, transfer.message))
    amount, left, arrived = wallet.amount_raw, before - after, then - there
    if arrived <= 0 and left <= 0:
        return _refused("the call succeeded but moved nothing")
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
