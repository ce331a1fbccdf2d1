"""Allowance bypass check: simulates `transferFrom` of a holder's tokens without approval.

Determines allowance_bypass and privileged_spenders. Strangers try first, then all accounts that the
code may treat specially. Wallets are funded by state override, so that they have no approvals; a
real holder first revokes its possible approvals. Others approve little, or none, or send a little:
no more of theirs may be taken then. Source: the specification, "Simulation".
"""

from collections.abc import Collection, Iterator, Sequence
from typing import Final, Literal

import msgspec

from analysis.scenarios.theft.attack_setup import AttackCall, AttackSetup, transfer_from
from analysis.scenarios.theft.theft_attempts import TheftAttempt, TheftOutcome
from analysis.scenarios.trade.transfer import Wallet
from core.evm.abi import call_data
from core.evm.primitives import Address, RawAmount

_STRANGERS = 3
_MOST_RECIPIENTS = 8
_UNLIMITED = 2**256 - 1
_LITTLE_SHARE = 100
"""Divisor of what the attacker tries to take."""

_Amount = Literal["none", "little", "much"]

Consent = tuple[tuple[str, _Amount], ...]
"""Calls of a wallet that name an attacker, by signature, each with its amount."""

_APPROVE: Final = "approve(address,uint256)"
APPROVES_LITTLE: Final[Consent] = ((_APPROVE, "little"),)
_SMALL_CONSENTS: Final[tuple[Consent, ...]] = (
    APPROVES_LITTLE,
    ((_APPROVE, "none"),),
    ((_APPROVE, "much"), (_APPROVE, "none")),
    (("increaseAllowance(address,uint256)", "little"),),
    (("decreaseAllowance(address,uint256)", "little"),),
    (("transfer(address,uint256)", "little"),),
)


class BypassFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of the check."""

    value: bool | None
    """None: not determined."""
    spenders: tuple[Address, ...] = ()
    """Accounts that can, if strangers cannot."""


def write_attempts(attack: AttackSetup, suspects: Sequence[Address]) -> list[TheftAttempt]:
    """Return attempts on wallets funded by override; where none can be, on a real holder. Empty:
    there is neither."""
    return [
        *_by_strangers(attack, suspects),
        *_by_suspects(attack, suspects),
        *_beyond_consent(attack),
    ]


def conclude(
    seen: Sequence[TheftOutcome],
    suspects: Sequence[Address],
    contracts: Collection[Address] = (),
) -> BypassFindings:
    """Return the answer. The success of one stranger means that any account can.

    A negative answer needs the failure of a stranger and of every candidate that was tried.
    `contracts`: candidates with code. It is unknown for which callers that code acts, so their
    success is no answer.
    """
    able = {each.attacker for each in seen if each.has_moved}
    if able - set(suspects):
        return BypassFindings(value=True)
    if able:
        return BypassFindings(
            value=True if able - set(contracts) else None,
            spenders=tuple(one for one in suspects if one in able),
        )
    failed = {each.attacker for each in seen if each.has_moved is False}
    unseen = {each.attacker for each in seen} & set(suspects) - failed
    return BypassFindings(value=False if failed - set(suspects) and not unseen else None)


def _by_strangers(attack: AttackSetup, suspects: Sequence[Address]) -> Iterator[TheftAttempt]:
    recipient = attack.account("recipient")
    strangers = [attack.account(f"stranger {at}") for at in range(_STRANGERS)]
    wallets = zip(attack.wallets("robbed"), attack.whales("robbed whale"), strict=False)
    for at, (stranger, pair) in enumerate(zip(strangers, wallets, strict=False)):
        for wallet in pair:
            amount = (wallet.amount_raw, 1, wallet.balance_raw)[at]
            plain = _attempt(stranger, wallet, recipient, amount)
            # Some attackers hold the token themselves, in case that makes them special.
            yield msgspec.structs.replace(plain, stash_raw=wallet.balance_raw if at else 0)
    for stranger, wallet in zip(strangers, attack.wallets("careless"), strict=False):
        plain = _attempt(stranger, wallet, stranger, wallet.amount_raw)
        for what, first in _opening_acts(stranger, wallet):
            acts = (AttackCall(sender=stranger, data=first), *plain.acts)
            yield msgspec.structs.replace(plain, acts=acts, what=f"{what}, then {plain.what}")
    special = (*suspects[:_MOST_RECIPIENTS], attack.token)
    for one, wallet in zip(special, attack.wallets("sent on"), strict=False):
        yield _attempt(strangers[0], wallet, one, wallet.amount_raw)


def _opening_acts(stranger: Address, wallet: Wallet) -> Iterator[tuple[str, str]]:
    """Yield transactions that an attacker may send first: approve itself, or the wallet, to pass a
    check of the wrong allowance; or transfer nothing, so that the wallet has received something."""
    for spender in (stranger, wallet.address):
        data = call_data("approve(address,uint256)", spender, _UNLIMITED)
        yield f"approve {spender}", data
    yield "send nothing", call_data("transfer(address,uint256)", wallet.address, 0)


def _beyond_consent(attack: AttackSetup) -> Iterator[TheftAttempt]:
    """Yield attempts to take much of a wallet that has consented to little, or to nothing."""
    stranger = attack.account("taker")
    for consent, wallet in zip(_SMALL_CONSENTS, attack.wallets("consenting"), strict=False):
        yield after_consent(_attempt(stranger, wallet, stranger, wallet.amount_raw), consent)


def after_consent(attempt: TheftAttempt, consent: Consent) -> TheftAttempt:
    """Return the attempt after the wallet has consented to a little, or to nothing."""
    wallet = attempt.wallet
    little = max(1, wallet.amount_raw // _LITTLE_SHARE)
    amounts: dict[_Amount, int] = {"none": 0, "little": little, "much": wallet.amount_raw}
    acts = [
        AttackCall(
            sender=wallet.address, data=call_data(signature, attempt.attacker, amounts[amount])
        )
        for signature, amount in consent
    ]
    what = ", ".join(f"{signature} of {amounts[amount]}" for signature, amount in consent)
    return msgspec.structs.replace(
        attempt,
        acts=(*acts, *attempt.acts),
        what=f"the wallet sends {what}, then {attempt.what}",
        given_raw=RawAmount(2 * little),
    )


def _by_suspects(attack: AttackSetup, suspects: Sequence[Address]) -> Iterator[TheftAttempt]:
    recipient = attack.account("recipient")
    wallets = zip(attack.wallets("lost"), attack.whales("lost whale"), strict=False)
    for suspect, (wallet, whale) in zip(suspects, wallets, strict=False):
        for attempt in (
            _attempt(suspect, wallet, recipient, wallet.amount_raw),
            _attempt(suspect, whale, suspect, whale.balance_raw),
        ):
            yield disallowed(attack, attempt)


def disallowed(attack: AttackSetup, attempt: TheftAttempt) -> TheftAttempt:
    """Return the attempt, after a revocation by a wallet that may have approved the attacker."""
    if not attack.has_allowed(attempt.attacker):
        return attempt
    data = call_data("approve(address,uint256)", attempt.attacker, 0)
    disallow = AttackCall(sender=attempt.wallet.address, data=data, must_pass=True)
    return msgspec.structs.replace(attempt, acts=(disallow, *attempt.acts))


def _attempt(attacker: Address, wallet: Wallet, recipient: Address, amount: int) -> TheftAttempt:
    return TheftAttempt(
        attacker=attacker,
        wallet=wallet,
        acts=(transfer_from(attacker, wallet.address, recipient, amount),),
        what=f"transferFrom of {amount} to {recipient}",
    )
