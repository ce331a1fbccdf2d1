"""Can this pool's token be bought, then sold, and what does each side cost?

Fresh codeless accounts get the quote token, buy through the venue's real router, approve in a block
of its own, and in later blocks sell what they got. Tax is what the pool says it sent against what
arrived, and what left the seller against what the pool says it received; slippage and pool fees are
not tax. Source: the specification, "Pools".

Two steps, because a sale's calldata needs the amount that the buy brought: `write_buys` plays
several sizes, `write_sales` repeats each that worked and sells. The answer is the worst of what was
played: the highest tax of the sizes that went through, and no sale where some buyers cannot sell.
"""

from collections.abc import Sequence

import msgspec

from analysis.scenarios import acts
from analysis.scenarios.ground import (
    Ground,
    Order,
    buy_play,
    funded_sale_play,
    little_gas,
    sale_play,
    sending_play,
    wallet_gas,
)
from analysis.scenarios.trade_outcome import (
    BROUGHT_NOTHING,
    HALF,
    MORE_GAS,
    NEARLY_ALL,
    read_buy,
    read_sale,
)
from analysis.scenarios.transfer import Wallet, sent_share
from analysis.stage import CALL_GAS, NotRun, Outcome, Passed, Play, Played, Refused
from config.primitives import RawAmount

VERSION = 4

PATIENCE_S = 3_600
"""A sale refused in the next block is tried once more this much later: a cooldown is not a ban."""

_BUY_SHARES = (23, 110, 2_300)
"""Divisors of the pool's quote reserve, largest buy first: a maximum transaction or wallet refuses
the first sizes; what ordinary people pay is nearest to the second. No round share is within a tenth
of any of them, so none is drawn by chance."""

_ESTIMATED_SHARE = 110
"""Of this size the buy, the approval and the sale are played again with as much gas as wallets
estimate: what the first step took, and a margin."""

_CRUMB_SHARE = 23_000
_RESORTS = ("more gas", "crumb")
"""Names of the buyers that come after the ordinary ones have failed."""
_MARGIN_PCT = 35
"""What estimates and wallets put on top of the gas used: refunds, what calls keep back, and 20 to
30 percent."""
_FLAT_MARGIN = 30_000
"""A slot written for the first time, which little gas may lead to."""

_LEAST_TOLD_RAW = 1_000
"""Of fewer smallest units rounding takes shares that look like a tax, or all."""


class BuyTry(msgspec.Struct, frozen=True, kw_only=True):
    """One size of buy, played."""

    amount_in: RawAmount
    gas: int
    """What it brought."""
    gas_used: int | None = None
    """None: not told."""
    approval_gas_used: int | None = None
    """None: not approved, or not told."""
    in_coin: bool
    """Paid in the chain's coin, in one transaction."""
    outcome: Outcome
    held: tuple[RawAmount, RawAmount] | None
    """The trader's token balance at the sale and at the patient sale. None: the token did not
    tell, or nothing was bought."""


class Bought(msgspec.Struct, frozen=True, kw_only=True):
    """The buy side, settled."""

    outcome: Outcome
    passed: tuple[BuyTry, ...]
    """The sizes that went through, largest first."""

    @property
    def largest(self) -> BuyTry | None:
        """None: nothing could be bought."""
        return self.passed[0] if self.passed else None


class Sale(msgspec.Struct, frozen=True, kw_only=True):
    """How one buyer tries to sell: one play."""

    play: Play
    orders: tuple[tuple[Order, ...], tuple[Order, ...]]
    """In the block of the sale, and in that of the patient sale."""
    share: int
    """Position of the size among those that passed, largest first; 0 for a funded seller."""


class SoldSize(msgspec.Struct, frozen=True, kw_only=True):
    """What came of the sale after one size of buy."""

    amount_in: RawAmount
    outcome: Outcome


class Sold(msgspec.Struct, frozen=True, kw_only=True):
    """The sell side of one pool, settled."""

    outcome: Outcome
    sizes: tuple[SoldSize, ...] = ()
    depends_on_size: bool | None = None
    """Whether some buyers can sell, or keep half of what it brings, and others cannot. None: not
    more than one size was learnt of."""


def write_buys(ground: Ground) -> tuple[Play, ...]:
    """One play an ordinary size, independent of each other. The last resorts share one: a refused
    buy changes nothing for the next, and after one that passes the next is not asked for."""
    plays = [
        buy_play(size.ground, size.amount_in, gas=size.gas, approves=size.is_estimated)
        for size in _sizes(ground)
    ]
    ordinary, resorts = plays[: len(_BUY_SHARES)], plays[len(_BUY_SHARES) :]
    return (*ordinary, acts.together(dict(zip(_RESORTS, resorts, strict=True))))


def read_buys(ground: Ground, played: Sequence[Played | NotRun]) -> Bought:
    """The sizes that worked, with the highest tax; refused when the chain refused every size, or
    an ordinary one was paid for and brought nothing."""
    *each, last = played
    resorts = [last if isinstance(last, NotRun) else acts.part(last, name) for name in _RESORTS]
    tries = [
        _read_try(size, result)
        for size, result in zip(_sizes(ground), (*each, *resorts), strict=True)
    ]
    ordinary, (with_more_gas, crumb) = tries[: len(_BUY_SHARES)], tries[len(_BUY_SHARES) :]
    passed = tuple(each for each in ordinary if isinstance(each.outcome, Passed))
    # A wallet that estimates gas notices a refusal, but not that nothing will arrive.
    robbed = next(
        (each for each in ordinary if each.outcome == Refused(reason=BROUGHT_NOTHING)), None
    )
    if robbed is not None:
        return Bought(outcome=robbed.outcome, passed=passed)
    for resort in (with_more_gas, crumb):
        is_needed = not passed or resort.amount_in > passed[0].amount_in
        if is_needed and isinstance(resort.outcome, Passed):
            passed = (resort, *passed)
    if passed:
        told = [each.outcome for each in passed[1:] if each.held and _is_told(each.held[0])]
        return Bought(outcome=_worst([passed[0].outcome, *told]), passed=passed)
    outcomes = [each.outcome for each in ordinary]
    # The smallest size is the least likely to have been refused for its size.
    return Bought(outcome=unlearnt(outcomes) or outcomes[-1], passed=())


def write_sales(ground: Ground, bought: Bought, *, supply_raw: RawAmount) -> tuple[Sale, ...]:
    """How what was bought is sold, one play a size. Empty: there is nothing to sell.

    Where buying was refused, an account funded on stage sells: whoever holds the token already
    still wants to know.
    """
    if bought.passed:
        return tuple(
            _sale(ground, each, share)
            for share, each in enumerate(bought.passed)
            if each.held is not None and any(each.held)
        )
    slot = ground.token_slot_index
    if not isinstance(bought.outcome, Refused) or slot is None:
        return ()
    amount = sent_share(supply_raw, ground.scenery)
    orders = _orders((amount, amount))
    play = funded_sale_play(ground, amount, orders, slot_index=slot)
    return (Sale(play=play, orders=orders, share=0),)


def _sale(ground: Ground, bought: BuyTry, share: int) -> Sale:
    """At first what is sold is approved, for the patient sale everything: people do both."""
    held = bought.held or (RawAmount(0), RawAmount(0))
    is_estimated = bought.approval_gas_used is not None
    gas = _estimated(bought.gas_used) if is_estimated else None
    orders = _orders(held, gas=gas)
    play = sale_play(
        ground.with_coin(is_wanted=bought.in_coin),
        bought.amount_in,
        orders,
        gas=gas or bought.gas,
        approval_gas=_estimated(bought.approval_gas_used),
        allowed=held[0],
    )
    return Sale(play=play, orders=orders, share=share)


def read_sales(
    ground: Ground,
    bought: Bought,
    sales: Sequence[Sale],
    played: Sequence[Played | NotRun],
    *,
    sells_in_parts: bool | None,
) -> Sold:
    """What everybody could sell. `sells_in_parts`: whether the largest buyer could sell all of it
    in parts; None: not tried."""
    if not sales:
        return Sold(outcome=_nothing_to_sell(bought))
    outcomes = [
        read_tries(_ground_of(ground, bought, sale), result, sale.orders)
        for sale, result in zip(sales, played, strict=True)
    ]
    if not bought.passed:
        return Sold(outcome=outcomes[0])
    sizes = tuple(
        SoldSize(amount_in=bought.passed[sale.share].amount_in, outcome=outcome)
        for sale, outcome in zip(sales, outcomes, strict=True)
    )
    told = [
        outcome
        for sale, outcome in zip(sales, outcomes, strict=True)
        if not isinstance(outcome, NotRun)
        and (sale.share == 0 or _is_told(sale.orders[0][0].amount))
    ]
    if not told:
        return Sold(outcome=unlearnt(outcomes) or outcomes[0], sizes=sizes)
    return judge_sizes(told, sizes, sells_in_parts=sells_in_parts)


def judge_sizes(
    told: Sequence[Outcome], sizes: tuple[SoldSize, ...], *, sells_in_parts: bool | None
) -> Sold:
    """`told`: what was learnt of each size, largest first. A limit that refuses only the larger
    sizes, and those not in parts, is a limit and no trap."""
    passed = [outcome for outcome in told if isinstance(outcome, Passed)]
    refused = [outcome for outcome in told if isinstance(outcome, Refused)]
    if not refused:
        taxes = [outcome.tax for outcome in passed if outcome.tax is not None]
        depends = len(taxes) > 1 and min(taxes) < _HEAVY_TAX_PCT <= max(taxes)
        return Sold(outcome=_worst(passed), sizes=sizes, depends_on_size=depends)
    is_only_larger = all(isinstance(outcome, Refused) for outcome in told[: len(refused)])
    if passed and is_only_larger and sells_in_parts:
        return Sold(outcome=_worst(passed), sizes=sizes, depends_on_size=False)
    return Sold(outcome=refused[-1], sizes=sizes, depends_on_size=bool(passed))


_HEAVY_TAX_PCT = 50.0


def _is_told(amount: RawAmount) -> bool:
    """Whether it is enough for refusals and taxes to be other than rounding."""
    return amount >= _LEAST_TOLD_RAW


def _nothing_to_sell(bought: Bought) -> Outcome:
    if any(each.held is not None for each in bought.passed):
        return Refused(reason="what was bought is gone in the next block")
    if bought.passed:
        return NotRun(missing="HOLDER", reason="balanceOf does not tell what was bought")
    return NotRun(missing="FUNDS", reason="the buy did not pass, so there was nothing to sell")


def read_tries(
    ground: Ground, played: Played | NotRun, orders: Sequence[Sequence[Order]]
) -> Outcome:
    """The first try that worked; the next block's before the patient ones."""
    outcomes = [
        read_sale(ground, played, order.when, asked=order.amount)
        for block in orders
        for order in block
        if _counts(played, order, block[0])
    ]
    passed = next((outcome for outcome in outcomes if isinstance(outcome, Passed)), None)
    # A balance that is gone by the patient sale does not take back a refusal seen before.
    learnt = [
        outcome
        for outcome in outcomes
        if not (isinstance(outcome, NotRun) and outcome.missing == "FUNDS")
    ] or outcomes
    return passed or unlearnt(learnt) or learnt[0]


def _counts(played: Played | NotRun, order: Order, whole: Order) -> bool:
    """Half counts only where there is less than all: that half sells says nothing of the rest."""
    if isinstance(played, NotRun) or not order.when.startswith(HALF):
        return True
    held = played[f"balance before sale {order.when}"].word
    return held is not None and held < whole.amount


def write_sending(ground: Ground, bought: Bought) -> tuple[Play, Wallet] | None:
    """The buyer sends half of it on, after the longest wait. None: nothing was bought."""
    buyer = bought.largest
    if buyer is None or buyer.held is None or not buyer.held[1]:
        return None
    amount = RawAmount(max(1, buyer.held[1] // 2))
    wallet = Wallet(
        address=ground.buyer(buyer.amount_in),
        balance_raw=buyer.held[1],
        amount_raw=amount,
        slot_index=None,
    )
    paying = ground.with_coin(is_wanted=buyer.in_coin)
    return sending_play(paying, buyer.amount_in, amount), wallet


def _ground_of(ground: Ground, bought: Bought, sale: Sale) -> Ground:
    return ground.with_coin(is_wanted=bool(bought.passed) and bought.passed[sale.share].in_coin)


class _Size(msgspec.Struct, frozen=True, kw_only=True):
    ground: Ground
    """How it is paid."""
    amount_in: RawAmount
    gas: int
    is_estimated: bool
    """Its gas is learnt for the sale."""


def _sizes(ground: Ground) -> tuple[_Size, ...]:
    """The ordinary ones, and the last resorts where the larger of these do not pass: an ordinary
    buy with more gas than wallets usually send, as they do where it takes more, and a crumb. The
    largest buyer pays and receives the wrapped coin, the others the coin itself."""
    plenty = wallet_gas(ground)
    gases = (plenty, plenty, little_gas(ground), CALL_GAS, plenty)
    shares = (*_BUY_SHARES, _ESTIMATED_SHARE, _CRUMB_SHARE)
    return tuple(
        _Size(
            ground=ground.with_coin(is_wanted=share != _BUY_SHARES[0]),
            amount_in=part_of_reserve(ground, share),
            gas=gas,
            is_estimated=share == _ESTIMATED_SHARE and gas == plenty,
        )
        for share, gas in zip(shares, gases, strict=True)
    )


def _read_try(size: _Size, played: Played | NotRun) -> BuyTry:
    outcome = read_buy(size.ground, played, size.amount_in)
    is_bought = isinstance(outcome, Passed)
    results = played.by_label if isinstance(played, Played) and is_bought else {}
    approval = results.get("approve at sale")
    return BuyTry(
        amount_in=size.amount_in,
        gas=size.gas,
        gas_used=results["buy"].gas_used if results else None,
        approval_gas_used=approval.gas_used if approval is not None and approval.ok else None,
        in_coin=size.ground.in_coin,
        outcome=outcome,
        held=_held(played) if isinstance(played, Played) and is_bought else None,
    )


def _estimated(gas_used: int | None) -> int | None:
    """What a wallet brings after an estimate. None: not known what it takes."""
    return None if gas_used is None else gas_used * (100 + _MARGIN_PCT) // 100 + _FLAT_MARGIN


def part_of_reserve(ground: Ground, share: int) -> RawAmount:
    """About one part in `share` of what the pool holds of the quote token."""
    amount = RawAmount(ground.quote_reserve_raw // share)
    return ground.scenery.about(amount, f"{ground.candidate.key}:size {share}")


def _orders(
    held: tuple[RawAmount, RawAmount], *, gas: int | None = None
) -> tuple[tuple[Order, ...], tuple[Order, ...]]:
    """All of it, with a wallet's gas and then with more, and nearly all of it, in both blocks: some
    wallets may not be emptied. Half of it, should the approval have taken a part."""
    at_sale, later = (
        (
            Order(when=when, amount=amount, gas=gas),
            Order(when=f"{MORE_GAS}{when}", amount=amount, gas=CALL_GAS),
            Order(when=f"{NEARLY_ALL}{when}", amount=RawAmount(max(1, amount - amount // 100 - 1))),
            Order(when=f"{HALF}{when}", amount=RawAmount(max(1, amount // 2))),
        )
        for when, amount in zip(
            ("at sale", "later"), (RawAmount(max(1, each)) for each in held), strict=True
        )
    )
    return at_sale, later


def _worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Of passes, the largest size's first: the one with the highest tax. The first tells it most
    exactly, so another has to be clearly higher."""

    def tax(outcome: Outcome) -> float:
        return -1.0 if not isinstance(outcome, Passed) or outcome.tax is None else outcome.tax

    highest = max(outcomes, key=tax)
    return highest if tax(highest) > tax(outcomes[0]) + _TAX_POINTS else outcomes[0]


_TAX_POINTS = 0.5
"""Taxes that differ by less are the same, told less exactly."""


def unlearnt(outcomes: Sequence[Outcome]) -> NotRun | None:
    """The first that taught nothing. None: all did."""
    return next((outcome for outcome in outcomes if isinstance(outcome, NotRun)), None)


def _held(played: Played) -> tuple[RawAmount, RawAmount] | None:
    at_sale, later = played["balance at sale"].word, played["balance later"].word
    if at_sale is None or later is None:
        return None
    return RawAmount(at_sale), RawAmount(later)
