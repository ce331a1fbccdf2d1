"""Uniswap V3, its forks, and Algebra.

Pools are keyed by two tokens and fee (PancakeSwap V3), two tokens and tick spacing (Ramses V3), or
two tokens (Algebra). Source: v3-core UniswapV3Factory, Ramses V3 IRamsesV3Factory, Algebra v1.9 and
Integral IAlgebraFactory and AlgebraPool.
"""

import msgspec

from analysis.market.venues.families.concentrated_venue import PoolVariant, concentrated_venue

_ALGEBRA = PoolVariant(
    key="pair",
    router_key="pair",
    price_getter="globalState()",
    sale_function="swapSupportingFeeOnInputTokens(address,address,bool,int256,uint160,bytes)",
)

VENUE = concentrated_venue(
    kind="AmmV3",
    usual=PoolVariant(key="fee", router_key="fee"),
    variants={
        "ramses_v3": PoolVariant(key="tick_spacing", router_key="tick_spacing"),
        "solidly_v3": PoolVariant(key="tick_spacing", router_key="fee", is_called_directly=True),
        "algebra": _ALGEBRA,
        "algebra_directional": _ALGEBRA,
        "algebra_integral": msgspec.structs.replace(
            _ALGEBRA,
            sale_function="swapWithPaymentInAdvance(address,address,bool,int256,uint160,bytes)",
        ),
    },
)
