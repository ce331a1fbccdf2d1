"""Prices of bins, in Liquidity Book and in the pools of bins of PancakeSwap Infinity.

Source: joe-v2 PriceHelper; infinity-core PriceHelper.
"""

from math import exp, log1p

_PRICE_ONE = 2**23
"""Id of the bin whose price is one."""
_LARGEST_EXPONENT = 700.0
"""Largest exponent of e. Prices beyond it count as unknown."""


def bin_price(bin_id: int | None, step_bp: int | None, *, token_is_x: bool) -> float | None:
    """Return quote per token in a bin, in smallest units. None: not known."""
    if bin_id is None or step_bp is None:
        return None
    exponent = (bin_id - _PRICE_ONE) * log1p(step_bp / 10_000)
    if abs(exponent) >= _LARGEST_EXPONENT:
        return None
    return exp(exponent if token_is_x else -exponent)
