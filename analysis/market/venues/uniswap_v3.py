"""Swaps in Uniswap V3 and forks with its pool interface: calldata for routers and pools, and
amounts from Swap events.

Pools are keyed by two tokens and fee (PancakeSwap V3), two tokens and tick spacing (Slipstream,
Ramses V3), or two tokens (Algebra). Routers of this family differ in the shape of
`exactInputSingle`; the deployment's shape is read from the router's code. Source: v3-periphery
SwapRouter, swap-router-contracts SwapRouter02, v3-core UniswapV3Pool, pancake-v3-contracts,
slipstream SwapRouter, Algebra v1.9 and Integral periphery SwapRouter and core AlgebraPool.
"""

from collections.abc import Callable, Sequence

from analysis.market.venues.native_coin_forms import pool_forms
from analysis.market.venues.pool import ALGEBRA, Candidate
from analysis.market.venues.trade_route import (
    FOREVER_S,
    HIGHEST_SQRT_PRICE,
    LOWEST_SQRT_PRICE,
    Moved,
    RouterForm,
    RouterFunction,
    Swap,
    signed,
)
from analysis.simulation.simulate_v1 import SimLog
from core.abi import call_data, topic_of
from core.primitives import ZERO_ADDRESS, RawAmount

_EVENT = "Swap(address,address,int256,int256,uint160,uint128,int24"
_SWAPS = frozenset(
    topic_of(f"{_EVENT}{rest})")
    # Uniswap and most forks; PancakeSwap; Algebra Integral of some releases
    for rest in ("", ",uint128,uint128", ",uint24,uint24")
)
_AMOUNTS_BYTES = 64

_BY_SPACING = frozenset({"ramses_v3"})
_NO_POOL_CALL = frozenset({"solidly_v3"})
"""Variants whose pools have a swap function of their own, which has not been observed in use
here."""

_SINGLE = "exactInputSingle"
_SINGLE_TAXED = "exactInputSingleSupportingFeeOnTransferTokens"
_POOL_SWAP = "swap(address,bool,int256,uint160,bytes)"
_POOL_SWAP_TAXED = {
    "algebra_integral": "swapWithPaymentInAdvance(address,address,bool,int256,uint160,bytes)"
}
_POOL_SWAP_TAXED_BEFORE = (
    "swapSupportingFeeOnInputTokens(address,address,bool,int256,uint160,bytes)"
)


def _form(name: str, key_types: str, *, has_deadline: bool = True) -> RouterForm:
    """Return a form of the function `name`. `key_types`: the types between the tokens and the
    recipient, with their commas."""
    deadline = "uint256," if has_deadline else ""

    def arguments(swap: Swap) -> tuple[object, ...]:
        return (
            (
                *(swap.token_in, swap.token_out, *_KEYS[key_types](swap), swap.to),
                *((FOREVER_S,) if has_deadline else ()),
                *(swap.amount_in, 0, 0),
            ),
        )

    signature = f"{name}((address,address,{key_types}address,{deadline}uint256,uint256,uint160))"
    coins = pool_forms(RouterFunction(signature=signature, arguments=arguments))
    return RouterForm(signature=signature, arguments=arguments, coins=coins)


_KEYS: dict[str, Callable[[Swap], tuple[object, ...]]] = {
    "uint24,": lambda swap: (swap.candidate.fee,),
    "int24,": lambda swap: (swap.candidate.tick_spacing,),
    "address,": lambda _: (ZERO_ADDRESS,),
    "": lambda _: (),
}

FORMS_BY_FEE = (_form(_SINGLE, "uint24,"), _form(_SINGLE, "uint24,", has_deadline=False))
FORMS_BY_SPACING = (_form(_SINGLE, "int24,"), _form(_SINGLE, "int24,", has_deadline=False))
FORMS_ALGEBRA = (
    # First those that trade what arrives, as on V2. The address is the pool's deployer, zero for
    # all that the factory made.
    _form(_SINGLE_TAXED, "address,"),
    _form(_SINGLE_TAXED, ""),
    _form(_SINGLE, "address,"),
    _form(_SINGLE, ""),
)


def forms_of(candidate: Candidate) -> tuple[RouterForm, ...]:
    """Return the forms that can address this pool, the best first."""
    if candidate.dex.variant in ALGEBRA:
        return FORMS_ALGEBRA
    if candidate.dex.kind == "SolidV3" or candidate.dex.variant in _BY_SPACING:
        return FORMS_BY_SPACING if candidate.tick_spacing is not None else ()
    return FORMS_BY_FEE if candidate.fee is not None else ()


def has_pool_call(candidate: Candidate) -> bool:
    """True if the pool can be called without a router."""
    return candidate.dex.variant not in _NO_POOL_CALL


def pool_call(swap: Swap) -> str:
    """Return calldata for the pool itself. It calls its caller back for the payment.

    Algebra's pools can sell the amount that arrives; sales use that, as a buyer's payment has no
    tax.
    """
    variant = swap.candidate.dex.variant
    if swap.is_sale and variant in ALGEBRA:
        signature = _POOL_SWAP_TAXED.get(variant or "", _POOL_SWAP_TAXED_BEFORE)
        return call_data(signature, swap.trader, *_order(swap))
    return reach_call(swap)


def reach_call(swap: Swap) -> str:
    """Return calldata for the pool itself that requests the payment after the amounts are known,
    which not every `pool_call` does."""
    return call_data(_POOL_SWAP, *_order(swap))


def _order(swap: Swap) -> tuple[object, ...]:
    limit = LOWEST_SQRT_PRICE if swap.upwards else HIGHEST_SQRT_PRICE
    return swap.to, swap.upwards, swap.amount_in, limit, b""


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
