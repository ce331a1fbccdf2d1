"""Can somebody who is not the holder make a wallet poorer, by any function?

Settles funds_can_be_drained, beside the bypass. Candidates are the functions that may write
balances or allowances; each is called with the wallet in every place an address can stand in, by
strangers and by everybody the code may treat specially, and followed by a `transferFrom`, should it
have opened the way to one. A loss that a wallet nobody named shares (a rebase) is no drain. Source:
the specification, "Simulation".
"""

from collections.abc import Sequence

from analysis.scenarios.allowance_bypass import disallowed
from analysis.scenarios.argument_filling import Recipe, fill, recipes
from analysis.scenarios.theft_attempts import (
    ATTEMPTS_A_PLAY,
    Act,
    Attempt,
    Crime,
    Seen,
    transfer_from,
)
from analysis.scenarios.transfer import Wallet
from analysis.static.custody.simulation_hints import Mover
from config.primitives import Address

_MOST_BY_STRANGERS = ATTEMPTS_A_PLAY
_MOST_BY_SUSPECTS = 2 * ATTEMPTS_A_PLAY


def write_attempts(
    crime: Crime, movers: Sequence[Mover], suspects: Sequence[Address]
) -> list[Attempt]:
    """The likeliest first, as many as fit. Empty: no wallet, or no function to try."""
    stranger = crime.account("burglar")
    by_strangers = _attempts(crime, movers, [stranger])
    by_suspects = _attempts(crime, movers, suspects)
    return [*by_strangers[:_MOST_BY_STRANGERS], *by_suspects[:_MOST_BY_SUSPECTS]]


def judge(
    seen: Sequence[Seen], *, bypass: bool | None, is_untried: bool, is_open: bool
) -> bool | None:
    """The specification's table. `is_untried`: there were functions to try, and none was tried;
    `is_open`: the code has a store whose custody is not proved."""
    if bypass or any(each.has_moved for each in seen):
        return True
    has_run = bypass is False or any(each.has_moved is False for each in seen)
    if not has_run or is_untried or is_open:
        return None
    return False


def _attempts(crime: Crime, movers: Sequence[Mover], thieves: Sequence[Address]) -> list[Attempt]:
    wallets = crime.wallets("drained")
    ranked = [
        (rank, thief, recipe)
        for thief in thieves
        for mover in movers
        for rank, recipe in recipes(mover, is_taking=True)
    ]
    ranked.sort(key=lambda each: each[0])
    found = (
        _attempt(wallet, thief, recipe)
        for (_, thief, recipe), wallet in zip(ranked, wallets, strict=False)
        if wallet.address != thief
    )
    return [disallowed(crime, attempt) for attempt in found if attempt is not None]


def _attempt(wallet: Wallet, thief: Address, recipe: Recipe) -> Attempt | None:
    data = fill(recipe, wallet, thief)
    if data is None:
        return None
    acts = (
        Act(sender=thief, data=data),
        transfer_from(thief, wallet.address, thief, wallet.amount_raw),
    )
    return Attempt(thief=thief, wallet=wallet, acts=acts, what=recipe.what)
