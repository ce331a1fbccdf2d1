"""Amounts of swaps in DODO's pools, from their events, which name the tokens.

Source: DODOEX/contractV2 DVMTrader.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved
from analysis.reads.eth_reads import WORD
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import topic_of
from core.evm.primitives import RawAmount

_SWAP = topic_of("DODOSwap(address,address,uint256,uint256,address,address)")
_WORDS = 6


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Return the amounts of the pool's last swap in this direction. None: there was none."""
    is_sale = token_in_is_0 == candidate.token_is_0
    sides = (candidate.token, candidate.quote) if is_sale else (candidate.quote, candidate.token)
    wanted = b"".join(bytes.fromhex(side[2:]).rjust(WORD, b"\0") for side in sides)
    for log in reversed(logs):
        if log.address != candidate.pool or tuple(log.topics) != (_SWAP,):
            continue
        data = bytes.fromhex(log.data[2:])
        if len(data) == _WORDS * WORD and data.startswith(wanted):
            received, sent = (
                int.from_bytes(data[at * WORD : (at + 1) * WORD], "big") for at in (2, 3)
            )
            return Moved(received=RawAmount(received), sent=RawAmount(sent))
    return None
