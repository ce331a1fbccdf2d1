"""The ground a pool's trades are played on, and the plays themselves. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.balance_slot import balance_override
from analysis.calldata import call_data
from analysis.discovery import Candidate
from analysis.stage import READ_GAS, Play, Scenery, SimBlock, SimCall, SimLog
from analysis.venues.swap import Moved, Swap, Way
from config.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount

_UNLIMITED = 2**256 - 1

Orders = Mapping[str, RawAmount]
"""Amounts to sell in one block, tried one after the other, by the words that name each try. A
refused one changes nothing for the next."""


class Ground(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a pool's plays need to know."""

    pin: BlockRef
    scenery: Scenery
    blocks: tuple[tuple[int, int], ...]
    """Number and time of the buy, the sale, and the patient sale."""
    candidate: Candidate
    quote_reserve_raw: RawAmount
    way: Way
    quote_slot_index: int | None
    """Index of the quote token's balance slot. None: the coin itself, or the wrapped coin, which is
    deposited."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found; a refused buy leaves the sale untried."""

    def trader(self, purpose: str) -> Address:
        """A fresh account of this pool, one a purpose."""
        return self.scenery.account(f"{self.candidate.key}:{purpose}")

    def moved(self, logs: tuple[SimLog, ...], *, is_buy: bool) -> Moved | None:
        """What the pool says of its last swap. None: it did not swap."""
        return self.way.read_moved(
            self.candidate, logs, token_in_is_0=self.candidate.token_is_0 != is_buy
        )

    @property
    def is_native(self) -> bool:
        """Whether the other side of the pool is the coin itself."""
        return self.candidate.quote == ZERO_ADDRESS


def buy_play(ground: Ground, amount_in: RawAmount) -> Play:
    """Buy once, then only watch the balance in the blocks in which a sale would be."""
    trader = ground.trader(f"buy {amount_in}")
    calls = (
        _buying(ground, trader, amount_in),
        (_balance(ground.candidate.token, trader, "balance at sale"),),
        (_balance(ground.candidate.token, trader, "balance later"),),
    )
    funds = _quote_funds(ground, trader, amount_in)
    return _play(ground, trader, calls, funds, coins=amount_in)


def sale_play(ground: Ground, amount_in: RawAmount, orders: Sequence[Orders]) -> Play:
    """Buy as `buy_play` did, from the same account, and sell in the later blocks.

    `orders`: for each of the two later blocks, what is tried one after the other.
    """
    trader = ground.trader(f"buy {amount_in}")
    calls = (_buying(ground, trader, amount_in), *_sellings(ground, trader, orders))
    funds = _quote_funds(ground, trader, amount_in)
    return _play(ground, trader, calls, funds, coins=amount_in)


def sending_play(ground: Ground, amount_in: RawAmount, amount: RawAmount) -> Play:
    """Buy as `buy_play` did, from the same account, and after the longest wait send a part on."""
    trader = ground.trader(f"buy {amount_in}")
    calls = (
        _buying(ground, trader, amount_in),
        (_balance(ground.candidate.token, trader, "balance at sale"),),
        _sending(ground, trader, amount),
    )
    funds = _quote_funds(ground, trader, amount_in)
    return _play(ground, trader, calls, funds, coins=amount_in)


def funded_sale_play(
    ground: Ground, amount: RawAmount, orders: Sequence[Orders], *, slot_index: int
) -> Play:
    """Sell, as in `sale_play`, from an account that was given the token on stage."""
    trader = ground.trader(f"funded {amount}")
    token = ground.candidate.token
    calls = ((_balance(token, trader, "balance given"),), *_sellings(ground, trader, orders))
    return _play(ground, trader, calls, {token: balance_override(trader, amount, index=slot_index)})


def _play(
    ground: Ground,
    trader: Address,
    calls: tuple[tuple[SimCall, ...], ...],
    storage: Mapping[Address, Mapping[Hash32, Hash32]],
    *,
    coins: int = 0,
) -> Play:
    blocks = tuple(
        SimBlock(number=number, time_s=time_s, calls=block_calls)
        for (number, time_s), block_calls in zip(ground.blocks, calls, strict=True)
    )
    # The wrapped coin is paid for with coins, so a trade in it needs them on top.
    purse = ground.scenery.purse(trader) + (coins if ground.quote_slot_index is None else 0)
    return Play(
        pin=ground.pin,
        scenery=ground.scenery,
        blocks=blocks,
        purses={trader: purse},
        storage=storage,
        code={ground.way.router: ground.way.code} if ground.way.code else {},
    )


def _quote_funds(
    ground: Ground, trader: Address, amount: RawAmount
) -> dict[Address, dict[Hash32, Hash32]]:
    if ground.quote_slot_index is None:
        return {}
    quote = ground.candidate.quote
    return {quote: balance_override(trader, amount, index=ground.quote_slot_index)}


def _buying(ground: Ground, trader: Address, amount_in: RawAmount) -> tuple[SimCall, ...]:
    quote, token = ground.candidate.quote, ground.candidate.token
    swap = _swap(ground, trader, token_in=quote, token_out=token, amount_in=amount_in)
    buy = _trade(ground, swap, "buy", value=amount_in if ground.is_native else 0)
    return (
        *(_expected(ground, swap, "router knows pool") if ground.way.must_quote else ()),
        *_paying(ground, trader, amount_in),
        _balance(token, trader, "balance before buy"),
        buy,
        _balance(token, trader, "balance after buy"),
    )


def _paying(ground: Ground, trader: Address, amount_in: RawAmount) -> tuple[SimCall, ...]:
    """The quote token in hand, and the router allowed to take it. Coins need neither."""
    quote = ground.candidate.quote
    if ground.is_native:
        return ()
    deposit = SimCall(
        label="deposit", sender=trader, to=quote, data=call_data("deposit()"), value=amount_in
    )
    return (
        *((deposit,) if ground.quote_slot_index is None else ()),
        _approve(quote, trader, ground.way.router, "approve quote"),
        _balance(quote, trader, "quote balance"),
    )


def _sellings(
    ground: Ground, trader: Address, orders: Sequence[Orders]
) -> Iterator[tuple[SimCall, ...]]:
    """The orders of each block, the router allowed to take the token before the first."""
    for block_orders in orders:
        yield tuple(
            call
            for at, (when, amount) in enumerate(block_orders.items())
            for call in _selling(ground, trader, amount, when, is_first=at == 0)
        )


def _selling(
    ground: Ground, trader: Address, amount: RawAmount, when: str, *, is_first: bool
) -> tuple[SimCall, ...]:
    quote, token = ground.candidate.quote, ground.candidate.token
    swap = _swap(ground, trader, token_in=token, token_out=quote, amount_in=amount)
    approval = _approve(token, trader, ground.way.router, f"approve {when}")
    return (
        _balance(token, trader, f"balance before sale {when}"),
        *_quote_balance(ground, trader, f"quote before sale {when}"),
        *((approval,) if is_first else ()),
        *_expected(ground, swap, f"expected {when}"),
        _trade(ground, swap, f"sell {when}"),
        _balance(token, trader, f"balance after sale {when}"),
        *_quote_balance(ground, trader, f"quote after sale {when}"),
    )


def _quote_balance(ground: Ground, trader: Address, label: str) -> tuple[SimCall, ...]:
    """Coins have no balance that a contract tells."""
    return () if ground.is_native else (_balance(ground.candidate.quote, trader, label),)


def _sending(ground: Ground, trader: Address, amount: RawAmount) -> tuple[SimCall, ...]:
    token, friend = ground.candidate.token, ground.trader("friend")
    return (
        _balance(token, trader, "sender before"),
        _balance(token, friend, "recipient before", asker=trader),
        SimCall(
            label="transfer",
            sender=trader,
            to=token,
            data=call_data("transfer(address,uint256)", friend, amount),
        ),
        _balance(token, trader, "sender after"),
        _balance(token, friend, "recipient after", asker=trader),
    )


def _swap(
    ground: Ground, trader: Address, *, token_in: Address, token_out: Address, amount_in: RawAmount
) -> Swap:
    return Swap(
        candidate=ground.candidate,
        router=ground.way.router,
        trader=trader,
        token_in=token_in,
        token_out=token_out,
        amount_in=amount_in,
    )


def _trade(ground: Ground, swap: Swap, label: str, *, value: int = 0) -> SimCall:
    data = ground.way.swap_data(swap)
    return SimCall(label=label, sender=swap.trader, to=swap.router, data=data, value=value)


def _expected(ground: Ground, swap: Swap, label: str) -> tuple[SimCall, ...]:
    """What the pool would pay, where its family can be asked."""
    if ground.way.quote_data is None:
        return ()
    data = ground.way.quote_data(swap)
    return (SimCall(label=label, sender=swap.trader, to=swap.router, data=data, gas=READ_GAS),)


def _approve(token: Address, owner: Address, spender: Address, label: str) -> SimCall:
    data = call_data("approve(address,uint256)", spender, _UNLIMITED)
    return SimCall(label=label, sender=owner, to=token, data=data)


def _balance(
    token: Address, owner: Address, label: str, *, asker: Address | None = None
) -> SimCall:
    """`asker` None: the owner itself, who then needs coins for gas."""
    data = call_data("balanceOf(address)", owner)
    return SimCall(label=label, sender=asker or owner, to=token, data=data, gas=READ_GAS)
