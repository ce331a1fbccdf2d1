"""Swaps in the managers of Uniswap V4 and PancakeSwap Infinity: pool keys, and swap amounts.

Any contract may trade in their pools after it has unlocked the manager, or its vault.

Source: v4-core IPoolManager, PoolKey, LPFeeLibrary; infinity-core ICLPoolManager, IBinPoolManager.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.trade_route import Moved, signed
from analysis.reads.eth_reads import WORD
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import encode_values, topic_of
from core.evm.keccak import keccak
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount

KEY_TYPE = "(address,address,uint24,int24,address)"

_FEE_WORDS = {
    topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)"): 5,
    topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24,uint16)"): 5,
    topic_of("Swap(bytes32,address,int128,int128,uint24,uint24,uint16)"): 3,
}
"""Index of the fee in the data of Uniswap's event, and of Infinity's: concentrated, bins."""
_WHOLE_FEE = 1_000_000


def pool_key(candidate: Candidate) -> tuple[Address, Address, int, int, Address] | None:
    """Return the PoolKey. None: a part is not known, or the parts do not hash to the pool's id."""
    if candidate.fee is None or candidate.tick_spacing is None:
        return None
    first, second = sorted((candidate.token, candidate.quote))
    hooks = candidate.hooks or ZERO_ADDRESS
    key = (first, second, candidate.fee, candidate.tick_spacing, hooks)
    encoded = bytes.fromhex(encode_values([KEY_TYPE], [key]))
    return key if "0x" + keccak(encoded).hex() == candidate.pool_id else None


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool, router: Address
) -> Moved | None:
    """Return the amounts of the router's own swap, as a hook may swap too. None: it did not swap.

    Amounts that a hook takes before the swap never reach the pool, and those that it takes after
    have left it: neither is included. The event is signed from the trader's side, unlike V3's.
    """
    for log in reversed(logs):
        if log.address != candidate.pool or not log.topics or log.topics[0] not in _FEE_WORDS:
            continue
        data = bytes.fromhex(log.data[2:])
        fee_at = _FEE_WORDS[log.topics[0]] * WORD
        if log.topics[1] != candidate.pool_id or len(data) < fee_at + WORD:
            continue
        if log.topics[2][-40:] != router[2:]:
            continue
        amount_0, amount_1 = signed(data[:32]), signed(data[32:64])
        paid, got = (-amount_0, amount_1) if token_in_is_0 else (-amount_1, amount_0)
        fee = int.from_bytes(data[fee_at : fee_at + WORD], "big")
        return Moved(received=RawAmount(paid), sent=RawAmount(got), fee_share=fee / _WHOLE_FEE)
    return None
