"""Drain check: simulates calls of any function by non-holders that lower a wallet's balance.

Determines funds_can_be_drained, together with the bypass. Candidates are the functions that may
write balances or allowances. Each is called with the wallet as each address argument, by strangers
and by all accounts that the code may treat specially, and followed by a `transferFrom`, in case the
call made one possible. A few are tried by an account that the wallet lets spend a little. A loss
that a bystander shares (a rebase) is no drain. Source: the specification, "Simulation".
"""

from collections.abc import Collection, Sequence

from analysis.scenarios.theft.allowance_bypass import APPROVES_LITTLE, after_consent, disallowed
from analysis.scenarios.theft.argument_filling import CallTemplate, call_templates, fill
from analysis.scenarios.theft.attack_setup import AttackCall, AttackSetup, transfer_from
from analysis.scenarios.theft.theft_attempts import MOST_ATTEMPTS, TheftAttempt, TheftOutcome
from analysis.scenarios.trade.transfer import Wallet
from analysis.static.custody.simulation_hints import DebitingFunction
from core.evm.primitives import Address

_MOST_BY_SPENDER = 10
_MOST_BY_STRANGERS = MOST_ATTEMPTS - _MOST_BY_SPENDER
_MOST_BY_SUSPECTS = 2 * MOST_ATTEMPTS


def write_attempts(
    attack: AttackSetup, movers: Sequence[DebitingFunction], suspects: Sequence[Address]
) -> list[TheftAttempt]:
    """Return as many attempts as fit, the likeliest first. Empty: no wallet, or no function to
    try."""
    stranger = attack.account("burglar")
    by_strangers = _attempts(attack, movers, [stranger])
    by_suspects = _attempts(attack, movers, suspects)
    by_spender = _attempts(attack, movers, [attack.account("spender")])
    return [
        *by_strangers[:_MOST_BY_STRANGERS],
        *by_suspects[:_MOST_BY_SUSPECTS],
        *(after_consent(each, APPROVES_LITTLE) for each in by_spender[:_MOST_BY_SPENDER]),
    ]


def conclude(
    seen: Sequence[TheftOutcome],
    *,
    bypass: bool | None,
    is_untried: bool,
    is_open: bool,
    contracts: Collection[Address] = (),
) -> bool | None:
    """Return the answer by the specification's table. None: not determined. `is_untried`: there
    were functions to try, and none was tried; `is_open`: the code has a store whose custody is not
    proved. `contracts`: attackers with code, whose success alone is no answer."""
    able = {each.attacker for each in seen if each.has_moved}
    if bypass or able - set(contracts):
        return True
    if able:
        return None
    has_run = bypass is False or any(each.has_moved is False for each in seen)
    if not has_run or is_untried or is_open:
        return None
    return False


def _attempts(
    attack: AttackSetup, movers: Sequence[DebitingFunction], attackers: Sequence[Address]
) -> list[TheftAttempt]:
    wallets = attack.wallets("drained")
    ranked = [
        (rank, attacker, recipe)
        for attacker in attackers
        for mover in movers
        for rank, recipe in call_templates(mover, is_taking=True)
    ]
    ranked.sort(key=lambda each: each[0])
    found = (
        _attempt(wallet, attacker, recipe)
        for (_, attacker, recipe), wallet in zip(ranked, wallets, strict=False)
        if wallet.address != attacker
    )
    return [disallowed(attack, attempt) for attempt in found if attempt is not None]


def _attempt(wallet: Wallet, attacker: Address, recipe: CallTemplate) -> TheftAttempt | None:
    data = fill(recipe, wallet, attacker)
    if data is None:
        return None
    acts = (
        AttackCall(sender=attacker, data=data),
        transfer_from(attacker, wallet.address, attacker, wallet.amount_raw),
    )
    return TheftAttempt(attacker=attacker, wallet=wallet, acts=acts, what=recipe.what)
