"""The ground a pool's trades are played on, and the plays themselves. Pure."""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved, Swap, TradeRoute
from analysis.reads.abi_encoding import call_data
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.disguise import Disguise
from analysis.simulation.simulate_v1 import (
    CALL_GAS,
    READ_GAS,
    SimBlock,
    SimCall,
    SimLog,
    Simulation,
)
from config.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount

UNLIMITED = 2**256 - 1
_WALLET_GAS = RawAmount(800_000)
_LITTLE_GAS = RawAmount(300_000)
"""What a plain swap takes, with a wallet's margin."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One try to sell. A refused one changes nothing for the next."""

    when: str
    """Names the try within its play."""
    amount: RawAmount
    gas: int | None = None
    """None: plenty, as many wallets send."""


class TradeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Everything a pool's plays need to know."""

    pin: BlockRef
    disguise: Disguise
    blocks: tuple[tuple[int, int], ...]
    """Number and time of the buy, the approval, the sale, and the patient sale."""
    candidate: Candidate
    quote_reserve_raw: RawAmount
    way: TradeRoute
    quote_slot_index: int | None
    """Index of the quote token's balance slot. None: the coin itself, or the wrapped coin, which is
    deposited."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found; a refused buy leaves the sale untried."""
    in_coin: bool = False
    """Trades pay and receive the chain's coin in a pool of the wrapped coin."""
    permit2_way: TradeRoute | None = None
    """Through Permit2 and the universal router. None: not there, or the token need not be tried."""

    def with_coin(self, *, is_wanted: bool = True) -> "TradeSetup":
        """The same, traded in the chain's coin where the router can, or not so."""
        in_coin = is_wanted and self.way.coin_buy_data is not None
        return msgspec.structs.replace(self, in_coin=in_coin)

    def trader(self, purpose: str) -> Address:
        """A fresh account of this pool, one a purpose."""
        return self.disguise.account(f"{self.candidate.key}:{purpose}")

    def buyer(self, amount_in: RawAmount) -> Address:
        """Who pays in so much, in all plays of this pool."""
        return self.trader(f"buy {amount_in}")

    def moved(self, logs: tuple[SimLog, ...], *, is_buy: bool) -> Moved | None:
        """What the pool says of its last swap. None: it did not swap."""
        return self.way.read_moved(
            self.candidate, logs, token_in_is_0=self.candidate.token_is_0 != is_buy
        )

    @property
    def is_native(self) -> bool:
        """Whether the other side of the pool is the coin itself."""
        return self.candidate.quote == ZERO_ADDRESS

    @property
    def pays_coins(self) -> bool:
        """Whether coins go along with a buy and come out of a sale."""
        return self.is_native or self.in_coin


def buy_play(
    ground: TradeSetup,
    amount_in: RawAmount,
    *,
    gas: int | None = None,
    approves: bool = False,
    trader: Address | None = None,
) -> Simulation:
    """Buy once, then only watch the balance in the blocks in which a sale would be. `approves`: the
    sale is approved as well, which tells how much gas that takes. `trader` None: whoever buys for
    so much."""
    trader, token = trader or ground.buyer(amount_in), ground.candidate.token
    approval = approval_calls(ground, trader, "at sale", UNLIMITED) if approves else ()
    calls = (
        buy_calls(ground, trader, amount_in, gas=gas),
        approval or (balance_call(token, trader, "balance at approval"),),
        (balance_call(token, trader, "balance at sale"),),
        (balance_call(token, trader, "balance later"),),
    )
    return staged(ground, in_blocks(ground.blocks, calls), payers={trader: amount_in})


def sale_play(
    ground: TradeSetup,
    amount_in: RawAmount,
    orders: tuple[Sequence[Order], Sequence[Order]],
    *,
    gas: int | None = None,
    approval_gas: int | None = None,
    allowed: int,
) -> Simulation:
    """Buy as `buy_play` did, from the same account, approve a block later, and sell in the two
    blocks after that.

    `orders`: for each of these, what is tried one after the other. `allowed`: what the router may
    take for the first of them; for the second it is unlimited.
    """
    trader = ground.buyer(amount_in)
    calls = (
        buy_calls(ground, trader, amount_in, gas=gas),
        *_approved_sales(ground, trader, orders, allowed, gas=approval_gas),
    )
    return staged(ground, in_blocks(ground.blocks, calls), payers={trader: amount_in})


def sending_play(ground: TradeSetup, amount_in: RawAmount, amount: RawAmount) -> Simulation:
    """Buy as `buy_play` did, from the same account, and after the longest wait send a part on."""
    trader, token = ground.buyer(amount_in), ground.candidate.token
    calls = (
        buy_calls(ground, trader, amount_in),
        (balance_call(token, trader, "balance at approval"),),
        (balance_call(token, trader, "balance at sale"),),
        sending_calls(ground, trader, amount),
    )
    return staged(ground, in_blocks(ground.blocks, calls), payers={trader: amount_in})


def funded_sale_play(
    ground: TradeSetup,
    amount: RawAmount,
    orders: tuple[Sequence[Order], Sequence[Order]],
    *,
    slot_index: int,
) -> Simulation:
    """Sell, as in `sale_play`, from an account that was given the token on stage."""
    trader = ground.trader(f"funded {amount}")
    token = ground.candidate.token
    calls = (
        (balance_call(token, trader, "balance given"),),
        *_approved_sales(ground, trader, orders, amount),
    )
    given = {token: balance_override(trader, amount, index=slot_index)}
    return staged(ground, in_blocks(ground.blocks, calls), others=(trader,), given=given)


def _approved_sales(
    ground: TradeSetup,
    trader: Address,
    orders: tuple[Sequence[Order], Sequence[Order]],
    allowed: int,
    *,
    gas: int | None = None,
) -> Iterator[tuple[SimCall, ...]]:
    """The approval in a block of its own, as wallets do it, and the sales in the blocks after."""
    at_sale, later = orders
    yield approval_calls(ground, trader, "at sale", allowed, gas=gas)
    sales = [call for order in at_sale for call in sale_calls(ground, trader, order)]
    yield (*sales, *approval_calls(ground, trader, "later", UNLIMITED, gas=gas))
    yield tuple(call for order in later for call in sale_calls(ground, trader, order))


def in_blocks(
    blocks: Sequence[tuple[int, int]], calls: Sequence[tuple[SimCall, ...]]
) -> tuple[SimBlock, ...]:
    """Each block's number and time with its calls."""
    return tuple(
        SimBlock(number=number, time_s=time_s, calls=block_calls)
        for (number, time_s), block_calls in zip(blocks, calls, strict=True)
    )


def staged(
    ground: TradeSetup,
    blocks: tuple[SimBlock, ...],
    *,
    payers: Mapping[Address, RawAmount] | None = None,
    others: Sequence[Address] = (),
    given: Mapping[Address, Mapping[Hash32, Hash32]] | None = None,
) -> Simulation:
    """The play, with what its accounts need in hand.

    `payers`: what each pays in; `others` only need coins for gas; `given`: slots beside these.
    """
    purses = {other: ground.disguise.purse(other) for other in others}
    storage = {contract: dict(slots) for contract, slots in (given or {}).items()}
    for payer, amount_in in (payers or {}).items():
        # The wrapped coin is paid for with coins, so a trade in it needs them on top.
        coins = amount_in if ground.quote_slot_index is None else 0
        purses[payer] = ground.disguise.purse(payer) + coins
        for contract, slots in _quote_funds(ground, payer, amount_in).items():
            storage.setdefault(contract, {}).update(slots)
    return Simulation(
        pin=ground.pin,
        disguise=ground.disguise,
        blocks=blocks,
        purses=purses,
        storage=storage,
        code={ground.way.router: ground.way.code} if ground.way.code else {},
        nonces={payer: ground.disguise.nonce(payer) for payer in payers or {}},
        is_validated=ground.disguise.is_validated,
    )


def _quote_funds(
    ground: TradeSetup, trader: Address, amount: RawAmount
) -> dict[Address, dict[Hash32, Hash32]]:
    """Slots that give the trader the quote token. Empty: it is paid for with coins."""
    if ground.quote_slot_index is None:
        return {}
    quote = ground.candidate.quote
    return {quote: balance_override(trader, amount, index=ground.quote_slot_index)}


def buy_calls(
    ground: TradeSetup, trader: Address, amount_in: RawAmount, *, gas: int | None = None
) -> tuple[SimCall, ...]:
    """The quote token in hand, and a buy with it. `gas` None: plenty, as many wallets send."""
    quote, token = ground.candidate.quote, ground.candidate.token
    swap = _swap(ground, trader, token_in=quote, token_out=token, amount_in=amount_in)
    value = amount_in if ground.pays_coins else 0
    buy = _trade(ground, swap, "buy", value=value, gas=gas or wallet_gas(ground))
    return (
        *(_expected(ground, swap, "router knows pool") if ground.way.must_quote else ()),
        *_paying(ground, trader, amount_in),
        balance_call(token, trader, "balance before buy"),
        buy,
        balance_call(token, trader, "balance after buy"),
    )


def _paying(ground: TradeSetup, trader: Address, amount_in: RawAmount) -> tuple[SimCall, ...]:
    """The quote token in hand, and the router allowed to take it. Coins need neither."""
    quote = ground.candidate.quote
    if ground.pays_coins:
        return ()
    deposit = SimCall(
        label="deposit", sender=trader, to=quote, data=call_data("deposit()"), value=amount_in
    )
    return (
        *((deposit,) if ground.quote_slot_index is None else ()),
        _approve(quote, trader, ground.way.router, "approve quote"),
        balance_call(quote, trader, "quote balance"),
    )


def sale_calls(ground: TradeSetup, trader: Address, order: Order) -> tuple[SimCall, ...]:
    """One try to sell what the router may take already, with what its tax is told by."""
    quote, token, when = ground.candidate.quote, ground.candidate.token, order.when
    swap = _swap(ground, trader, token_in=token, token_out=quote, amount_in=order.amount)
    return (
        balance_call(token, trader, f"balance before sale {when}"),
        *_quote_balance(ground, trader, f"quote before sale {when}"),
        *_expected(ground, swap, f"expected {when}"),
        _trade(ground, swap, f"sell {when}", gas=order.gas or wallet_gas(ground)),
        balance_call(token, trader, f"balance after sale {when}"),
        *_quote_balance(ground, trader, f"quote after sale {when}"),
    )


def approval_calls(
    ground: TradeSetup, trader: Address, when: str, amount: int, *, gas: int | None = None
) -> tuple[SimCall, ...]:
    """The router may take so much of the token; the balance before it tells what that costs. `gas`
    None: as much as it may want."""
    token = ground.candidate.token
    return (
        balance_call(token, trader, f"balance before approval {when}"),
        _approve(token, trader, ground.way.router, f"approve {when}", amount, gas=gas),
    )


def wallet_gas(ground: TradeSetup) -> int:
    """About what careful wallets send a trade with: a token may be kind to those that bring
    more."""
    return ground.disguise.about(_WALLET_GAS, f"{ground.candidate.key}:gas")


def little_gas(ground: TradeSetup) -> int:
    """About what wallets send that estimate a plain trade."""
    return ground.disguise.about(_LITTLE_GAS, f"{ground.candidate.key}:little gas")


def _quote_balance(ground: TradeSetup, trader: Address, label: str) -> tuple[SimCall, ...]:
    """Coins have no balance that a contract tells."""
    return () if ground.pays_coins else (balance_call(ground.candidate.quote, trader, label),)


def sending_calls(
    ground: TradeSetup, trader: Address, amount: RawAmount, *, friend: Address | None = None
) -> tuple[SimCall, ...]:
    """A transfer to a friend, both balances read before and after. `friend` None: a new account."""
    token, friend = ground.candidate.token, friend or ground.trader("friend")
    return (
        balance_call(token, trader, "sender before"),
        balance_call(token, friend, "recipient before", asker=trader),
        SimCall(
            label="transfer",
            sender=trader,
            to=token,
            data=call_data("transfer(address,uint256)", friend, amount),
        ),
        balance_call(token, trader, "sender after"),
        balance_call(token, friend, "recipient after", asker=trader),
    )


def _swap(
    ground: TradeSetup,
    trader: Address,
    *,
    token_in: Address,
    token_out: Address,
    amount_in: RawAmount,
) -> Swap:
    return Swap(
        candidate=ground.candidate,
        router=ground.way.router,
        trader=trader,
        token_in=token_in,
        token_out=token_out,
        amount_in=amount_in,
    )


def _trade(
    ground: TradeSetup, swap: Swap, label: str, *, value: int = 0, gas: int = CALL_GAS
) -> SimCall:
    way = ground.way
    data_of = way.coin_sell_data if swap.is_sale else way.coin_buy_data
    data = way.swap_data(swap) if not ground.in_coin or data_of is None else data_of(swap)
    return SimCall(
        label=label,
        sender=swap.trader,
        to=swap.router,
        data=data,
        value=value,
        gas=gas,
        is_trade=True,
    )


def _expected(ground: TradeSetup, swap: Swap, label: str) -> tuple[SimCall, ...]:
    """What the pool would pay, where its family can be asked."""
    if ground.way.quote_data is None:
        return ()
    data = ground.way.quote_data(swap)
    return (SimCall(label=label, sender=swap.trader, to=swap.router, data=data, gas=READ_GAS),)


def _approve(
    token: Address,
    owner: Address,
    spender: Address,
    label: str,
    amount: int = UNLIMITED,
    *,
    gas: int | None = None,
) -> SimCall:
    data = call_data("approve(address,uint256)", spender, amount)
    return SimCall(
        label=label, sender=owner, to=token, data=data, gas=gas or CALL_GAS, is_trade=True
    )


def balance_call(
    token: Address, owner: Address, label: str, *, asker: Address | None = None
) -> SimCall:
    """`asker` None: the owner itself, who then needs coins for gas."""
    data = call_data("balanceOf(address)", owner)
    return SimCall(label=label, sender=asker or owner, to=token, data=data, gas=READ_GAS)
