"""Conditions that trades of any account move: counters, marks, amounts, balances."""

import random
from collections.abc import Callable

from tests.harness.redteam.trap_model import Condition, EntryPoint

Maker = Callable[[random.Random], Condition]

_SALES: tuple[EntryPoint, ...] = ("sell", "transfer", "transferFrom")
_HOOKED: tuple[EntryPoint, ...] = (*_SALES, "hook")
_LATER = ("sell_blocked_after_others", "sell_tax_rises", "sell_blocked_later")
_SIZED = ("sell_depends_on_size", "transfer_restrictions")
_IN_POOL = 930_000
"""Whole tokens that the pool begins with, next to five coins."""


# --- counters --------------------------------------------------------------------------------


def second_buy(dice: random.Random) -> Condition:
    """Earlier buyers are caught."""
    limit = dice.choice([1, 2])
    return Condition(
        key="counter_own_buys",
        axis="counter",
        lhs="_buys[who]",
        op=">",
        rhs=str(limit),
        state="mapping(address => uint256) private _buys;",
        on_buy="_buys[who]++;",
        entry_points=(*_HOOKED, "buy"),
        cause=_LATER,
    )


def own_sales(dice: random.Random) -> Condition:
    """One sale for everybody, or two."""
    return Condition(
        key="counter_own_sales",
        axis="counter",
        lhs="_sales[who]",
        op=">",
        rhs=str(dice.choice([0, 1])),
        state="mapping(address => uint256) private _sales;",
        on_sell="_sales[who]++;",
        entry_points=("sell", "hook"),
        cause=(*_LATER, *_SIZED, "trading_cooldown"),
    )


def all_sales(dice: random.Random) -> Condition:
    """A few sales in all."""
    return Condition(
        key="counter_all_sales",
        axis="counter",
        lhs="_sold",
        op=">",
        rhs=str(dice.randrange(2, 7)),
        state="uint256 private _sold;",
        on_sell="_sold++;",
        entry_points=("sell", "hook"),
        cause=_LATER,
    )


def all_buys(dice: random.Random) -> Condition:
    """A few buys in all, or rather many."""
    limit = dice.choice([5, 9, 14, 30])
    return Condition(
        key="counter_all_buys",
        axis="counter",
        lhs="_bought",
        op=">",
        rhs=str(limit),
        state="uint256 private _bought;",
        on_buy="_bought++;",
        crowd=limit,
        entry_points=(*_HOOKED, "buy"),
        cause=_LATER,
    )


def buyers(dice: random.Random) -> Condition:
    """Number of different buyers."""
    limit = dice.choice([4, 8, 11, 20])
    return Condition(
        key="counter_buyers",
        axis="counter",
        lhs="_people",
        op=">",
        rhs=str(limit),
        state="uint256 private _people; mapping(address => bool) private _seenOnce;",
        on_buy="if (!_seenOnce[who]) { _seenOnce[who] = true; _people++; }",
        crowd=limit,
        entry_points=(*_HOOKED, "buy"),
        cause=_LATER,
    )


def last_buyer(_: random.Random) -> Condition:
    """Only who bought last may sell."""
    return Condition(
        key="counter_last_buyer",
        axis="counter",
        lhs="uint160(_last)",
        op="!=",
        rhs="uint160(who)",
        state="address private _last;",
        on_buy="_last = who;",
        entry_points=("sell", "hook"),
        cause=_LATER,
    )


def pool_count(dice: random.Random) -> Condition:
    """Number of trades of the pool, in a mapping with every account's count."""
    limit = dice.choice([9, 16, 28])
    return Condition(
        key="counter_of_pool",
        axis="counter",
        lhs="_times[pair]",
        op=">",
        rhs=str(limit),
        state="mapping(address => uint256) private _times;",
        on_buy="_times[pair]++; _times[who]++;",
        crowd=limit,
        entry_points=(*_SALES, "buy"),
        cause=_LATER,
    )


def field_of_buys(dice: random.Random) -> Condition:
    """Earlier buyers, counted in a field of a struct."""
    return Condition(
        key="counter_in_field",
        axis="counter",
        lhs="_book[who].times",
        op=">",
        rhs=str(dice.choice([1, 2])),
        state="struct Page { uint128 first; uint64 last; uint256 sum; uint32 times; }"
        " mapping(address => Page) private _book;",
        on_buy="_book[who].times++;",
        entry_points=(*_HOOKED, "buy"),
        cause=_LATER,
    )


def volume(dice: random.Random) -> Condition:
    """Total volume of buys."""
    limit = dice.choice([20_000, 50_000, 90_000])
    return Condition(
        key="counter_volume",
        axis="counter",
        lhs="_volume",
        op=">",
        rhs=f"{limit} ether",
        state="uint256 private _volume;",
        on_buy="_volume += v;",
        crowd=4 if limit < 90_000 else 10,
        entry_points=(*_SALES, "buy"),
        cause=_LATER,
    )


# --- amounts ---------------------------------------------------------------------------------


def bought_little(dice: random.Random) -> Condition:
    """Small buyers do not sell."""
    limit = dice.choice([15_000, 25_000, 60_000])
    return Condition(
        key="amount_bought_little",
        axis="amount",
        lhs="_sum[who]",
        op="<",
        rhs=f"{limit} ether",
        state="mapping(address => uint256) private _sum;",
        on_buy="_sum[who] += v;",
        entry_points=_SALES,
        cause=_SIZED,
    )


def bought_much(dice: random.Random) -> Condition:
    """Buyers of more than a test buyer sells are caught."""
    limit = dice.choice([1_000, 4_000])
    return Condition(
        key="amount_bought_much",
        axis="amount",
        lhs="_most[who]",
        op=">",
        rhs=f"{limit} ether",
        state="mapping(address => uint256) private _most;",
        on_buy="if (v > _most[who]) _most[who] = v;",
        entry_points=_SALES,
        cause=_SIZED,
    )


def sold_share(dice: random.Random) -> Condition:
    """Only a share of the bought amount may be sold in all."""
    part = dice.choice([2, 5, 10])
    return Condition(
        key="amount_sold_share",
        axis="amount",
        lhs=f"(_out[who] + v) * {part}",
        op=">",
        rhs="_in[who]",
        state="mapping(address => uint256) private _in; mapping(address => uint256) private _out;",
        on_buy="_in[who] += v;",
        on_sell="_out[who] += v;",
        entry_points=("sell",),
        cause=_SIZED,
    )


def sale_small(dice: random.Random) -> Condition:
    """Sales below so much."""
    limit = dice.choice([15_000, 30_000])
    return Condition(
        key="amount_sale_small",
        axis="amount",
        lhs="v",
        op="<",
        rhs=f"{limit} ether",
        entry_points=("sell", "transferFrom"),
        cause=_SIZED,
    )


def sale_of_rest(dice: random.Random) -> Condition:
    """Sales above a share of the seller's balance."""
    part = dice.choice([3, 8])
    return Condition(
        key="amount_sale_share",
        axis="amount",
        lhs=f"v * {part}",
        op=">",
        rhs="_held[who]",
        entry_points=("sell", "transfer", "transferFrom"),
        cause=_SIZED,
    )


def sale_band(dice: random.Random) -> Condition:
    """Sales of sizes between those that a tester thinks of."""
    start, length = dice.choice([(9_300, 24_000), (10_100, 21_000)])
    return Condition(
        key="amount_sale_band",
        axis="amount",
        lhs="_over(v)",
        op="<",
        rhs=f"{length} ether",
        functions="function _over(uint256 v) private pure returns (uint256 over)"
        f" {{ unchecked {{ over = v - {start} ether; }} }}",
        entry_points=("sell", "transferFrom"),
        cause=_SIZED,
    )


def bought_band(dice: random.Random) -> Condition:
    """Buyers of a certain size are caught, kept in a list."""
    start, end = dice.choice([(9_300, 31_000), (10_100, 29_000)])
    return Condition(
        key="amount_bought_band",
        axis="amount",
        lhs="_notes[who].length",
        op=">",
        rhs="0",
        state="mapping(address => uint256[]) private _notes;",
        on_buy=f"if (v > {start} ether && v < {end} ether) _notes[who].push(v);",
        entry_points=("sell", "transferFrom"),
        cause=_SIZED,
    )


def approved_all(_: random.Random) -> Condition:
    """Unlimited allowances, as wallets give them, are caught."""
    return Condition(
        key="amount_approved",
        axis="amount",
        lhs="_asked[who]",
        op="==",
        rhs="type(uint256).max",
        state="mapping(address => uint256) private _asked;",
        on_approve="_asked[who] = v;",
        entry_points=("sell", "transfer"),
        cause=(*_SIZED, "sell_failed"),
    )


# --- balances --------------------------------------------------------------------------------


def price_up(dice: random.Random) -> Condition:
    """The pool's coins have grown."""
    tenths = dice.choice([2, 5, 12])
    return Condition(
        key="balance_pool_coins",
        axis="balance",
        lhs="IBalances(weth).balanceOf(pair)",
        op=">",
        rhs=f"{50 + tenths} * 0.1 ether",
        crowd=10 if tenths > 5 else 4,
        entry_points=_SALES,
        cause=(*_LATER, "external_call"),
    )


def reserves(dice: random.Random) -> Condition:
    """The pool's own record shows a higher price."""
    share = dice.choice([85, 92, 96])
    return Condition(
        key="balance_reserves",
        axis="balance",
        lhs="_depth()",
        op="<",
        rhs=f"{_IN_POOL * share // 100} ether",
        functions="function _depth() private view returns (uint256) {"
        " (uint112 a, uint112 b,) = IPool(pair).getReserves();"
        " return IPool(pair).token0() == address(this) ? a : b; }",
        crowd=10 if share < 90 else 4,
        entry_points=("sell", "transfer"),
        cause=(*_LATER, "external_call"),
    )


def pool_tokens(dice: random.Random) -> Condition:
    """The pool holds fewer tokens than at the start."""
    share = dice.choice([88, 94, 97])
    return Condition(
        key="balance_pool_tokens",
        axis="balance",
        lhs="_held[pair]",
        op="<",
        rhs=f"{_IN_POOL * share // 100} ether",
        crowd=10 if share < 90 else 4,
        entry_points=_SALES,
        cause=_LATER,
    )


def own_purse(dice: random.Random) -> Condition:
    """The token's own purse, filled by a fee of one percent on sales, is full."""
    limit = dice.choice([60, 150, 400])
    return Condition(
        key="balance_own_purse",
        axis="balance",
        lhs="_held[address(this)]",
        op=">",
        rhs=f"{limit} ether",
        on_sell="_put(from, address(this), v / 100); v -= v / 100;",
        entry_points=("sell",),
        cause=_LATER,
    )


def holds_much(dice: random.Random) -> Condition:
    """The seller holds more than a little."""
    limit = dice.choice([500, 3_000])
    return Condition(
        key="balance_seller",
        axis="balance",
        lhs="_held[who]",
        op=">",
        rhs=f"{limit} ether",
        entry_points=("sell", "transferFrom", "approve"),
        cause=_SIZED,
    )


MOVED: tuple[Maker, ...] = (
    second_buy,
    own_sales,
    all_sales,
    all_buys,
    buyers,
    last_buyer,
    pool_count,
    field_of_buys,
    volume,
    bought_little,
    bought_much,
    sold_share,
    sale_small,
    sale_of_rest,
    sale_band,
    bought_band,
    approved_all,
    price_up,
    reserves,
    pool_tokens,
    own_purse,
    holds_much,
)
