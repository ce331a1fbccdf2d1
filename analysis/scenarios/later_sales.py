"""Time-dependent sales: the crowd sells minutes, an hour, a day and thirty days after it bought.

One simulation. At each moment an ordinary and a small buyer sell all they hold, and retry in the
next block: all of it, then half. At some moments others buy and one transfers. A later revert, or a
tax of half or more, that did not occur earlier is a finding. Sends no request.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.scenarios import combined_plays, crowd
from analysis.scenarios.crowd import MOMENTS, ORDINARY, SENDER, SMALL, Crowd
from analysis.scenarios.trade_outcome import HEAVY_TAX_PCT, read_buy, read_sale
from analysis.scenarios.trade_setup import TradeSetup, balance_call
from analysis.scenarios.transfer import TransferResult, Wallet, read_result, unsettled
from analysis.simulation.block_schedule import SimulatedBlock
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    Outcome,
    Passed,
    Refused,
    SimCall,
    Simulation,
    SimulationResult,
)
from core.primitives import RawAmount

VERSION: Final = 2

_HOUR_S: Final = 3_600
_DAY_S: Final = 86_400

WAITS_S: Final = (
    *(0, 0, 0, 0),  # opening and approvals
    *(0, 0),  # two blocks per moment
    *(300, 0),
    *(_HOUR_S - 300, 0),
    *(_DAY_S - _HOUR_S, 0),
    *(29 * _DAY_S, 0, 0),  # the newcomer sells in the last block
)
"""Seconds to wait before each block but the first."""

_FIRST: Final = crowd.BLOCKS + 1
_NEWCOMERS: Final = ("next block", "+1 day", "+30 days")
"""Moments at which a new account buys, and SENDER transfers a part."""

_SENT_PARTS: Final = 16
_TAX_POINTS: Final = 0.01
"""Taxes that differ by no more than this are equal. Percentage points."""

_TRIES: Final = ("", "again ", "half ")


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """One moment and its outcomes."""

    when: str
    block_number: int
    time_s: int
    blocks_left_out: int
    """See SimulatedBlock.left_out."""
    sale: Outcome
    """The worse of the two sales."""
    sales: tuple[Outcome, ...]
    """Outcomes of the ordinary and the small seller; after 30 days also of the account that bought
    then."""
    buy: Outcome | None
    """None: nobody bought then."""
    transfer: TransferResult | None


class LaterSales(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of all moments, compared with the first."""

    pool: str
    """Candidate.key of the pool."""
    changes: tuple[str, ...]
    """Differences from the first moment: `+1 day: sale refused`."""
    moments: tuple[Moment, ...]
    is_blocked: bool | None
    """True if a sale passed at an earlier moment and reverts at a later one. None: a moment was not
    determined."""
    tax_rises: bool | None
    """True if the tax of a later moment is half or more. None: not determined."""


def write_play(ground: TradeSetup, held: Crowd, blocks: Sequence[SimulatedBlock]) -> Simulation:
    """Return the simulation. `blocks`: one more than WAITS_S has entries."""
    reads = crowd.second_buy(ground)
    approvals = [
        call
        for who in crowd.members()
        if who in held.held
        for call in combined_plays.approving(
            ground,
            who,
            amount=held.held[who],
            is_unlimited=not who.startswith(ORDINARY),
        )
    ]
    scenes = [
        *crowd.opening(ground, blocks),
        crowd.scene(blocks[crowd.BLOCKS - 1], reads),
        crowd.scene(blocks[crowd.BLOCKS], approvals),
    ]
    for at, moment in enumerate(MOMENTS):
        first = _FIRST + 2 * at
        scenes.append(crowd.scene(blocks[first], list(_first_tries(ground, held, moment))))
        scenes.append(crowd.scene(blocks[first + 1], list(_second_tries(ground, held, moment))))
    scenes.append(crowd.scene(blocks[-1], list(_sale_of_newcomer(ground, held))))
    newcomers = {_newcomer(moment): _paid_by_newcomer(ground) for moment in _NEWCOMERS}
    return combined_plays.stage(ground, scenes, buyers={**crowd.payments(ground), **newcomers})


def read_play(
    ground: TradeSetup, held: Crowd, blocks: Sequence[SimulatedBlock], played: SimulationResult
) -> LaterSales:
    """Return the outcomes of all moments, compared with the first."""
    moments = tuple(
        _moment(ground, held, moment, blocks[_FIRST + 2 * at], played)
        for at, moment in enumerate(MOMENTS)
    )
    return LaterSales(
        pool=ground.candidate.key,
        changes=tuple(
            f"{moment.when}: {change}"
            for moment in moments[1:]
            for change in _changes(moments[0], moment)
        ),
        moments=moments,
        is_blocked=_is_blocked(moments),
        tax_rises=_tax_rises(moments),
    )


# --- writing -----------------------------------------------------------------------------------


def _sellers(moment: str) -> tuple[str, str]:
    return crowd.seller(moment, ORDINARY), crowd.seller(moment, SMALL)


def _first_tries(ground: TradeSetup, held: Crowd, moment: str) -> Iterator[SimCall]:
    for who in _sellers(moment):
        if who in held.held:
            yield from combined_plays.selling(ground, who, held.held[who])
    sent = held.held.get(SENDER, 0) // _SENT_PARTS
    if moment in _NEWCOMERS and sent:
        for call in combined_plays.sending(
            ground, SENDER, RawAmount(sent), friend=f"friend {moment}"
        ):
            yield msgspec.structs.replace(call, label=f"{moment} {call.label}")


def _second_tries(ground: TradeSetup, held: Crowd, moment: str) -> Iterator[SimCall]:
    """Yield retried sales, then purchases: some tokens block all sales in a block with a buy."""
    for who in _sellers(moment):
        amount = held.held.get(who, RawAmount(0))
        if amount:
            yield from combined_plays.selling(ground, who, amount, when="again ")
            yield from combined_plays.selling(ground, who, _half(amount), when="half ")
    if moment in _NEWCOMERS:
        who, token = _newcomer(moment), ground.candidate.token
        yield from combined_plays.buying(ground, who, _paid_by_newcomer(ground), is_read=True)
        later = balance_call(token, ground.trader(who), "balance at sale")
        yield msgspec.structs.replace(later, label=f"{who}: {later.label}")
        if moment == MOMENTS[-1]:
            yield from combined_plays.approving(
                ground, who, amount=_sold_by_newcomer(held), is_unlimited=True
            )


def _sale_of_newcomer(ground: TradeSetup, held: Crowd) -> Iterator[SimCall]:
    """Yield the newcomer's sale. The amount bought is not known in advance, so about three quarters
    of an ordinary purchase are sold."""
    yield from combined_plays.selling(ground, _newcomer(MOMENTS[-1]), _sold_by_newcomer(held))


def _sold_by_newcomer(held: Crowd) -> RawAmount:
    some = next((held.held[who] for who in _sellers(MOMENTS[-1]) if who in held.held), 4)
    return RawAmount(max(1, some * 3 // 4))


def _newcomer(moment: str) -> str:
    return f"buyer {moment}"


def _paid_by_newcomer(ground: TradeSetup) -> RawAmount:
    return crowd.paid(ground, ORDINARY)


def _half(amount: RawAmount) -> RawAmount:
    return RawAmount(max(1, amount // 2))


# --- reading -----------------------------------------------------------------------------------


def _moment(
    ground: TradeSetup, held: Crowd, moment: str, block: SimulatedBlock, played: SimulationResult
) -> Moment:
    sales = [
        sale_of(ground, combined_plays.part(played, who), held.held[who])
        for who in _sellers(moment)
        if who in held.held
    ]
    newcomer = _newcomer(moment)
    if moment == MOMENTS[-1]:
        amount = _sold_by_newcomer(held)
        part = combined_plays.part(played, newcomer)
        bought = read_buy(ground, part, _paid_by_newcomer(ground))
        sold = read_sale(ground, part, "at sale", asked=amount)
        if isinstance(bought, Passed) and isinstance(sold, Passed):
            sales.append(sold)
    return Moment(
        when=moment,
        block_number=block.number,
        time_s=block.time_s,
        blocks_left_out=block.left_out,
        sale=worst(sales),
        sales=tuple(sales),
        buy=read_buy(ground, combined_plays.part(played, newcomer), _paid_by_newcomer(ground))
        if moment in _NEWCOMERS
        else None,
        transfer=_transfer(ground, held, moment, played),
    )


def sale_of(ground: TradeSetup, part: SimulationResult, amount: RawAmount) -> Outcome:
    """Return the outcome of one seller's attempts. A balance that shrank by itself counts as a tax.
    Half that sells where all of it does not is no sale, unless the balance had shrunk."""
    amounts = {"": amount, "again ": amount, "half ": _half(amount)}
    tries = {
        name: read_sale(ground, part, f"{name}at sale", asked=amounts[name])
        for name in _TRIES
        if f"sell {name}at sale" in part.by_label
    }
    before = part["balance before sale at sale"].word
    kept = 1.0 if before is None else min(before, amount) / amount
    for name, outcome in tries.items():
        if isinstance(outcome, Passed) and (name != "half " or kept < 1):
            if outcome.tax is None:
                return outcome
            return Passed(tax=round(100 - (100 - outcome.tax) * kept, 4))
    if before is not None and not before:
        return Refused(reason="what was bought is gone")
    refused = [outcome for outcome in tries.values() if isinstance(outcome, Refused)]
    return refused[0] if refused else next(iter(tries.values()))


def worst(outcomes: Sequence[Outcome]) -> Outcome:
    """Return the first revert, else the highest tax, else the first outcome that was not
    determined."""
    refused = [outcome for outcome in outcomes if isinstance(outcome, Refused)]
    passed = [outcome for outcome in outcomes if isinstance(outcome, Passed)]
    if refused:
        return refused[0]
    if passed:
        return max(passed, key=lambda outcome: -1.0 if outcome.tax is None else outcome.tax)
    missing = NotSimulated(missing="FUNDS", reason="nobody held anything to sell")
    return next(iter(outcomes), missing)


def _transfer(
    ground: TradeSetup, held: Crowd, moment: str, played: SimulationResult
) -> TransferResult | None:
    sent = held.held.get(SENDER, 0) // _SENT_PARTS
    if moment not in _NEWCOMERS:
        return None
    if not sent:
        return unsettled("there was nothing to send")
    wallet = Wallet(
        address=ground.trader(SENDER),
        balance_raw=RawAmount(sent),
        amount_raw=RawAmount(sent),
        slot_index=None,
    )
    return read_result(wallet, combined_plays.part(played, f"{moment} {SENDER}"))


def _is_blocked(moments: Sequence[Moment]) -> bool | None:
    """True if a sale passed and a later one reverts, or the last reverts: a waiting time after the
    buy reverts at first only, a trap later. None: not determined."""
    has_passed = False
    for moment in moments:
        if isinstance(moment.sale, Refused) and (has_passed or moment is moments[-1]):
            return True
        has_passed |= any(isinstance(sale, Passed) for sale in moment.sales)
    return None if any(isinstance(moment.sale, NotSimulated) for moment in moments) else False


def _tax_rises(moments: Sequence[Moment]) -> bool | None:
    taxes = [moment.sale.tax for moment in moments[1:] if isinstance(moment.sale, Passed)]
    if any(tax is not None and tax >= HEAVY_TAX_PCT for tax in taxes):
        return True
    return False if len(taxes) == len(moments) - 1 and None not in taxes else None


def _changes(now: Moment, then: Moment) -> Iterator[str]:
    pairs = [("sale", now.sale, then.sale)]
    if now.buy is not None and then.buy is not None:
        pairs.insert(0, ("buy", now.buy, then.buy))
    for act, before, after in pairs:
        if _word(before) != _word(after):
            yield f"{act} {_word(after)}"
        elif isinstance(before, Passed) and isinstance(after, Passed):
            yield from _tax_change(f"{act} tax", before.tax, after.tax)
    if now.transfer is not None and then.transfer is not None:
        yield from _transfer_changes(now.transfer, then.transfer)


def _transfer_changes(now: TransferResult, then: TransferResult) -> Iterator[str]:
    if now.success != then.success:
        word = {True: "passed", False: "refused", None: "not learnt"}[then.success]
        yield f"transfer {word}"
    yield from _tax_change("send tax", now.send_tax, then.send_tax)
    yield from _tax_change("receive tax", now.receive_tax, then.receive_tax)


def _tax_change(what: str, before: float | None, after: float | None) -> Iterator[str]:
    if before is not None and after is not None and abs(after - before) > _TAX_POINTS:
        yield f"{what} {after:g} %, not {before:g} %"


def _word(outcome: Outcome) -> str:
    if isinstance(outcome, Passed):
        return "passed"
    return "refused" if isinstance(outcome, Refused) else "not learnt"
