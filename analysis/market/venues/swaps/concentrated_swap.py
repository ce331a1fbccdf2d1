"""Swaps in concentrated pools: calldata for the pools themselves, and amounts from Swap events.

Source: v3-core UniswapV3Pool, pancake-v3-contracts, Algebra v1.9 and Integral core AlgebraPool, the
interface of Solidly V3's pools.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import (
    HIGHEST_SQRT_PRICE,
    LOWEST_SQRT_PRICE,
    Moved,
    Swap,
    TradeRoute,
    signed,
)
from analysis.simulation.simulate_v1 import SimLog
from config.facts.pool_family import swap_topics
from core.evm.abi import call_data
from core.evm.primitives import RawAmount

_SWAPS = swap_topics(is_by_side=False)
_AMOUNTS_BYTES = 64
_POOL_SWAP = "swap(address,bool,int256,uint160,bytes)"
_DIRECT_SWAP = "swap(address,bool,int256,uint160)"


def pool_call(swap: Swap, *, sale_function: str | None) -> str:
    """Return calldata for the pool itself. It calls its caller back for the payment.

    `sale_function` is the pool's function that sells the amount that arrives; only sales use it, as
    a buyer's payment has no tax. None: it has none.
    """
    if swap.is_sale and sale_function is not None:
        return call_data(sale_function, swap.trader, *_order(swap))
    return reach_call(swap)


def reach_call(swap: Swap) -> str:
    """Return calldata for the pool itself that requests the payment after the amounts are known,
    which not every `pool_call` does."""
    return call_data(_POOL_SWAP, *_order(swap))


def direct_way(candidate: Candidate) -> TradeRoute:
    """Return the route by which wallets call the pool itself, which pulls by their allowance."""
    return TradeRoute(
        router=candidate.pool,
        swap_data=lambda swap: call_data(_DIRECT_SWAP, *_terms(swap)),
        read_moved=read_moved,
        books_orders=True,
    )


def _order(swap: Swap) -> tuple[object, ...]:
    return *_terms(swap), b""


def _terms(swap: Swap) -> tuple[object, ...]:
    limit = LOWEST_SQRT_PRICE if swap.upwards else HIGHEST_SQRT_PRICE
    return swap.to, swap.upwards, swap.amount_in, limit


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Return the amounts of the pool's last swap. None: the pool did not swap.

    The event's amounts are signed from the pool's side: positive was received.
    """
    for log in reversed(logs):
        if log.address != candidate.pool or not log.topics or log.topics[0] not in _SWAPS:
            continue
        data = bytes.fromhex(log.data[2:])
        if len(data) < _AMOUNTS_BYTES:
            continue
        amount_0, amount_1 = signed(data[:32]), signed(data[32:64])
        received, sent = (amount_0, -amount_1) if token_in_is_0 else (amount_1, -amount_0)
        return Moved(received=RawAmount(received), sent=RawAmount(sent))
    return None
