"""Router functions that trade for the native coin within one transaction.

A router of this kind wraps what a buyer sends along, and unwraps what a seller gets. Its code
contains the wrapped coin's address; a router without it has another wrapped coin, or none. Source:
v2-periphery UniswapV2Router02, v3-periphery PeripheryPayments and Multicall, swap-router-contracts
SwapRouter02, Algebra's PeripheryPayments, Solidly's and Velodrome's Router, Trader Joe's and
Pangolin's Router.
"""

from collections.abc import Callable, Sequence

import msgspec

from analysis.market.venues.trade_route import CoinForm, RouterFunction, Swap
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import address_word, call_data, selector_of, topic_of
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

_COIN_NAMES = ("ETH", "AVAX", "BNB")
"""Forks name the functions after their chain's coin."""

_TAXED = "SupportingFeeOnTransferTokens"
_MULTICALL = "multicall(bytes[])"
_UNWRAPS = ("unwrapWETH9(uint256,address)", "unwrapWNativeToken(uint256,address)")

_WITHDRAWAL = topic_of("Withdrawal(address,uint256)")
_TRANSFER = topic_of("Transfer(address,address,uint256)")

Arguments = Callable[[Swap], tuple[object, ...]]


def pair_forms(
    buy_types: str, buy: Arguments, sell_types: str, sell: Arguments
) -> tuple[CoinForm, ...]:
    """Return the forms of routers of pairs. `buy_types` and `sell_types` are the functions'
    parameter types."""
    return tuple(
        CoinForm(
            selectors=(selector_of(bought.signature), selector_of(sold.signature)),
            buy_data=bought.data,
            sell_data=sold.data,
        )
        for bought, sold in (
            (
                RouterFunction(
                    signature=f"swapExact{name}ForTokens{_TAXED}({buy_types})", arguments=buy
                ),
                RouterFunction(
                    signature=f"swapExactTokensFor{name}{_TAXED}({sell_types})", arguments=sell
                ),
            )
            for name in _COIN_NAMES
        )
    )


def pool_forms(single: RouterFunction) -> tuple[CoinForm, ...]:
    """Return the forms of routers of concentrated pools.

    A buyer sends the same order with value. A seller names the router as recipient and has it
    unwrap the proceeds in the same transaction.
    """

    def of(unwrap: str) -> CoinForm:
        def sell_data(swap: Swap) -> str:
            order = single.data(msgspec.structs.replace(swap, receiver=swap.router))
            parts = (order, call_data(unwrap, 0, swap.trader))
            return call_data(_MULTICALL, [bytes.fromhex(part[2:]) for part in parts])

        return CoinForm(
            selectors=(
                selector_of(single.signature),
                selector_of(_MULTICALL),
                selector_of(unwrap),
            ),
            buy_data=single.data,
            sell_data=sell_data,
        )

    return tuple(of(unwrap) for unwrap in _UNWRAPS)


def find_coin_forms(
    code: bytes, forms: Sequence[CoinForm], *, wrapped: Address
) -> tuple[CoinForm, ...]:
    """Return the forms whose functions the router's code has, in the order given. Empty where it
    has another wrapped coin."""
    if bytes.fromhex(wrapped[2:]) not in code:
        return ()
    return tuple(form for form in forms if all(part in code for part in form.selector_bytes))


def read_unwrapped(
    logs: Sequence[SimLog], *, wrapped: Address, router: Address
) -> RawAmount | None:
    """Return the wei that the router unwrapped last, which a seller for the native coin received.

    The last event counts: a token that sells its collected tax during a transfer does so before.
    Some wrapped coins emit no burn event, only a transfer to the zero address. None:
    the router unwrapped nothing, or the node returned no events.
    """
    sender = address_word(router)
    nobody = address_word(ZERO_ADDRESS)
    for log in reversed(logs):
        if log.address != wrapped:
            continue
        if log.topics in ((_WITHDRAWAL, sender), (_TRANSFER, sender, nobody)):
            return RawAmount(int(log.data[2:66], 16))
    return None
