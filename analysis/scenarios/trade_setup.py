"""Trade setup: pool, accounts and blocks of simulated trades, and the simulations built on them.

Builds calls and the state overrides that fund their accounts. Sends no request.
"""

from collections.abc import Iterator, Mapping, Sequence

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved, Swap, TradeRoute
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
from core.abi import call_data
from core.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, RawAmount

UNLIMITED = 2**256 - 1
_WALLET_GAS = RawAmount(800_000)
_LITTLE_GAS = RawAmount(300_000)
"""Gas of a plain swap, with a wallet's margin."""


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to sell. A reverted one does not change the next."""

    when: str
    """Name of the attempt within its simulation."""
    amount: RawAmount
    gas: int | None = None
    """None: plenty, as many wallets send."""


class TradeSetup(msgspec.Struct, frozen=True, kw_only=True):
    """Pool, accounts, blocks and trade route that the simulations of one pool share."""

    pin: BlockRef
    disguise: Disguise
    blocks: tuple[tuple[int, int], ...]
    """Number and time of the buy, the approval, the sale, and the patient sale."""
    candidate: Candidate
    quote_reserve_raw: RawAmount
    way: TradeRoute
    quote_slot_index: int | None
    """Index of the quote token's balance slot. None: the quote is the native coin, or the wrapped
    coin, which is deposited."""
    token_slot_index: int | None
    """Index of the token's balance slot. None: not found; the sale is then not simulated where the
    buy reverts."""
    in_coin: bool = False
    """True if trades pay and receive the native coin in a pool of the wrapped coin."""
    permit2_way: TradeRoute | None = None
    """Route through Permit2 and the universal router. None: not deployed, or not needed."""

    def with_coin(self, *, is_wanted: bool = True) -> "TradeSetup":
        """Return the setup, traded in the native coin if `is_wanted` and the router can do so."""
        in_coin = is_wanted and self.way.coin_buy_data is not None
        return msgspec.structs.replace(self, in_coin=in_coin)

    def trader(self, purpose: str) -> Address:
        """Return a fresh account of this pool, one for each purpose."""
        return self.disguise.account(f"{self.candidate.key}:{purpose}")

    def buyer(self, amount_in: RawAmount) -> Address:
        """Return the account that pays in this amount in all simulations of this pool."""
        return self.trader(f"buy {amount_in}")

    def moved(self, logs: tuple[SimLog, ...], *, is_buy: bool) -> Moved | None:
        """Return the amounts of the pool's last swap, from its own event. None: it did not swap."""
        return self.way.read_moved(
            self.candidate, logs, token_in_is_0=self.candidate.token_is_0 != is_buy
        )

    @property
    def is_native(self) -> bool:
        """True if the quote of the pool is the native coin itself."""
        return self.candidate.quote == ZERO_ADDRESS

    @property
    def pays_coins(self) -> bool:
        """True if a buy is paid, and a sale received, in the native coin."""
        return self.is_native or self.in_coin


def buy_play(
    ground: TradeSetup,
    amount_in: RawAmount,
    *,
    gas: int | None = None,
    approves: bool = False,
    trader: Address | None = None,
) -> Simulation:
    """Return a simulation that buys once and then reads the balance in the blocks where a sale
    would be.

    `approves`: the sale is approved as well, so that the gas it takes is known. `trader` None: the
    buyer of that amount.
    """
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
    """Return a simulation that buys as `buy_play` from the same account, approves in the next
    block, and sells in the two blocks after that.

    `orders`: for each of these two blocks, the attempts in order. `allowed`: the router's allowance
    for the first of them; for the second it is unlimited.
    """
    trader = ground.buyer(amount_in)
    calls = (
        buy_calls(ground, trader, amount_in, gas=gas),
        *_approved_sales(ground, trader, orders, allowed, gas=approval_gas),
    )
    return staged(ground, in_blocks(ground.blocks, calls), payers={trader: amount_in})


def sending_play(ground: TradeSetup, amount_in: RawAmount, amount: RawAmount) -> Simulation:
    """Return a simulation that buys as `buy_play` from the same account, and transfers `amount`
    after the longest wait."""
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
    """Return a simulation that sells as `sale_play`, from an account funded by state override."""
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
    """Yield the calls of three blocks: the approval alone, as wallets do it, and then the sales."""
    at_sale, later = orders
    yield approval_calls(ground, trader, "at sale", allowed, gas=gas)
    sales = [call for order in at_sale for call in sale_calls(ground, trader, order)]
    yield (*sales, *approval_calls(ground, trader, "later", UNLIMITED, gas=gas))
    yield tuple(call for order in later for call in sale_calls(ground, trader, order))


def in_blocks(
    blocks: Sequence[tuple[int, int]], calls: Sequence[tuple[SimCall, ...]]
) -> tuple[SimBlock, ...]:
    """Return one simulated block for each number and time, with its calls."""
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
    """Return the simulation of these blocks, with the state overrides that its accounts need.

    `payers`: amount that each pays in; `others` need coins for gas only; `given`: further slots by
    contract.
    """
    purses = {other: ground.disguise.purse(other) for other in others}
    storage = {contract: dict(slots) for contract, slots in (given or {}).items()}
    for payer, amount_in in (payers or {}).items():
        # The wrapped coin is bought with coins, so a trade in it needs that amount on top.
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
    """Return the slots that give the trader the quote token. Empty: coins pay for it."""
    if ground.quote_slot_index is None:
        return {}
    quote = ground.candidate.quote
    return {quote: balance_override(trader, amount, index=ground.quote_slot_index)}


def buy_calls(
    ground: TradeSetup, trader: Address, amount_in: RawAmount, *, gas: int | None = None
) -> tuple[SimCall, ...]:
    """Return the calls that obtain the quote token and buy with it. `gas` None: plenty, as many
    wallets send."""
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
    """Return the calls that obtain the quote token and approve the router. Empty for the native
    coin."""
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
    """Return one attempt to sell, with the reads that its tax is computed from."""
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
    """Return the router's approval, after a balance read that shows whether the approval itself
    takes tokens. `gas` None: CALL_GAS."""
    token = ground.candidate.token
    return (
        balance_call(token, trader, f"balance before approval {when}"),
        _approve(token, trader, ground.way.router, f"approve {when}", amount, gas=gas),
    )


def wallet_gas(ground: TradeSetup) -> int:
    """Return about the gas that careful wallets send: a token may behave better if given more."""
    return ground.disguise.about(_WALLET_GAS, f"{ground.candidate.key}:gas")


def little_gas(ground: TradeSetup) -> int:
    """Return about the gas that wallets send that estimate a plain trade."""
    return ground.disguise.about(_LITTLE_GAS, f"{ground.candidate.key}:little gas")


def _quote_balance(ground: TradeSetup, trader: Address, label: str) -> tuple[SimCall, ...]:
    """Return a read of the trader's quote balance. Empty for the native coin: it has no
    balanceOf."""
    return () if ground.pays_coins else (balance_call(ground.candidate.quote, trader, label),)


def sending_calls(
    ground: TradeSetup, trader: Address, amount: RawAmount, *, friend: Address | None = None
) -> tuple[SimCall, ...]:
    """Return a transfer to a friend, with both balances read before and after. `friend` None: a new
    account."""
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
    """Return a read of the pool's quoted output. Empty where the venue has no quote call."""
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
    """Return a balance read. `asker` None: the owner itself, which then needs coins for gas."""
    data = call_data("balanceOf(address)", owner)
    return SimCall(label=label, sender=asker or owner, to=token, data=data, gas=READ_GAS)
