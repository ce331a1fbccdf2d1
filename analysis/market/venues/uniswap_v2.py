"""Swaps in Uniswap V2 and its forks: a pair per two tokens, traded through Router02.

The fee-on-transfer functions are used throughout: they trade the amount that arrives, as a wallet
would. Source: Uniswap v2-periphery UniswapV2Router02, v2-core UniswapV2Pair; Camelot's
CamelotRouter.
"""

from collections.abc import Sequence

from analysis.market.venues.native_coin_forms import pair_forms
from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import FOREVER_S, Moved, RouterForm, RouterFunction, Swap
from analysis.simulation.simulate_v1 import SimLog
from core.abi import topic_of
from core.primitives import ZERO_ADDRESS, RawAmount

_SWAPS = frozenset(
    {
        topic_of("Swap(address,uint256,uint256,uint256,uint256,address)"),
        # Velodrome V2 and Aerodrome, whose event has the receiver second
        topic_of("Swap(address,address,uint256,uint256,uint256,uint256)"),
    }
)
_SWAP_DATA_BYTES = 128

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


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Return the amounts of the pool's last swap. None: the pool did not swap.

    The last one counts: a token that sells its collected tax during a transfer swaps before it.
    Solidly's pairs have the same data, with another order of parameters.
    """
    for log in reversed(logs):
        if log.address != candidate.pool or not log.topics or log.topics[0] not in _SWAPS:
            continue
        data = bytes.fromhex(log.data[2:])
        if len(data) != _SWAP_DATA_BYTES:
            continue
        in_0, in_1, out_0, out_1 = (
            RawAmount(int.from_bytes(data[at : at + 32], "big")) for at in range(0, len(data), 32)
        )
        if token_in_is_0:
            return Moved(received=in_0, sent=out_1)
        return Moved(received=in_1, sent=out_0)
    return None
