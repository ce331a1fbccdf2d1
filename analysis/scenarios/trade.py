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

from analysis.abi import WORD
from analysis.revert_reason import decode_revert
from analysis.scenarios.ground import (
    Ground,
    Orders,
    buy_play,
    funded_sale_play,
    sale_play,
    sending_play,
)
from analysis.scenarios.transfer import Wallet, percent, sent_share
from analysis.stage import NotRun, Outcome, Passed, Play, Played, Refused, SimResult
from analysis.venues.swap import Moved
from config.primitives import RawAmount

VERSION = 2

PATIENCE_S = 3_600
"""A sale refused in the next block is tried once more this much later: a cooldown is not a ban."""

_FEE_OR_TAX = 0.5
"""Share of what is paid in from which a pool's fee counts as tax."""

_BUY_SHARES = (23, 230, 23_000)
"""Divisors of the pool's quote reserve, largest buy first: a maximum transaction or wallet refuses
the first sizes, never all; the largest that works measures tax best. No round share is within a
tenth of any of them, so none is drawn by chance."""

_SALE_SHARES = (1, 10)
_SALE_WORDS = ("", "part ")
"""Divisors of what is held, and their names: all of it, and a part, should only selling everything
be refused."""


class Bought(msgspec.Struct, frozen=True, kw_only=True):
    """The buy side, settled."""

    outcome: Outcome
    amount_in: RawAmount
    """Quote paid by the attempt that was taken."""
    held: tuple[RawAmount, RawAmount] | None
    """The trader's token balance at the sale and at the patient sale. None: the token did not
    tell, or nothing was bought."""


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """How it is tried to sell: one play, whose first try that works counts."""

    play: Play
    orders: tuple[Orders, Orders]
    """In the block of the sale, and in that of the patient sale."""


def write_buys(ground: Ground) -> tuple[Play, ...]:
    """One play a size, independent of each other."""
    return tuple(buy_play(ground, size) for size in _sizes(ground))


def read_buys(ground: Ground, played: Sequence[Played | NotRun]) -> Bought:
    """The largest size that worked; refused only when the chain refused every size."""
    outcomes = [
        read_buy(ground, result, size) for size, result in zip(_sizes(ground), played, strict=True)
    ]
    for size, outcome, result in zip(_sizes(ground), outcomes, played, strict=True):
        if isinstance(outcome, Passed) and isinstance(result, Played):
            return Bought(outcome=outcome, amount_in=size, held=_held(result))
    # The smallest size is the least likely to have been refused for its size.
    return Bought(
        outcome=_unlearnt(outcomes) or outcomes[-1], amount_in=_sizes(ground)[-1], held=None
    )


def write_sales(ground: Ground, bought: Bought, *, supply_raw: RawAmount) -> Sale | None:
    """How what was bought is sold. None: there is nothing to sell.

    Where buying was refused, an account funded on stage sells: whoever holds the token already
    still wants to know.
    """
    if bought.held is not None:
        if not any(bought.held):
            return None
        orders = _orders(bought.held)
        return Sale(play=sale_play(ground, bought.amount_in, orders), orders=orders)
    slot = ground.token_slot_index
    if not isinstance(bought.outcome, Refused) or slot is None:
        return None
    amount = sent_share(supply_raw, ground.scenery)
    orders = _orders((amount, amount))
    return Sale(play=funded_sale_play(ground, amount, orders, slot_index=slot), orders=orders)


def read_sales(
    ground: Ground, bought: Bought, sale: Sale | None, played: Sequence[Played | NotRun]
) -> Outcome:
    """The first try that worked; the next block's before the patient ones."""
    if sale is None:
        if bought.held is not None:
            return Refused(reason="what was bought is gone in the next block")
        if isinstance(bought.outcome, Passed):
            return NotRun(missing="HOLDER", reason="balanceOf does not tell what was bought")
        return NotRun(missing="FUNDS", reason="the buy did not pass, so there was nothing to sell")
    [result] = played
    outcomes = [
        read_sale(ground, result, when, asked=amount)
        for orders in sale.orders
        for when, amount in orders.items()
    ]
    passed = next((outcome for outcome in outcomes if isinstance(outcome, Passed)), None)
    # A balance that is gone by the patient sale does not take back a refusal seen before.
    learnt = [
        outcome
        for outcome in outcomes
        if not (isinstance(outcome, NotRun) and outcome.missing == "FUNDS")
    ] or outcomes
    return passed or _unlearnt(learnt) or learnt[0]


def write_sending(ground: Ground, bought: Bought) -> tuple[Play, Wallet] | None:
    """The buyer sends half of it on, after the longest wait. None: nothing was bought."""
    if bought.held is None or not bought.held[1]:
        return None
    amount = RawAmount(max(1, bought.held[1] // 2))
    wallet = Wallet(
        address=ground.trader(f"buy {bought.amount_in}"),
        balance_raw=bought.held[1],
        amount_raw=amount,
        slot_index=None,
    )
    return sending_play(ground, bought.amount_in, amount), wallet


def _sizes(ground: Ground) -> tuple[RawAmount, ...]:
    reserve, scenery = ground.quote_reserve_raw, ground.scenery
    return tuple(
        scenery.about(RawAmount(reserve // share), f"{ground.candidate.key}:size {share}")
        for share in _BUY_SHARES
    )


def _orders(held: tuple[RawAmount, RawAmount]) -> tuple[Orders, Orders]:
    at_sale, later = (
        {
            f"{words}{when}": RawAmount(max(1, amount // share))
            for words, share in zip(_SALE_WORDS, _SALE_SHARES, strict=True)
        }
        for when, amount in zip(("at sale", "later"), held, strict=True)
    )
    return at_sale, later


def _unlearnt(outcomes: Sequence[Outcome]) -> NotRun | None:
    return next((outcome for outcome in outcomes if isinstance(outcome, NotRun)), None)


def _held(played: Played) -> tuple[RawAmount, RawAmount] | None:
    at_sale, later = played["balance at sale"].word, played["balance later"].word
    if at_sale is None or later is None:
        return None
    return RawAmount(at_sale), RawAmount(later)


def read_buy(ground: Ground, played: Played | NotRun, size: RawAmount) -> Outcome:
    """What came of a buy of that size."""
    if isinstance(played, NotRun):
        return played
    if not ground.is_native and (played["quote balance"].word or 0) < size:
        return NotRun(missing="FUNDS", reason="the trader could not be given the quote token")
    if ground.way.must_quote and not played["router knows pool"].ok:
        return NotRun(missing="POOL", reason="the router does not know this pool")
    buy = played["buy"]
    moved = ground.moved(buy.logs, is_buy=True)
    if not buy.ok or moved is None:
        return _not_traded(buy)
    return _judge_buy(ground, played, moved)


def _judge_buy(ground: Ground, played: Played, moved: Moved) -> Outcome:
    before, after = played["balance before buy"].word, played["balance after buy"].word
    if before is None or after is None:
        return Passed(tax=None)
    # A balance that melts away in the next block never arrived.
    at_sale = played["balance at sale"].word
    arrived = (after if at_sale is None else min(after, at_sale)) - before
    if arrived <= 0:
        return Refused(reason="the buy went through and brought nothing")
    if moved.sent <= 0:
        return Passed(tax=None)
    paid = _told(played["buy"])[0] if ground.way.is_hooked else moved.received
    return Passed(
        tax=_taken((paid, moved.received), (moved.sent, arrived), fee_share=moved.fee_share)
    )


def read_sale(ground: Ground, played: Played | NotRun, when: str, *, asked: RawAmount) -> Outcome:
    """What came of the try that `when` names, which asked to sell so much."""
    if isinstance(played, NotRun):
        return played
    before = played[f"balance before sale {when}"].word
    if not before:
        return NotRun(missing="FUNDS", reason="the seller does not hold the token")
    sell = played[f"sell {when}"]
    moved = ground.moved(sell.logs, is_buy=False)
    if not sell.ok or moved is None:
        return _not_traded(sell)
    tax = _sale_tax(ground, played, when, moved, asked=asked)
    return Passed(tax=None if tax is None else _with_approval(played, when, tax))


def _with_approval(played: Played, when: str, tax: float) -> float:
    """What the approval before the block's first try took is lost to who sells."""
    first = when.removeprefix(_SALE_WORDS[1])
    held = played[f"balance before approval {first}"].word
    left = played[f"balance before sale {first}"].word
    if held is None or left is None or left >= held:
        return tax
    return round(100 - (100 - tax) * left / held, 4)


def _sale_tax(
    ground: Ground, played: Played, when: str, moved: Moved, *, asked: RawAmount
) -> float | None:
    got = int(moved.sent)
    if ground.way.is_hooked:
        got = _got(ground, played, when)
        if not got:
            return 100.0
    before = played[f"balance before sale {when}"].word
    after = played[f"balance after sale {when}"].word
    if before is None or after is None:
        return None
    base = max(before - after, asked) if ground.way.takes_all else before - after
    # No amounts: a hook made the whole trade itself, so the pool knows nothing to compare with.
    if base <= 0 or not (moved.received or moved.sent):
        return None
    loss = _quote_loss(played, when, share=moved.received / asked)
    if loss is not None:
        return loss
    return _taken((base, moved.received), (moved.sent, got), fee_share=moved.fee_share)


def _got(ground: Ground, played: Played, when: str) -> int:
    """What a sale brought the seller. Never below 0."""
    if ground.is_native:
        return _told(played[f"sell {when}"])[1]
    before = played[f"quote before sale {when}"].word or 0
    return max(0, (played[f"quote after sale {when}"].word or 0) - before)


def _told(swap: SimResult) -> tuple[int, int]:
    """What our own router answers; see Way.is_hooked."""
    return int.from_bytes(swap.data[:WORD], "big"), int.from_bytes(swap.data[WORD:], "big")


def _taken(*losses: tuple[int, int], fee_share: float) -> float:
    """Percent lost on the way to the pool and on the way from it, one after the other.

    Each loss is what set out and what arrived. A pool's fee is no tax, whoever sets it; but one
    that takes half or more is a tax by another name.
    """
    left = 1.0 if fee_share < _FEE_OR_TAX else 1 - fee_share
    for set_out, arrived in losses:
        left *= 1 - max(0, set_out - arrived) / set_out if set_out > 0 else 1
    return round((1 - left) * 100, 4)


def _quote_loss(played: Played, when: str, *, share: float) -> float | None:
    """Percent of the sale's worth that did not reach the seller, where that cannot be slippage.

    A token can ruin the price in the middle of its own transfer, by dumping fresh tokens into the
    pool first: nothing is lost on the way, and nothing comes back. None: the seller got at least
    half of what the pool would have paid for the `share` of the order that it received.
    """
    expected = played.by_label.get(f"expected {when}")
    if expected is None or not expected.ok:
        return None
    before = played[f"quote before sale {when}"].word
    after = played[f"quote after sale {when}"].word
    if before is None or after is None:
        return None
    worth = int.from_bytes(expected.data[-32:], "big")  # the last of the router's amounts
    got = after - before
    return percent(worth - got, worth) if got < worth * share / 2 else None


def _not_traded(swap: SimResult) -> Outcome:
    """A swap that the chain refused; or one that went through without this pool's swapping."""
    if not swap.ok:
        return Refused(reason=decode_revert(swap.data, swap.message))
    return NotRun(missing="POOL", reason="the router did not trade in this pool")
