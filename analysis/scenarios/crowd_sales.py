"""Sequential sales: the crowd sells one after another, to see the effect of others' trades on a
sale.

One simulation, an hour after the buys. A large buyer buys first and sells in the middle, so that
the price moves both ways. Everybody else sells in a block of their own and retries in the next. One
has bought twice and sells in thirds; one transfers half to a friend who sells it. Sends no request.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.scenarios import combined_plays, crowd
from analysis.scenarios.buy import part_of_reserve
from analysis.scenarios.crowd import MOMENTS, ORDINARY, SENDER, TWICE, Crowd
from analysis.scenarios.later_sales import worst
from analysis.scenarios.trade_outcome import HEAVY_TAX_PCT, read_sale
from analysis.scenarios.trade_setup import TradeSetup
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

VERSION: Final = 1

_HOUR_S: Final = 3_600
WAITS_S: Final = (0, 0, 0, 0, 0, _HOUR_S, *[0] * 7, _HOUR_S, 0)
"""Seconds to wait before each block but the first: the opening, approvals, the large buy; an hour;
eight blocks of sales; an hour; the second sales, and their retries."""

_WHALE: Final = "large buyer"
_WHALE_SHARES: Final = (3, 13)
"""Divisors of the reserve: amounts of the large buyer's purchases, of which all that pass count."""

_FRIEND: Final = "friend"
_WHALE_APPROVES: Final = 6
"""Index of the large buyer's approval block: that of the first sales, after the hour."""


class CrowdSales(msgspec.Struct, frozen=True, kw_only=True):
    """Outcomes of all sales."""

    pool: str
    """Candidate.key of the pool."""
    sales: dict[str, Outcome]
    """Outcome by seller, in the order of the sales."""
    is_blocked: bool | None
    """True if a sale reverted. None: no sale was determined."""
    tax_rises: bool | None
    """True if a sale lost half or more. None: no sale was determined."""


class _Sale(msgspec.Struct, frozen=True, kw_only=True):
    who: str
    amount: RawAmount
    words: str = ""
    """Label prefix that distinguishes two sales of one seller."""

    @property
    def name(self) -> str:
        return f"{self.who}{', ' + self.words.strip() if self.words else ''}"


def write_play(ground: TradeSetup, held: Crowd, blocks: Sequence[SimulatedBlock]) -> Simulation:
    """Return the simulation. `blocks`: one more than WAITS_S has entries."""
    scenes = [
        *crowd.opening(ground, blocks),
        crowd.scene(blocks[3], crowd.second_buy(ground)),
        crowd.scene(
            blocks[4],
            [
                call
                for who, amount in held.held.items()
                for call in combined_plays.approving(ground, who, amount=amount, is_unlimited=True)
            ],
        ),
        crowd.scene(blocks[5], list(_whale_buys(ground))),
    ]
    before: tuple[_Sale, ...] = ()
    for block, sales in zip(blocks[6:], _program(ground, held), strict=True):
        calls = [call for sale in before for call in _tried(ground, sale, "again ")]
        calls += [call for sale in sales for call in _tried(ground, sale, "")]
        scenes.append(crowd.scene(block, [*calls, *_beside(ground, held, block, blocks)]))
        before = sales
    payments = {**crowd.payments(ground), _WHALE: _whale_funds(ground)}
    return combined_plays.stage(ground, scenes, buyers=payments, others=[ground.trader(_FRIEND)])


def read_play(ground: TradeSetup, held: Crowd, played: SimulationResult) -> CrowdSales:
    """Return the outcomes of all sellers but the large buyer."""
    sales = {
        sale.name: _outcome(ground, played, sale)
        for block in _program(ground, held)
        for sale in block
        if sale.who != _WHALE
    }
    learnt = [outcome for outcome in sales.values() if not isinstance(outcome, NotSimulated)]
    taxes = [outcome.tax for outcome in learnt if isinstance(outcome, Passed)]
    return CrowdSales(
        pool=ground.candidate.key,
        sales=sales,
        is_blocked=isinstance(worst(learnt), Refused) if learnt else None,
        tax_rises=any(tax is not None and tax >= HEAVY_TAX_PCT for tax in taxes)
        if learnt
        else None,
    )


# --- writing -----------------------------------------------------------------------------------


def _program(ground: TradeSetup, held: Crowd) -> Iterator[tuple[_Sale, ...]]:
    """Yield the sales of each block, from the first after the hour to the last."""
    everybody = [
        _Sale(who=who, amount=held.held[who])
        for moment in MOMENTS
        if (who := crowd.seller(moment, ORDINARY)) in held.held
    ]
    twice, sent = held.held.get(TWICE, 0), held.held.get(SENDER, 0)
    # A third each: where the first passes, its retry sells a third too.
    thirds = [
        _Sale(who=TWICE, amount=RawAmount(twice // 3), words=words) for words in ("part ", "rest ")
    ]
    first_part, last_part = (thirds[:1], thirds[1:]) if thirds[0].amount else ([], [])
    whale = [_Sale(who=_WHALE, amount=_sold_by_whale(ground, held))]
    second = [
        *last_part,
        *([_Sale(who=_FRIEND, amount=quarter)] if (quarter := RawAmount(sent // 4)) else []),
    ]
    order = [*everybody[:2], *first_part, *everybody[2:3], *whale, *everybody[3:]]
    for at in range(8):
        yield tuple(order[at : at + 1])
    yield tuple(second)
    yield ()


def _tried(ground: TradeSetup, sale: _Sale, again: str) -> tuple[SimCall, ...]:
    return combined_plays.selling(ground, sale.who, sale.amount, when=f"{sale.words}{again}")


def _beside(
    ground: TradeSetup, held: Crowd, block: SimulatedBlock, blocks: Sequence[SimulatedBlock]
) -> Iterator[SimCall]:
    """Yield other calls of the block: the large buyer approves; SENDER transfers half to a friend,
    who approves in the next block."""
    at = blocks.index(block)
    if at == _WHALE_APPROVES:
        yield from combined_plays.approving(
            ground, _WHALE, amount=_sold_by_whale(ground, held), is_unlimited=True
        )
        half = RawAmount(held.held.get(SENDER, 0) // 2)
        if half:
            yield from combined_plays.sending(ground, SENDER, half, friend=_FRIEND)
    if at == _WHALE_APPROVES + 1:
        amount = held.held.get(SENDER, 0) // 4
        yield from combined_plays.approving(ground, _FRIEND, amount=amount, is_unlimited=True)


def _whale_buys(ground: TradeSetup) -> Iterator[SimCall]:
    for share in _WHALE_SHARES:
        amount = part_of_reserve(ground, share)
        yield from combined_plays.buying(ground, _WHALE, amount, prefix=f"{share} ")


def _whale_funds(ground: TradeSetup) -> RawAmount:
    return RawAmount(sum(part_of_reserve(ground, share) for share in _WHALE_SHARES))


def _sold_by_whale(ground: TradeSetup, held: Crowd) -> RawAmount:
    """Return about half of what the larger of the two purchases brings, estimated from the crowd's
    own purchases."""
    who, amount = next(iter(held.held.items()))
    pay = part_of_reserve(ground, _WHALE_SHARES[0])
    return RawAmount(max(1, amount * pay // max(1, crowd.paid(ground, who)) // 2))


# --- reading -----------------------------------------------------------------------------------


def _outcome(ground: TradeSetup, played: SimulationResult, sale: _Sale) -> Outcome:
    part = combined_plays.part(played, sale.who)
    tries = [
        read_sale(ground, part, f"{sale.words}{again}at sale", asked=sale.amount)
        for again in ("", "again ")
        if f"sell {sale.words}{again}at sale" in part.by_label
    ]
    passed = [outcome for outcome in tries if isinstance(outcome, Passed)]
    return passed[0] if passed else worst(tries)
