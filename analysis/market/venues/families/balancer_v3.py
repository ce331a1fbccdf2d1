"""Balancer V3: pools of two and more tokens in one vault.

A caller unlocks the vault, trades, and settles its debts before the vault locks again. A pool's
hook may take part of a trade and distinguish callers, so our own router is placed at the address of
the exchange's router. Source:
balancer/balancer-v3-monorepo IVaultMain, RouterHooks.
"""

from analysis.market.venues.lookup import Lookup
from analysis.market.venues.pool import Candidate
from analysis.market.venues.state.vault_pools import VaultReads
from analysis.market.venues.swaps import probe_router
from analysis.market.venues.trade_route import TradeRoute
from analysis.market.venues.venue import Venue
from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.read_batch import ReadBatch
from core.evm.primitives import Address

_ID_BYTES = 20


def _request(
    batch: ReadBatch, pair: Candidate | Lookup, pool: Address | AnswerAddress
) -> VaultReads:
    return VaultReads(batch, pair, pool, probe="VaultPoolReader", id_bytes=_ID_BYTES)


def _route(
    candidate: Candidate, router: Address, *, wrapped: Address | None, permit2: Address | None
) -> TradeRoute | str:
    return probe_router.unlocked_way(router, wrapped=wrapped, permit2=permit2)


VENUE = Venue(kind="BalancerV3", request_pool=_request, route=_route)
