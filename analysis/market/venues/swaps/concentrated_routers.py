"""Forms of routers of concentrated pools, which differ in the shape of `exactInputSingle` by what
keys the pools.

The deployment's shape is read from the router's code. Source: v3-periphery SwapRouter,
swap-router-contracts SwapRouter02, slipstream SwapRouter, Algebra v1.9 and Integral periphery
SwapRouter.
"""

from collections.abc import Callable

from analysis.market.venues.swaps.native_coin_forms import pool_forms
from analysis.market.venues.trade_route import FOREVER_S, RouterForm, RouterFunction, Swap
from core.evm.primitives import ZERO_ADDRESS

_SINGLE = "exactInputSingle"
_SINGLE_TAXED = "exactInputSingleSupportingFeeOnTransferTokens"


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
FORMS_BY_PAIR = (
    # First those that trade what arrives, as on V2. The address is the pool's deployer, zero for
    # all that the factory made.
    _form(_SINGLE_TAXED, "address,"),
    _form(_SINGLE_TAXED, ""),
    _form(_SINGLE, "address,"),
    _form(_SINGLE, ""),
)
