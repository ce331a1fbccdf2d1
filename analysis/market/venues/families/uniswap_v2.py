"""Uniswap V2 and its forks: a pair per two tokens, traded through Router02.

The fee-on-transfer functions are used throughout: they trade the amount that arrives, as a wallet
would. Source: Uniswap v2-periphery UniswapV2Router02, v2-core UniswapV2Factory; Camelot's
CamelotRouter.
"""

from analysis.market.venues.families.pair_venue import pair_venue
from analysis.market.venues.lookup import Lookup
from analysis.market.venues.swaps.native_coin_forms import pair_forms
from analysis.market.venues.trade_route import FOREVER_S, RouterForm, RouterFunction, Swap
from core.evm.primitives import ZERO_ADDRESS

_FUNCTION = "swapExactTokensForTokensSupportingFeeOnTransferTokens"


def _path(swap: Swap) -> tuple[str, str]:
    return swap.token_in, swap.token_out


_QUOTE = RouterFunction(
    signature="getAmountsOut(uint256,address[])",
    arguments=lambda swap: (swap.amount_in, _path(swap)),
)
FORMS = (
    RouterForm(
        signature=f"{_FUNCTION}(uint256,uint256,address[],address,uint256)",
        arguments=lambda swap: (swap.amount_in, 0, _path(swap), swap.trader, FOREVER_S),
        quote=_QUOTE,
        needs_factory=False,  # the quote fails where the router has another factory
        coins=pair_forms(
            "uint256,address[],address,uint256",
            lambda swap: (0, _path(swap), swap.trader, FOREVER_S),
            "uint256,uint256,address[],address,uint256",
            lambda swap: (swap.amount_in, 0, _path(swap), swap.trader, FOREVER_S),
        ),
    ),
    RouterForm(  # Camelot's, which takes a referrer; there is none
        signature=f"{_FUNCTION}(uint256,uint256,address[],address,address,uint256)",
        arguments=lambda swap: (
            *(swap.amount_in, 0, _path(swap)),
            *(swap.trader, ZERO_ADDRESS, FOREVER_S),
        ),
        quote=_QUOTE,
        needs_factory=False,  # the quote fails where the router has another factory
        coins=pair_forms(
            "uint256,address[],address,address,uint256",
            lambda swap: (0, _path(swap), swap.trader, ZERO_ADDRESS, FOREVER_S),
            "uint256,uint256,address[],address,address,uint256",
            lambda swap: (
                *(swap.amount_in, 0, _path(swap)),
                *(swap.trader, ZERO_ADDRESS, FOREVER_S),
            ),
        ),
    ),
)

VENUE = pair_venue(
    kind="AmmV2",
    lookups=lambda dex, token, quote: (
        Lookup(dex=dex, token=token, quote=quote, getter="getPair(address,address)"),
    ),
    every_form=FORMS,
    must_quote=True,  # the quote reads reserves only
)
