"""Swaps in Solidly and its forks: pairs of two curves, traded through routers whose path names the
curve.

The pair itself quotes an amount (getAmountOut), whatever its curve and fee. Source: Solidly
BaseV1Router01 and its fee-on-transfer forks (Thena RouterV2), Aerodrome Router.
"""

from analysis.market.venues.native_coin_forms import pair_forms
from analysis.market.venues.trade_route import FOREVER_S, RouterForm, RouterFunction, Swap

_FUNCTION = "swapExactTokensForTokensSupportingFeeOnTransferTokens"


def _step(swap: Swap) -> tuple[tuple[object, ...], ...]:
    return ((swap.token_in, swap.token_out, bool(swap.candidate.stable)),)


def _step_of_factory(swap: Swap) -> tuple[tuple[object, ...], ...]:
    (step,) = _step(swap)
    return ((*step, swap.candidate.dex.factory),)


FORM_OF_FACTORY = RouterForm(
    signature=f"{_FUNCTION}(uint256,uint256,(address,address,bool,address)[],address,uint256)",
    arguments=lambda swap: (swap.amount_in, 0, _step_of_factory(swap), swap.trader, FOREVER_S),
    quote=RouterFunction(
        signature="getAmountsOut(uint256,(address,address,bool,address)[])",
        arguments=lambda swap: (swap.amount_in, _step_of_factory(swap)),
    ),
    coins=pair_forms(
        "uint256,(address,address,bool,address)[],address,uint256",
        lambda swap: (0, _step_of_factory(swap), swap.trader, FOREVER_S),
        "uint256,uint256,(address,address,bool,address)[],address,uint256",
        lambda swap: (swap.amount_in, 0, _step_of_factory(swap), swap.trader, FOREVER_S),
    ),
)
FORMS = (
    RouterForm(
        signature=f"{_FUNCTION}(uint256,uint256,(address,address,bool)[],address,uint256)",
        arguments=lambda swap: (swap.amount_in, 0, _step(swap), swap.trader, FOREVER_S),
        quote=RouterFunction(
            signature="getAmountsOut(uint256,(address,address,bool)[])",
            arguments=lambda swap: (swap.amount_in, _step(swap)),
        ),
        coins=pair_forms(
            "uint256,(address,address,bool)[],address,uint256",
            lambda swap: (0, _step(swap), swap.trader, FOREVER_S),
            "uint256,uint256,(address,address,bool)[],address,uint256",
            lambda swap: (swap.amount_in, 0, _step(swap), swap.trader, FOREVER_S),
        ),
    ),
    FORM_OF_FACTORY,
)
"""Routers without a fee-on-transfer function are left out: they revert on tokens that others
trade."""
