"""Owner balance check: simulates owner calls that change the balance of any wallet.

Determines owner_can_change_balance; off unless a deployment turns it on. New tokens that
increase the total supply are minting, and tokens from the owner's balance are a transfer: neither
counts. Source: the specification, "Simulation".
"""

from collections.abc import Sequence

from analysis.scenarios.theft.argument_filling import call_templates, fill
from analysis.scenarios.theft.attack_setup import AttackCall, AttackSetup
from analysis.scenarios.theft.theft_attempts import MOST_ATTEMPTS, TheftAttempt, TheftOutcome
from analysis.static.custody.simulation_hints import DebitingFunction
from core.evm.primitives import Address


def write_attempts(
    attack: AttackSetup, movers: Sequence[DebitingFunction], owners: Sequence[Address]
) -> list[TheftAttempt]:
    """Return as many attempts as fit one simulation, the likeliest first. Empty: no wallet, no
    owner, or no function."""
    ranked = [
        (rank, owner, recipe)
        for owner in owners
        for mover in movers
        for rank, recipe in call_templates(mover, is_taking=False)
    ]
    ranked.sort(key=lambda each: each[0])
    found = []
    chosen = ranked[:MOST_ATTEMPTS]
    for (_, owner, recipe), wallet in zip(chosen, attack.wallets("owner's"), strict=False):
        data = fill(recipe, wallet, owner)
        if data is not None and wallet.address != owner:
            act = AttackCall(sender=owner, data=data)
            found.append(TheftAttempt(attacker=owner, wallet=wallet, acts=(act,), what=recipe.what))
    return found


def conclude(seen: Sequence[TheftOutcome], *, is_helpless: bool) -> bool | None:
    """Return the answer. None: not determined. `is_helpless`: the owner is known, and is gone or
    has no function."""
    if any(each.has_moved or each.has_grown for each in seen):
        return True
    if any(each.has_moved is False for each in seen):
        return False
    return False if is_helpless else None
