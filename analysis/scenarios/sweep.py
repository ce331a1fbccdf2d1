"""The same buy, transfer and sale now, in a day and in thirty days: what does time alone change?

Kept in the evidence, and only there: by then owners will have acted, and prices moved. All of it is
one play. For each moment one account buys now and sells then, another buys now and sends then, and
a third buys then. Pure.
"""

from collections.abc import Iterator, Sequence
from typing import Final

import msgspec

from analysis.scenarios import acts
from analysis.scenarios.ground import Ground, balance_call
from analysis.scenarios.trade import Bought, read_buy, read_sale
from analysis.scenarios.transfer import TransferResult, Wallet, read_result, unsettled
from analysis.stage import NotRun, Outcome, Passed, Play, Played, Refused, SimCall
from config.primitives import RawAmount

VERSION = 1

_DAY_S: Final = 86_400
_MOMENTS: Final = (("now", 0), ("+1 day", _DAY_S), ("+30 days", 30 * _DAY_S))
"""Their names, and seconds from now."""

BUYING_BLOCKS: Final = 2 * len(_MOMENTS)
"""Everybody who buys now has a block of their own."""

_MOST_BLOCKS_SKIPPED: Final = 119
"""Before each later moment. Geth plays at most 256 blocks, the skipped ones included; odd, for a
token may rest in every other block."""

_PARTS: Final = 8
"""Everybody buys so small a part of what could be bought at once."""

_TAX_POINTS: Final = 0.01
"""A difference of taxes that is none."""


class Moment(msgspec.Struct, frozen=True, kw_only=True):
    """When, and what came of it then."""

    when: str
    block_number: int
    time_s: int
    blocks_left_out: int
    """By how many the block's number is lower than the chain's pace would have it by then: nodes
    do not skip as many. A token that counts blocks has not waited as long as one that reads the
    time."""
    buy: Outcome
    sale: Outcome
    transfer: TransferResult


class TimeSweep(msgspec.Struct, frozen=True, kw_only=True):
    """All moments."""

    pool: str
    """Candidate.key of the pool."""
    changes: tuple[str, ...]
    """What is not as it is now, by moment: `+1 day: sale refused`."""
    moments: tuple[Moment, ...]


def write_play(
    ground: Ground,
    bought: Bought,
    blocks: Sequence[tuple[int, int]],
    *,
    block_time_s: float,
) -> Play:
    """`blocks`: number and time of those in which people buy now, and of the one after them."""
    paid, moved = _amounts(bought)
    people = [f"{role} {when}" for when, _ in _MOMENTS for role in ("seller", "sender")]
    scenes = [
        acts.Scene(number=number, time_s=time_s, calls=acts.buying(ground, who, paid))
        for who, (number, time_s) in zip(people, blocks[:-1], strict=True)
    ]
    for (when, _), (number, time_s, _) in zip(
        _MOMENTS, _moments(blocks[-1], block_time_s), strict=True
    ):
        scenes.append(
            acts.Scene(number=number, time_s=time_s, calls=tuple(_acts(ground, when, paid, moved)))
        )
    buyers = [*people, *(f"buyer {when}" for when, _ in _MOMENTS)]
    return acts.stage(ground, scenes, buyers=dict.fromkeys(buyers, paid))


def read_play(
    ground: Ground,
    bought: Bought,
    blocks: Sequence[tuple[int, int]],
    played: Played,
    *,
    block_time_s: float,
) -> TimeSweep:
    """Compare."""
    paid, moved = _amounts(bought)
    moments = tuple(
        Moment(
            when=when,
            block_number=number,
            time_s=time_s,
            blocks_left_out=left_out,
            buy=read_buy(ground, acts.part(played, f"buyer {when}"), paid),
            sale=_sale(ground, acts.part(played, f"seller {when}"), moved),
            transfer=_transfer(ground, acts.part(played, f"sender {when}"), when, moved),
        )
        for (when, _), (number, time_s, left_out) in zip(
            _MOMENTS, _moments(blocks[-1], block_time_s), strict=True
        )
    )
    return TimeSweep(
        pool=ground.candidate.key,
        changes=tuple(
            f"{moment.when}: {change}"
            for moment in moments[1:]
            for change in _changes(moments[0], moment)
        ),
        moments=moments,
    )


def _amounts(bought: Bought) -> tuple[RawAmount, RawAmount]:
    """What each pays, and what is then sold or sent of what it brings; 0: not known."""
    held = bought.held[0] if bought.held is not None else 0
    return RawAmount(max(1, bought.amount_in // _PARTS)), RawAmount(held // (2 * _PARTS))


def _moments(first: tuple[int, int], block_time_s: float) -> Iterator[tuple[int, int, int]]:
    """Number, time, and blocks left out so far, of each moment."""
    number, now_s = first
    for _, wait_s in _MOMENTS:
        due = first[0] + round(wait_s / block_time_s)
        number = min(due, number + _MOST_BLOCKS_SKIPPED)
        yield number, now_s + wait_s, due - number


def _acts(ground: Ground, when: str, paid: RawAmount, moved: RawAmount) -> Iterator[SimCall]:
    """The sale first: some tokens let nobody sell in a block in which somebody bought."""
    if moved:
        yield from acts.selling(ground, f"seller {when}", moved)
        yield from acts.sending(ground, f"sender {when}", moved)
    buyer = f"buyer {when}"
    yield from acts.buying(ground, buyer, paid)
    later = balance_call(ground.candidate.token, ground.trader(buyer), "balance at sale")
    yield msgspec.structs.replace(later, label=f"{buyer}: {later.label}")


def _sale(ground: Ground, played: Played, moved: RawAmount) -> Outcome:
    if not moved:
        return NotRun(missing="FUNDS", reason="the buy did not pass, so there was nothing to sell")
    return read_sale(ground, played, "at sale", asked=moved)


def _transfer(ground: Ground, played: Played, when: str, moved: RawAmount) -> TransferResult:
    if not moved:
        return unsettled("the buy did not pass, so there was nothing to send")
    wallet = Wallet(
        address=ground.trader(f"sender {when}"),
        balance_raw=moved,
        amount_raw=moved,
        slot_index=None,
    )
    return read_result(wallet, played)


def _changes(now: Moment, then: Moment) -> Iterator[str]:
    for act, before, after in (("buy", now.buy, then.buy), ("sale", now.sale, then.sale)):
        if _word(before) != _word(after):
            yield f"{act} {_word(after)}"
        elif isinstance(before, Passed) and isinstance(after, Passed):
            yield from _tax_change(f"{act} tax", before.tax, after.tax)
    if now.transfer.success != then.transfer.success:
        word = {True: "passed", False: "refused", None: "not learnt"}[then.transfer.success]
        yield f"transfer {word}"
    yield from _tax_change("send tax", now.transfer.send_tax, then.transfer.send_tax)
    yield from _tax_change("receive tax", now.transfer.receive_tax, then.transfer.receive_tax)


def _tax_change(what: str, before: float | None, after: float | None) -> Iterator[str]:
    if before is not None and after is not None and abs(after - before) > _TAX_POINTS:
        yield f"{what} {after:g} %, not {before:g} %"


def _word(outcome: Outcome) -> str:
    if isinstance(outcome, Passed):
        return "passed"
    return "refused" if isinstance(outcome, Refused) else "not learnt"
