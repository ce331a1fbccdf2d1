"""Can somebody move a holder's tokens by `transferFrom` without approval?

Settles allowance_bypass and privileged_spenders. Strangers try first, then everybody the code may
treat specially. Wallets are funded on stage, so that no approval of theirs exists; a real holder
takes back what it may have approved before anybody is tried on it. Source: the specification,
"Simulation".
"""

from collections.abc import Iterator, Sequence

import msgspec

from analysis.calldata import call_data
from analysis.scenarios.theft import Act, Attempt, Crime, Seen, transfer_from
from analysis.scenarios.transfer import Wallet
from config.primitives import Address

_STRANGERS = 3
_MOST_RECIPIENTS = 8
_UNLIMITED = 2**256 - 1


class Bypass(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of the check."""

    value: bool | None
    """None: it did not run."""
    spenders: tuple[Address, ...] = ()
    """Who can, where not everybody can."""


def write_attempts(crime: Crime, suspects: Sequence[Address]) -> list[Attempt]:
    """On wallets funded on stage; where none can be, on a real holder. Empty: there is neither."""
    if crime.slot_index is None:
        return write_on_holder(crime, suspects)
    return [*_by_strangers(crime, suspects), *_by_suspects(crime, suspects)]


def write_on_holder(crime: Crime, suspects: Sequence[Address]) -> list[Attempt]:
    """On a real holder, whom the token may know as one. Empty: none is at hand."""
    if not crime.holders:
        return []
    wallet = crime.holders[0]
    amounts = dict.fromkeys((wallet.amount_raw, 1, wallet.balance_raw))
    recipient = crime.account("recipient")
    found = [
        _attempt(crime.account(f"stranger {at}"), wallet, recipient, amount)
        for at, amount in enumerate(amounts)
    ]
    for suspect in suspects:
        if suspect != wallet.address:
            plain = _attempt(suspect, wallet, recipient, wallet.amount_raw)
            data = call_data("approve(address,uint256)", suspect, 0)
            disallow = Act(sender=wallet.address, data=data, must_pass=True)
            found.append(msgspec.structs.replace(plain, acts=(disallow, *plain.acts)))
    return found


def judge(seen: Sequence[Seen], suspects: Sequence[Address]) -> Bypass:
    """One stranger's success is everybody's. A no needs strangers and suspects to have been seen
    to fail."""
    able = {each.thief for each in seen if each.has_moved}
    if able - set(suspects):
        return Bypass(value=True)
    if able:
        return Bypass(value=True, spenders=tuple(one for one in suspects if one in able))
    tried = {each.thief for each in seen if each.has_moved is False}
    return Bypass(value=False if tried - set(suspects) else None)


def _by_strangers(crime: Crime, suspects: Sequence[Address]) -> Iterator[Attempt]:
    wallets, whales = crime.wallets("robbed"), crime.whales("robbed whale")
    recipient = crime.account("recipient")
    for at in range(_STRANGERS):
        stranger = crime.account(f"stranger {at}")
        for wallet in (next(wallets), next(whales)):
            amount = (wallet.amount_raw, 1, wallet.balance_raw)[at]
            yield _attempt(stranger, wallet, recipient, amount)
        wallet = next(wallets)
        yield _attempt(stranger, wallet, stranger, wallet.amount_raw)
    # A check of the wrong allowance can be met by approving oneself, or the victim.
    for at, approved in enumerate(("stranger", "wallet")):
        stranger, wallet = crime.account(f"stranger {at}"), next(wallets)
        spender = stranger if approved == "stranger" else wallet.address
        data = call_data("approve(address,uint256)", spender, _UNLIMITED)
        plain = _attempt(stranger, wallet, stranger, wallet.amount_raw)
        acts = (Act(sender=stranger, data=data), *plain.acts)
        yield msgspec.structs.replace(plain, acts=acts, what=f"approve the {approved}, then move")
    for special in (*suspects[:_MOST_RECIPIENTS], crime.token):
        wallet = next(wallets)
        yield _attempt(crime.account("stranger 0"), wallet, special, wallet.amount_raw)


def _by_suspects(crime: Crime, suspects: Sequence[Address]) -> Iterator[Attempt]:
    wallets, whales = crime.wallets("lost"), crime.whales("lost whale")
    recipient = crime.account("recipient")
    for suspect in suspects:
        wallet, other, whale = next(wallets), next(wallets), next(whales)
        yield _attempt(suspect, wallet, recipient, wallet.amount_raw)
        yield _attempt(suspect, other, suspect, 1)
        yield _attempt(suspect, whale, recipient, whale.balance_raw)


def _attempt(thief: Address, wallet: Wallet, recipient: Address, amount: int) -> Attempt:
    return Attempt(
        thief=thief,
        wallet=wallet,
        acts=(transfer_from(thief, wallet.address, recipient, amount),),
        what=f"transferFrom of {amount} to {recipient}",
    )
