"""Trades that are paid for, or paid out, in the chain's coin within one transaction.

A router of this kind wraps what a buyer sends along, and unwraps what a seller gets. It holds the
wrapped coin's address in its code, so one that does not has another wrapped coin, or none.
Source: v2-periphery UniswapV2Router02, v3-periphery PeripheryPayments and Multicall,
swap-router-contracts SwapRouter02, Algebra's PeripheryPayments, Solidly's and Velodrome's Router,
Trader Joe's and Pangolin's Router.
"""

from collections.abc import Callable, Sequence

import msgspec

from analysis.market.venues.trade_route import CoinForm, RouterFunction, Swap
from analysis.reads.abi_encoding import call_data, selector_of, topic_of
from analysis.simulation.simulate_v1 import SimLog
from config.primitives import ZERO_ADDRESS, Address, RawAmount

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
    """Of routers of pairs. The types stand between the brackets of the functions."""
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
    """Of routers of concentrated pools: the same order, paid along; a seller lets the router have
    what comes out, and has it unwrapped in the same transaction."""

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
    """The forms this router speaks, in the order given. None where it has another wrapped coin."""
    if bytes.fromhex(wrapped[2:]) not in code:
        return ()
    return tuple(form for form in forms if all(part in code for part in form.selector_bytes))


def read_unwrapped(
    logs: Sequence[SimLog], *, wrapped: Address, router: Address
) -> RawAmount | None:
    """Coins that the router paid out at last: what a seller for coins received, in wei.

    The last counts: a token that sells its collected tax during a transfer does so before. Some
    wrapped coins burn without an event of their own, as their own transfer to nobody. None: the
    router unwrapped nothing, or the node told no events.
    """
    sender = "0x" + router[2:].rjust(64, "0")
    nobody = "0x" + ZERO_ADDRESS[2:].rjust(64, "0")
    for log in reversed(logs):
        if log.address != wrapped:
            continue
        if log.topics in ((_WITHDRAWAL, sender), (_TRANSFER, sender, nobody)):
            return RawAmount(int(log.data[2:66], 16))
    return None
