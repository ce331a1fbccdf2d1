"""Solidly and its forks: pairs of two curves, traded through routers whose path names the
curve.

The pair itself quotes an amount (getAmountOut), whatever its curve and fee. Source: Solidly
BaseV1Router01 and its fee-on-transfer forks (Thena RouterV2), Aerodrome Router.
"""

from analysis.market.venues.families.pair_venue import pair_venue
from analysis.market.venues.lookup import Lookup
from analysis.market.venues.swaps.native_coin_forms import pair_forms
from analysis.market.venues.trade_route import FOREVER_S, RouterForm, RouterFunction, Swap
from config.facts.chain import Dex
from core.evm.primitives import Address

_FUNCTION = "swapExactTokensForTokensSupportingFeeOnTransferTokens"


def _step(swap: Swap) -> tuple[tuple[object, ...], ...]:
    return ((swap.token_in, swap.token_out, bool(swap.candidate.stable)),)


def _step_of_factory(swap: Swap) -> tuple[tuple[object, ...], ...]:
    (step,) = _step(swap)
    return ((*step, swap.candidate.dex.factory),)


_FORM_OF_FACTORY = RouterForm(
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
    needs_factory=False,  # the path contains it
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
    _FORM_OF_FACTORY,
)
"""Routers without a fee-on-transfer function are left out: they revert on tokens that others
trade."""


def _lookups(dex: Dex, token: Address, quote: Address) -> list[Lookup]:
    name = "getPool" if dex.variant == "aerodrome_v1" else "getPair"
    getter = f"{name}(address,address,bool)"
    return [
        Lookup(dex=dex, token=token, quote=quote, getter=getter, key=(stable,), stable=stable)
        for stable in (False, True)
    ]


# A stable curve may have no quote for an amount, so a quote is not demanded.
VENUE = pair_venue(kind="Solid", lookups=_lookups, every_form=FORMS)
