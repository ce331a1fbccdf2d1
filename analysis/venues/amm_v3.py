"""Uniswap V3 and forks with its pool interface: a pool per two tokens and fee.

Routers of this family differ in the shape of `exactInputSingle`; which one a deployment has is read
from the router's code. Source: v3-periphery SwapRouter, swap-router-contracts SwapRouter02,
v3-core UniswapV3Pool, pancake-v3-contracts.
"""

from collections.abc import Callable, Sequence

import msgspec

from analysis.calldata import call_data, selector_of, topic_of
from analysis.discovery import Candidate
from analysis.stage import SimLog
from analysis.venues.swap import FOREVER_S, Moved, Swap
from config.primitives import RawAmount

_SWAPS = frozenset(
    {
        topic_of("Swap(address,address,int256,int256,uint160,uint128,int24)"),
        topic_of("Swap(address,address,int256,int256,uint160,uint128,int24,uint128,uint128)"),
    }
)
_AMOUNTS_BYTES = 64
_SIGN_BIT = 1 << 255


class RouterForm(msgspec.Struct, frozen=True, kw_only=True):
    """One shape of `exactInputSingle`."""

    signature: str
    arguments: Callable[[Swap], tuple[object, ...]]

    @property
    def selector(self) -> bytes:
        """What the router's dispatcher compares with."""
        return bytes.fromhex(selector_of(self.signature)[2:])


def _with_deadline(swap: Swap) -> tuple[object, ...]:
    key = swap.candidate.fee
    return (
        swap.token_in, swap.token_out, key, swap.trader, FOREVER_S, swap.amount_in, 0, 0,
    )  # fmt: skip


def _without_deadline(swap: Swap) -> tuple[object, ...]:
    return (swap.token_in, swap.token_out, swap.candidate.fee, swap.trader, swap.amount_in, 0, 0)


FORMS = (
    RouterForm(
        signature="exactInputSingle((address,address,uint24,address,uint256,uint256,uint256,uint160))",
        arguments=_with_deadline,
    ),
    RouterForm(
        signature="exactInputSingle((address,address,uint24,address,uint256,uint256,uint160))",
        arguments=_without_deadline,
    ),
)


def find_form(router_code: bytes) -> RouterForm | None:
    """The form this router speaks. None: none that we know."""
    return next((form for form in FORMS if form.selector in router_code), None)


def swap_data(swap: Swap, form: RouterForm) -> str:
    """Calldata for the router. The pool must be one that is addressed by its fee."""
    return call_data(form.signature, form.arguments(swap))


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Amounts of the pool's last swap. None: the pool did not swap.

    The event's amounts are signed from the pool's side: positive was received.
    """
    for log in reversed(logs):
        if log.address != candidate.pool or not log.topics or log.topics[0] not in _SWAPS:
            continue
        data = bytes.fromhex(log.data[2:])
        if len(data) < _AMOUNTS_BYTES:
            continue
        amount_0, amount_1 = _signed(data[:32]), _signed(data[32:64])
        received, sent = (amount_0, -amount_1) if token_in_is_0 else (amount_1, -amount_0)
        return Moved(received=RawAmount(received), sent=RawAmount(sent))
    return None


def _signed(word: bytes) -> int:
    value = int.from_bytes(word, "big")
    return value - 2 * _SIGN_BIT if value & _SIGN_BIT else value
