"""Swaps in Balancer V3's vault, which any contract may make after unlocking it: orders, and amounts
from Swap events.

Source: balancer/balancer-v3-monorepo VaultTypes, IVaultEvents.
"""

from collections.abc import Sequence

from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.vault_pools import last_swap, pool_address
from analysis.market.venues.trade_route import Moved, Swap
from analysis.reads.eth_reads import WORD
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import address_word, topic_of
from core.evm.primitives import Hash32, RawAmount

ORDER_TYPE = "(uint8,address,address,address,uint256,uint256,bytes)"

GAS = RawAmount(500_000)
"""The vault calls the pool, its hook, and a rate provider for each token."""

_EXACT_IN = 0
_SWAPPED = topic_of("Swap(address,address,address,uint256,uint256,uint256,uint256)")
_WHOLE_FEE = 10**18


def order_of(swap: Swap) -> tuple[object, ...]:
    """Return the vault's order of a swap."""
    pool = pool_address(Hash32(swap.candidate.key))
    return (_EXACT_IN, pool, swap.token_in, swap.token_out, swap.amount_in, 0, b"")


def read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    """Return the amounts of the pool's last swap in this direction. None: there was none.

    What a hook takes afterwards is not in them.
    """
    found = last_swap(
        candidate,
        logs,
        event=_SWAPPED,
        known_as=address_word(pool_address(Hash32(candidate.key))),
        token_in_is_0=token_in_is_0,
    )
    if found is None or len(found[1]) < WORD:
        return None
    moved, rest = found
    fee = int.from_bytes(rest[:WORD])
    return Moved(received=moved.received, sent=moved.sent, fee_share=fee / _WHOLE_FEE)
