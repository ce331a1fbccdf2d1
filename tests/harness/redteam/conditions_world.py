"""Conditions of time, of blocks and of other contracts."""

import random
from collections.abc import Callable

from tests.harness.redteam.trap_model import Act, Condition, EntryPoint

Maker = Callable[[random.Random], Condition]

_SALES: tuple[EntryPoint, ...] = ("sell", "transfer", "transferFrom")
_ALL: tuple[EntryPoint, ...] = (*_SALES, "approve", "buy", "hook", "proxy")
_TIMED = ("timebomb", "trading_cooldown", "sell_blocked_later", "sell_tax_rises")
_SEEN = ("untested_conditions",)


# --- time and blocks -------------------------------------------------------------------------


def after_date(dice: random.Random) -> Condition:
    """After a date that follows from the day of creation."""
    seconds = dice.choice([1_800, 7_200, 86_400, 20 * 86_400])
    return Condition(
        key="time_date",
        axis="time",
        lhs="block.timestamp",
        op=">",
        rhs="_due",
        state=f"uint256 private immutable _due = block.timestamp + {seconds + 1_200};",
        entry_points=_ALL,
        cause=_TIMED,
    )


def since_buy(dice: random.Random) -> Condition:
    """So long after one's own buy."""
    seconds = dice.choice([60, 130, 1_500, 2 * 86_400])
    return Condition(
        key="time_since_buy",
        axis="time",
        lhs="block.timestamp",
        op=">",
        rhs=f"_when[who] + {seconds}",
        state="mapping(address => uint256) private _when;",
        on_buy="_when[who] = block.timestamp;",
        entry_points=(*_SALES, "hook"),
        cause=_TIMED,
    )


def since_first(dice: random.Random) -> Condition:
    """So long after the first buy of all."""
    seconds = dice.choice([200, 3_000, 86_400])
    return Condition(
        key="time_since_first",
        axis="time",
        lhs="block.timestamp * (_first == 0 ? 0 : 1)",
        op=">",
        rhs=f"_first + {seconds}",
        state="uint256 private _first;",
        on_buy="if (_first == 0) _first = block.timestamp;",
        entry_points=(*_SALES, "buy", "hook"),
        cause=_TIMED,
    )


def hour_of_day(_: random.Random) -> Condition:
    """Outside the hours of the day at which the token was made, and the one after."""
    return Condition(
        key="time_of_day",
        axis="time",
        lhs="(block.timestamp + 86400 - _dawn) % 86400",
        op=">",
        rhs="5400",
        state="uint256 private immutable _dawn = block.timestamp % 86400;",
        entry_points=_ALL,
        cause=_TIMED,
    )


def after_block(dice: random.Random) -> Condition:
    """After a block that follows from the block of creation."""
    blocks = dice.choice([220, 300, 400])
    return Condition(
        key="block_height",
        axis="block",
        lhs="block.number",
        op=">",
        rhs="_height",
        state=f"uint256 private immutable _height = block.number + {blocks};",
        blocks=200,
        entry_points=_ALL,
        cause=_TIMED,
    )


def blocks_since_buy(dice: random.Random) -> Condition:
    """Number of blocks after one's own buy."""
    blocks = dice.choice([4, 12, 150])
    return Condition(
        key="block_since_buy",
        axis="block",
        lhs="block.number - _at[who]",
        op=">",
        rhs=str(blocks),
        blocks=blocks,
        state="mapping(address => uint256) private _at;",
        on_buy="_at[who] = block.number;",
        entry_points=(*_SALES, "hook"),
        cause=_TIMED,
    )


def not_with_approval(dice: random.Random) -> Condition:
    """Later than the block of the approval, or by a number of blocks."""
    return Condition(
        key="block_of_approval",
        axis="block",
        lhs="block.number",
        op=">",
        rhs=f"_allowedAt[who] + {dice.choice([0, 1])}",
        state="mapping(address => uint256) private _allowedAt;",
        on_approve="_allowedAt[who] = block.number;",
        entry_points=_SALES,
        cause=(*_TIMED, "sell_failed"),
    )


def approved_late(dice: random.Random) -> Condition:
    """Approvals long after the buy are caught. Accounts that were given tokens are spared."""
    seconds = dice.choice([120, 260, 2_000, 9_000])
    return Condition(
        key="time_of_approval",
        axis="stored_time",
        lhs="_allowedAt[who]",
        op=">",
        rhs=f"(_when[who] == 0 ? block.timestamp : _when[who] + {seconds})",
        state="mapping(address => uint256) private _allowedAt;"
        " mapping(address => uint256) private _when;",
        on_buy="_when[who] = block.timestamp;",
        on_approve="_allowedAt[who] = block.timestamp;",
        entry_points=_SALES,
        cause=(*_TIMED, *_SEEN, "sell_failed"),
    )


def last_sale(dice: random.Random) -> Condition:
    """For ever after a sale within some hours, none of them a round number after the first buy."""
    start, length = dice.choice([(9_000, 60_000), (6_000, 70_000)])
    return Condition(
        key="time_of_last_sale",
        axis="stored_time",
        lhs="_gap()",
        op="<",
        rhs=str(length),
        state="uint256 private _first; uint256 private _last;",
        functions="function _gap() private view returns (uint256 gap)"
        f" {{ unchecked {{ gap = _last - _first - {start}; }} }}",
        on_buy="if (_first == 0) _first = block.timestamp;",
        on_sell="_last = block.timestamp;",
        entry_points=("sell", "transferFrom"),
        cause=(*_TIMED, *_SEEN),
    )


def odd_window(_: random.Random) -> Condition:
    """Some hours after one's own buy and not later, as one scaled difference."""
    return Condition(
        key="time_window",
        axis="stored_time",
        lhs="_odd(who)",
        op="<",
        rhs=str(7 * 5_000),
        state="mapping(address => uint256) private _when;",
        functions="function _odd(address who) private view returns (uint256 odd)"
        f" {{ unchecked {{ odd = (block.timestamp - _when[who]) * 7 - {7 * 8_700}; }} }}",
        on_buy="_when[who] = block.timestamp;",
        entry_points=_SALES,
        cause=(*_TIMED, *_SEEN),
    )


# --- other contracts -------------------------------------------------------------------------

_WITNESS = "Witness private immutable _witness = new Witness();"
_SHELF = "function shelf() external view returns (address) { return address(_witness); }"


def no_wrapped_coins(_: random.Random) -> Condition:
    """Payers in coins hold no wrapped ones."""
    return Condition(
        key="foreign_wrapped",
        axis="foreign",
        lhs="IBalances(weth).balanceOf(who)",
        op="==",
        rhs="0",
        entry_points=(*_SALES, "approve", "buy"),
        moments=("now", "at_buy"),
        cause=(*_SEEN, "external_call"),
    )


def wrapped_supply(dice: random.Random) -> Condition:
    """The wrapped coin's supply has grown since the token was made."""
    return Condition(
        key="foreign_supply",
        axis="foreign",
        lhs="IBalances(weth).totalSupply()",
        op=">",
        rhs=f"_then + {dice.choice([54, 60])} * 0.1 ether",
        state="uint256 private immutable _then;",
        start="_then = IBalances(weth).totalSupply();",
        crowd=8,
        entry_points=("sell", "transfer", "buy"),
        cause=(*_SEEN, "external_call", "sell_blocked_after_others"),
    )


def witness_says(dice: random.Random) -> Condition:
    """Another contract is switched to another answer."""
    value = dice.randrange(1, 1_000)
    return Condition(
        key="foreign_answer",
        axis="foreign",
        lhs="_witness.said()",
        op="==",
        rhs=str(value),
        state=_WITNESS,
        functions=_SHELF,
        acts=(Act(by="maker", to="$shelf", signature="say(uint256)", given=(value,)),),
        entry_points=("sell", "transfer", "approve", "buy"),
        cause=(*_SEEN, "external_call"),
    )


def witness_clock(dice: random.Random) -> Condition:
    """Another contract knows the time."""
    return Condition(
        key="foreign_clock",
        axis="foreign",
        lhs="_witness.age()",
        op=">",
        rhs=str(dice.choice([3_000, 30_000, 10 * 86_400])),
        state=_WITNESS,
        functions=_SHELF,
        entry_points=("sell", "transfer", "approve", "buy"),
        cause=(*_SEEN, *_TIMED, "external_call"),
    )


def witness_count(dice: random.Random) -> Condition:
    """Another contract counts."""
    return Condition(
        key="foreign_count",
        axis="foreign",
        lhs="_witness.asked()",
        op=">",
        rhs=str(dice.randrange(3, 7)),
        state=_WITNESS,
        functions=_SHELF,
        entry_points=("sell",),
        views=False,
        cause=(*_SEEN, "external_call", "sell_blocked_after_others"),
    )


def witness_refuses(dice: random.Random) -> Condition:
    """Another contract's refusal is the sign."""
    seconds = dice.choice([2_500, 40_000])
    return Condition(
        key="foreign_refusal",
        axis="foreign",
        lhs="_refused()",
        op="==",
        rhs="1",
        state=_WITNESS,
        functions=_SHELF + " function _refused() private view returns (uint256) {"
        f" try _witness.young({seconds}) {{ return 0; }} catch {{ return 1; }} }}",
        entry_points=("sell", "transfer", "approve", "buy"),
        cause=(*_SEEN, *_TIMED, "external_call"),
    )


def unborn_guard(_: random.Random) -> Condition:
    """An address without code is notified of sales, and gets code that refuses."""
    return Condition(
        key="foreign_unborn",
        axis="foreign",
        lhs="_told(who)",
        op="==",
        rhs="0",
        state="Works private immutable _works; address private immutable _guard;",
        start="Works works = new Works(); _works = works; _guard = works.place();",
        functions="function shelf() external view returns (address) { return address(_works); }"
        " function _told(address who) private returns (uint256) { (bool went,) = _guard.call("
        'abi.encodeWithSignature("sold(address)", who)); return went ? 1 : 0; }',
        acts=(Act(by="maker", to="$shelf", signature="make()"),),
        entry_points=("sell",),
        views=False,
        cause=_SEEN,
    )


WORLD: tuple[Maker, ...] = (
    after_date,
    since_buy,
    since_first,
    hour_of_day,
    after_block,
    blocks_since_buy,
    not_with_approval,
    approved_late,
    last_sale,
    odd_window,
    no_wrapped_coins,
    wrapped_supply,
    witness_says,
    witness_clock,
    witness_count,
    witness_refuses,
    unborn_guard,
)
