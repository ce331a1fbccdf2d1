"""Uniswap V2 and its forks: a pair per two tokens, traded through Router02.

The fee-on-transfer functions are used throughout: they trade what arrives, as a wallet would.
Source: Uniswap v2-periphery UniswapV2Router02, v2-core UniswapV2Pair.
"""

from collections.abc import Sequence

from analysis.calldata import call_data, topic_of
from analysis.discovery import Candidate
from analysis.stage import SimLog
from analysis.venues.swap import FOREVER_S, Moved, Swap
from config.primitives import RawAmount

_SWAP = topic_of("Swap(address,uint256,uint256,uint256,uint256,address)")
_SWAP_DATA_BYTES = 128


def swap_data(swap: Swap) -> str:
    """Calldata for the router."""
    return call_data(
        "swapExactTokensForTokensSupportingFeeOnTransferTokens"
        "(uint256,uint256,address[],address,uint256)",
        swap.amount_in,
        0,
        (swap.token_in, swap.token_out),
        swap.trader,
        FOREVER_S,
    )


def quote_data(swap: Swap) -> str:
    """Calldata of a read that fails exactly when this router does not know the pool."""
    return call_data(
        "getAmountsOut(uint256,address[])", swap.amount_in, (swap.token_in, swap.token_out)
    )


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Amounts of the pool's last swap. None: the pool did not swap.

    The last one counts: a token that sells its collected tax during a transfer swaps before it.
    """
    for log in reversed(logs):
        if log.address != candidate.pool or not log.topics or log.topics[0] != _SWAP:
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
