"""Can this pool's token be bought, then sold, and what does each side cost?

A fresh codeless account gets the quote token, buys through the venue's real router, and in later
blocks sells what it got. Tax is what the pool says it sent against what arrived, and what left the
seller against what the pool says it received; slippage and pool fees are not tax. Source: the
specification, "Pools".

Two steps, because a sale's calldata needs the amount that the buy brought: `write_buys` plays a
ladder of sizes, `write_sales` repeats the size that worked and sells.
"""

from collections.abc import Sequence

import msgspec

from analysis.revert_reason import decode_revert
from analysis.scenarios.ground import Ground, buy_play, funded_sale_play, sale_play
from analysis.scenarios.transfer import percent, sent_share
from analysis.stage import NotRun, Outcome, Passed, Play, Played, Refused, SimResult
from config.primitives import RawAmount

VERSION = 1

PATIENCE_S = 3_600
"""A sale refused in the next block is tried once more this much later: a cooldown is not a ban."""

_BUY_SHARES = (20, 200, 2_000)
"""Divisors of the pool's quote reserve, largest buy first: a maximum transaction or wallet refuses
the first sizes, never all; the largest that works measures tax best."""

_SALE_SHARES = (1, 10)
"""Divisors of what is held: all of it, and a part, should only selling everything be refused."""


class Bought(msgspec.Struct, frozen=True, kw_only=True):
    """The buy side, settled."""

    outcome: Outcome
    amount_in: RawAmount
    """Quote paid by the attempt that was taken."""
    held: tuple[RawAmount, RawAmount]
    """The trader's token balance at the sale and at the patient sale."""


def write_buys(ground: Ground) -> tuple[Play, ...]:
    """One play a size, independent of each other."""
    return tuple(buy_play(ground, size) for size in _sizes(ground))


def read_buys(ground: Ground, played: Sequence[Played | NotRun]) -> Bought:
    """The largest size that worked; refused only when the chain refused every size."""
    outcomes = [_read_buy(ground, result) for result in played]
    for size, outcome, result in zip(_sizes(ground), outcomes, played, strict=True):
        if isinstance(outcome, Passed) and isinstance(result, Played):
            held = (result["balance at sale"].word or 0, result["balance later"].word or 0)
            return Bought(
                outcome=outcome, amount_in=size, held=(RawAmount(held[0]), RawAmount(held[1]))
            )
    # The smallest size is the least likely to have been refused for its size.
    return Bought(
        outcome=_unlearnt(outcomes) or outcomes[-1],
        amount_in=_sizes(ground)[-1],
        held=(RawAmount(0), RawAmount(0)),
    )


def write_sales(ground: Ground, bought: Bought, *, supply_raw: RawAmount) -> tuple[Play, ...]:
    """Plays that sell what was bought. Empty: there is nothing to sell.

    Where buying was refused, an account funded on stage sells: whoever holds the token already
    still wants to know.
    """
    if isinstance(bought.outcome, Passed):
        if not any(bought.held):
            return ()
        parts = [_part(bought.held, share) for share in _SALE_SHARES]
        return tuple(sale_play(ground, bought.amount_in, part) for part in dict.fromkeys(parts))
    if isinstance(bought.outcome, NotRun) or ground.token_slot_index is None:
        return ()
    amount = sent_share(supply_raw, ground.scenery)
    return tuple(
        funded_sale_play(ground, size, slot_index=ground.token_slot_index)
        for size in dict.fromkeys(RawAmount(max(1, amount // share)) for share in _SALE_SHARES)
    )


def read_sales(ground: Ground, bought: Bought, played: Sequence[Played | NotRun]) -> Outcome:
    """The first sale that worked; the next block's before the patient one's."""
    if not played:
        if isinstance(bought.outcome, Passed):
            return Refused(reason="the buy left nothing to sell")
        return NotRun(missing="FUNDS", reason="the buy did not pass, so there was nothing to sell")
    outcomes = [
        _read_sale(ground, result, when) for when in ("at sale", "later") for result in played
    ]
    passed = next((outcome for outcome in outcomes if isinstance(outcome, Passed)), None)
    # A balance that is gone by the patient sale does not take back a refusal seen before.
    learnt = [
        outcome
        for outcome in outcomes
        if not (isinstance(outcome, NotRun) and outcome.missing == "FUNDS")
    ] or outcomes
    return passed or _unlearnt(learnt) or learnt[0]


def _sizes(ground: Ground) -> tuple[RawAmount, ...]:
    reserve, scenery = ground.quote_reserve_raw, ground.scenery
    return tuple(
        scenery.about(RawAmount(reserve // share), f"{ground.candidate.key}:size {share}")
        for share in _BUY_SHARES
    )


def _part(held: tuple[RawAmount, RawAmount], share: int) -> tuple[RawAmount, RawAmount]:
    return RawAmount(max(1, held[0] // share)), RawAmount(max(1, held[1] // share))


def _unlearnt(outcomes: Sequence[Outcome]) -> NotRun | None:
    return next((outcome for outcome in outcomes if isinstance(outcome, NotRun)), None)


def _read_buy(ground: Ground, played: Played | NotRun) -> Outcome:
    if isinstance(played, NotRun):
        return played
    if not played["quote balance"].word:
        return NotRun(missing="FUNDS", reason="the trader could not be given the quote token")
    if ground.form is None and not played["router knows pool"].ok:
        return NotRun(missing="POOL", reason="the router does not know this pool")
    buy = played["buy"]
    moved = ground.moved(buy.logs, is_buy=True)
    if not buy.ok or moved is None:
        return _not_traded(buy)
    before, after = played["balance before buy"].word, played["balance after buy"].word
    if before is None or after is None or moved.sent <= 0:
        return Passed(tax=None)
    return Passed(tax=percent(moved.sent - (after - before), moved.sent))


def _read_sale(ground: Ground, played: Played | NotRun, when: str) -> Outcome:
    if isinstance(played, NotRun):
        return played
    before = played[f"balance before sale {when}"].word
    if not before:
        return NotRun(missing="FUNDS", reason="the seller does not hold the token")
    sell = played[f"sell {when}"]
    moved = ground.moved(sell.logs, is_buy=False)
    if not sell.ok or moved is None:
        return _not_traded(sell)
    after = played[f"balance after sale {when}"].word
    if after is None or before <= after:
        return Passed(tax=None)
    return Passed(tax=percent(before - after - moved.received, before - after))


def _not_traded(swap: SimResult) -> Outcome:
    """A swap that the chain refused; or one that went through without this pool's swapping."""
    if not swap.ok:
        return Refused(reason=decode_revert(swap.data, swap.message))
    return NotRun(missing="POOL", reason="the router did not trade in this pool")
