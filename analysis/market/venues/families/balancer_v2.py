"""Balancer V2: pools of two and more tokens in one vault.

Wallets call the vault, which pulls the payment by their allowance and books the ordered amount.
Source: balancer/balancer-v2-monorepo IVault, IBasePool.
"""

from collections.abc import Sequence

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.vault_pools import VaultReads, last_swap
from analysis.market.venues.trade_route import FOREVER_S, Moved, Swap, TradeRoute
from analysis.market.venues.venue import Venue
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import WORD
from analysis.reads.read_batch import ReadBatch
from analysis.simulation.simulate_v1 import SimLog
from core.evm.abi import call_data, topic_of
from core.evm.primitives import Address, RawAmount

_GAS = RawAmount(500_000)
"""The vault calls the pool, and some pools call a rate provider for each token."""
_SWAP = (
    "swap((bytes32,uint8,address,address,uint256,bytes),(address,bool,address,bool),"
    "uint256,uint256)"
)
_GIVEN_IN = 0
_SWAPPED = topic_of("Swap(bytes32,address,address,uint256,uint256)")


def _route(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute | str:
    if permit2 is not None:
        return f"the vault of {candidate.dex.name} pulls tokens itself, without Permit2"
    if candidate.vault_id is None:
        return "the pool's id in its vault is not known"
    return TradeRoute(
        router=candidate.pool,
        swap_data=_swap_data,
        read_moved=_read_moved,
        takes_all=True,
        books_orders=True,
        gas=_GAS,
    )


def _swap_data(swap: Swap) -> str:
    vault_id = bytes.fromhex((swap.candidate.vault_id or "0x")[2:])
    order = (vault_id, _GIVEN_IN, swap.token_in, swap.token_out, swap.amount_in, b"")
    funds = (swap.trader, False, swap.to, False)
    return call_data(_SWAP, order, funds, 0, FOREVER_S)


def _read_moved(
    candidate: Candidate, logs: Sequence[SimLog], *, token_in_is_0: bool
) -> Moved | None:
    found = last_swap(
        candidate,
        logs,
        event=_SWAPPED,
        known_as=candidate.vault_id,
        token_in_is_0=token_in_is_0,
    )
    return None if found is None else found[0]


def _request(
    batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
) -> VaultReads:
    return VaultReads(batch, pair, pool, probe="VaultReader", id_bytes=WORD)


VENUE = Venue(kind="BalancerV2", request_pool=_request, route=_route)
