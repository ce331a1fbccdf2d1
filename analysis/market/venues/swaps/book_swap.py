"""Amounts of swaps in pairs of Liquidity Book, from their Swap events: one for each bin.

Source: joe-v2 ILBPair, PackedUint128Math.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved
from analysis.reads.eth_reads import WORD
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import topic_of
from core.evm.primitives import Address, RawAmount

_SWAP = topic_of("Swap(address,address,uint24,bytes32,bytes32,uint24,bytes32,bytes32)")
_WORDS = 6
_IN, _OUT, _KEPT = 1, 2, 5
"""Words of the amounts paid in and out, and of the protocol's share of the payment."""
_HALF_BITS = 128


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool, router: Address
) -> Moved | None:
    """Return the amounts of the router's own swap, over all bins. None: it did not swap.

    Of the two amounts in a word one is zero, as a bin is paid with one token and pays the other.
    """
    received = sent = 0
    for log in logs:
        if log.address != candidate.pool or not log.topics or log.topics[0] != _SWAP:
            continue
        data = bytes.fromhex(log.data[2:])
        if len(data) != _WORDS * WORD or log.topics[1][-40:] != router[2:]:
            continue
        received += _amount(data, _IN) + _amount(data, _KEPT)
        sent += _amount(data, _OUT)
    return Moved(received=RawAmount(received), sent=RawAmount(sent)) if received else None


def _amount(data: bytes, index: int) -> int:
    word = int.from_bytes(data[index * WORD : (index + 1) * WORD], "big")
    return (word >> _HALF_BITS) + word % (1 << _HALF_BITS)
