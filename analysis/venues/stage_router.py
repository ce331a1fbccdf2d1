"""Ways through our own router, which is put on the stage where a venue has none that we know.

Source: analysis/probes/StageRouter.sol.
"""

from functools import partial

from analysis import probes
from analysis.calldata import call_data
from analysis.venues import amm_v2, amm_v3, v4_swap
from analysis.venues.swap import ReadMoved, Swap, Way
from config.primitives import Address

_COMMON_FEES_BP = (30, 50, 100, 300, 1_000)
"""Tried in turn on pairs that do not tell their price: a fee that is too high costs the trader a
little, which is slippage and not tax; one that is too low is refused."""


def pair_way(router: Address, *, fee_bp: int | None) -> Way:
    """For pairs of the V2 and Solidly families. `fee_bp` None: not known."""
    known = () if fee_bp is None else (fee_bp,)
    fees = (*known, *(fee for fee in _COMMON_FEES_BP if fee > (fee_bp or 0)))
    return Way(
        router=router,
        code=probes.runtime("StageRouter"),
        swap_data=partial(_pair_data, "swapPair", fees),
        quote_data=partial(_pair_data, "quotePair", fees),
        read_moved=amm_v2.read_moved,
        takes_all=True,
    )


def pool_way(router: Address) -> Way:
    """For pools of the V3 family."""
    return Way(
        router=router,
        code=probes.runtime("StageRouter"),
        swap_data=_pool_data,
        read_moved=amm_v3.read_moved,
    )


def managed_way(router: Address, key: tuple[object, ...]) -> Way:
    """For pools of Uniswap V4's manager."""
    read: ReadMoved = partial(v4_swap.read_moved, router=router)
    return Way(
        router=router,
        code=probes.runtime("StageRouter"),
        swap_data=partial(_managed_data, key),
        read_moved=read,
        is_hooked=True,
    )


def _pair_data(function: str, fees_bp: tuple[int, ...], swap: Swap) -> str:
    signature = f"{function}(address,address,uint256,uint256[])"
    return call_data(signature, swap.candidate.pool, swap.token_in, swap.amount_in, fees_bp)


def _pool_data(swap: Swap) -> str:
    order = bytes.fromhex(amm_v3.pool_call(swap)[2:])
    return call_data("swapPool(address,address,bytes)", swap.candidate.pool, swap.token_in, order)


def _managed_data(key: tuple[object, ...], swap: Swap) -> str:
    return call_data(
        f"swapManaged(address,{v4_swap.KEY_TYPE},bool,uint256)",
        *(swap.candidate.dex.factory, key, swap.upwards, swap.amount_in),
    )
