"""Amounts of swaps in pairs, from their Swap events."""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved
from analysis.simulation.simulate_v1 import SimLog
from config.facts.pool_family import swap_topics
from core.evm.primitives import RawAmount

_SWAPS = swap_topics(is_by_side=True)
_SWAP_DATA_BYTES = 128


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
