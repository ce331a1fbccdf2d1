"""Opening: simulated trades of a token without a pool, in a pair that the simulation creates.

The token's issuer creates the pair and puts tokens and coins in; an account calls a function that
may open trading, before and after that; then a fresh account buys, sells in the next block, and
sells more a day later. Where the call itself creates the pair, nothing else does. None of it is
liquidity of the token, and a pass proves nothing about a real pool. Sends no request.
"""

from typing import Final

import msgspec

from analysis.scenarios.trade.account_calls import account_calls
from analysis.scenarios.trade.token_calls import UNLIMITED
from analysis.scenarios.trade.trade_outcome import read_buy, read_sale
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import (
    BuySteps,
    Order,
    SaleSteps,
    write_approval,
    write_buy,
    write_sale,
)
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    CallHandle,
    NotSimulated,
    Outcome,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.abi import call_data
from core.evm.primitives import Address, RawAmount, Selector

WAITS_S: Final = (0, 0, 0, 0, 86_400)
"""Seconds to wait before the second call, the buy, the approval, the sale, and the later one."""

_BOUGHT_SHARE: Final = 100
"""Divisor of the coins in the pair: size of the buy."""
_SOLD_PARTS: Final = (4, 8)
"""Divisors of the amount that a buy without tax brings: sizes of the two sales."""

_FEE_PARTS: Final = (997, 1000)
"""Share of the input that a pair trades. Source: Uniswap v2-core UniswapV2Pair."""


class OpeningCall(msgspec.Struct, frozen=True, kw_only=True):
    """A call that may open trading."""

    selector: Selector
    sender: Address
    data: str
    makes_pool: bool = False
    """True: it is tried without a pair, which it may create itself."""


class NewPool(msgspec.Struct, frozen=True, kw_only=True):
    """The pair that the simulation creates."""

    maker: Address
    """Account that creates it: the token's owner or creator where one is known."""
    token_raw: RawAmount
    quote_raw: RawAmount
    """Wrapped coins."""
    is_made: bool
    """True: the pair exists already, and is empty."""


class OpeningSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of an opening and the trades after it."""

    simulation: Simulation
    setup: TradeSetup
    call: OpeningCall | None
    calls: tuple[CallHandle, ...]
    """The attempts of the call."""
    reserves: CallHandle
    buy: BuySteps
    sales: tuple[SaleSteps, SaleSteps]
    """In the block after the approval, and a day later."""


class OpeningOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Trades after one opening."""

    call: OpeningCall | None
    """None: no call was made."""
    has_called: bool
    """True: an attempt of the call passed."""
    has_pool: bool
    """True: the pair had liquidity."""
    buy: Outcome
    sale: Outcome
    later_sale: Outcome
    """The sale a day later."""


def write_opening(
    setup: TradeSetup,
    pool: NewPool,
    call: OpeningCall | None,
    blocks: tuple[tuple[int, int], ...],
    *,
    slot_index: int | None,
) -> OpeningSimulation:
    """Return the simulation. `blocks`: number and time, one more than WAITS_S has entries.
    `slot_index`: of the token's balance slot; None: the maker already has some."""
    builder, token = SimulationBuilder(blocks), setup.candidate.token
    tried = [] if call is None else [_write_call(builder[0], token, call)]
    makes_pool = call is not None and call.makes_pool
    if not makes_pool:
        _write_pool(account_calls(builder[0], "maker"), setup, pool)
    if call is not None and not makes_pool:
        tried.append(_write_call(builder[1], token, call))
    reserves = builder[1].add(
        SimCall(
            label="reserves",
            sender=pool.maker,
            to=setup.candidate.pool,
            data=call_data("getReserves()"),
            gas=READ_GAS,
        )
    )
    amount_in = RawAmount(pool.quote_raw // _BOUGHT_SHARE)
    buyer = setup.trader("opening buyer")
    buy = write_buy(builder[2], setup, buyer, amount_in)
    approval = write_approval(builder[3], setup, buyer, "at sale", UNLIMITED)
    expected = _expected(pool, amount_in)
    first, second = (RawAmount(max(1, expected // part)) for part in _SOLD_PARTS)
    sale = write_sale(
        builder[4], setup, buyer, Order(label="at sale", amount=first), approval=approval
    )
    later = write_sale(builder[5], setup, buyer, Order(label="a day later", amount=second))
    given = None
    if slot_index is not None and not makes_pool:
        given = {token: balance_override(pool.maker, pool.token_raw, index=slot_index)}
    simulation = build_simulation(
        setup,
        builder.blocks(),
        payers={buyer: amount_in, pool.maker: pool.quote_raw},
        others=[] if call is None else [call.sender],
        given=given,
    )
    if makes_pool:
        purses = {**simulation.purses, token: int(pool.quote_raw)}
        simulation = msgspec.structs.replace(simulation, purses=purses)
    return OpeningSimulation(
        simulation=simulation,
        setup=setup,
        call=call,
        calls=tuple(tried),
        reserves=reserves,
        buy=buy,
        sales=(sale, later),
    )


def read_opening(
    written: OpeningSimulation, result: SimulationResult | NotSimulated
) -> OpeningOutcome:
    """Return the outcome."""
    if isinstance(result, NotSimulated):
        return OpeningOutcome(
            call=written.call,
            has_called=False,
            has_pool=False,
            buy=result,
            sale=result,
            later_sale=result,
        )
    sale, later = (read_sale(written.setup, result, steps) for steps in written.sales)
    has_pool = bool(result.word(written.reserves))
    missing = NotSimulated(missing="POOL", reason="no pair could be created")
    return OpeningOutcome(
        call=written.call,
        has_called=any(result[handle].ok for handle in written.calls),
        has_pool=has_pool,
        buy=read_buy(written.setup, result, written.buy) if has_pool else missing,
        sale=sale if has_pool else missing,
        later_sale=later if has_pool else missing,
    )


def _write_call(calls: CallWriter, token: Address, call: OpeningCall) -> CallHandle:
    return calls.add(
        SimCall(
            label=f"call {call.selector}",
            sender=call.sender,
            to=token,
            data=call.data,
            is_trade=True,
        )
    )


def _write_pool(calls: CallWriter, setup: TradeSetup, pool: NewPool) -> None:
    candidate, maker = setup.candidate, pool.maker
    quote, pair, transfer = candidate.quote, candidate.pool, "transfer(address,uint256)"
    steps: list[tuple[Address, str, int]] = [(quote, call_data("deposit()"), pool.quote_raw)]
    if not pool.is_made:
        made = call_data("createPair(address,address)", candidate.token, quote)
        steps.append((candidate.dex.factory, made, 0))
    steps += [
        (candidate.token, call_data(transfer, pair, pool.token_raw), 0),
        (quote, call_data(transfer, pair, pool.quote_raw), 0),
        (pair, call_data("mint(address)", maker), 0),
    ]
    for to, data, value in steps:
        calls.add(SimCall(label="pool", sender=maker, to=to, data=data, value=value, is_trade=True))


def _expected(pool: NewPool, amount_in: RawAmount) -> int:
    """Return the tokens that a buy without tax brings."""
    part, whole = _FEE_PARTS
    paid = amount_in * part
    return paid * pool.token_raw // (pool.quote_raw * whole + paid)
