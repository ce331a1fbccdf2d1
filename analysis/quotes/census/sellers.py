"""Sellers of a census: real holders, latest buyers first.

Buyers are the receivers of transfers from the token's pools, by the node's own logs; after them
come the largest indexed holders. Contracts, pools, lockers, owners and the creator are left out.
"""

from collections.abc import Collection, Iterable, Sequence
from typing import Final

import msgspec

from analysis.liquidity.holdings import log_query
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.reads.eth_reads import decode_answer, decode_uint
from analysis.reads.indexed_facts import MinedTransaction
from analysis.reads.read_batch import ReadBatch
from analysis.scenarios.trade.trade_outcome import exceeds_rounding
from analysis.scenarios.trade.transfer import Wallet, holder_wallet
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from analysis.token.creation_state import TRANSFER
from core.errors import UpstreamError
from core.evm.abi import address_word
from core.evm.primitives import Address, BlockRef, Hash32, RawAmount

MOST_SELLERS: Final = 50
_MOST_READ: Final = 120
"""Possible sellers whose balance and code are read."""

_WINDOWS_S: Final = (86_400, 30 * 86_400, 3_600)
"""Seconds of the past whose buyers are searched: a day; a month if that has too few, or an hour if
the node refused the day."""

_MOST_POOLS: Final = 10
_TOPICS: Final = 3


class CensusHolder(msgspec.Struct, frozen=True, kw_only=True):
    """A seller, and the transaction in which it last bought."""

    wallet: Wallet
    bought: MinedTransaction | None
    """None: not known; it may have been sent its tokens."""


class FoundSellers(msgspec.Struct, frozen=True, kw_only=True):
    """The sellers, and the number of accounts among which they were chosen."""

    sellers: tuple[CensusHolder, ...]
    possible: int
    """Distinct receivers and holders that were found, contracts included."""


class _Bought(msgspec.Struct, frozen=True, rename="camel"):
    topics: tuple[str, ...]
    block_number: str
    transaction_hash: Hash32


async def find_sellers(
    context: ChainContext,
    first_round: FirstRound,
    token: Address,
    *,
    pools: Iterable[Address],
    indexed: Iterable[Address],
    special: Collection[Address],
) -> FoundSellers:
    """Return the sellers, latest buyers first.

    `pools`: holders of the pools' tokens, deepest first. `indexed`: known holders. `special`:
    addresses that are no ordinary holders. Takes two to four requests. Raises UpstreamError.
    """
    senders = list(dict.fromkeys(pools))[:_MOST_POOLS]
    bought = await _find_buyers(context, token, senders, first_round.pin)
    possible = [each for each in dict.fromkeys((*bought, *indexed)) if each not in special]
    batch = ReadBatch(first_round.pin.hash)
    reads = {
        each: (
            batch.call(token, "balanceOf(address)", each, returns=decode_uint),
            batch.code(each, first_bytes=DELEGATION_BYTES),
        )
        for each in possible[:_MOST_READ]
    }
    await batch.send(context.node, context.capabilities)
    sellers = []
    for holder, (balance, code) in reads.items():
        balance_raw, own = batch.get(balance), batch.get(code)
        if balance_raw is None or own is None or not exceeds_rounding(RawAmount(balance_raw)):
            continue
        if own and not is_delegated_account(own):
            continue
        wallet = holder_wallet(
            first_round.disguise,
            holder,
            balance_raw=RawAmount(balance_raw),
            supply_raw=first_round.admitted.metadata.supply_raw,
        )
        sellers.append(CensusHolder(wallet=wallet, bought=bought.get(holder)))
    return FoundSellers(sellers=tuple(sellers[:MOST_SELLERS]), possible=len(possible))


async def _find_buyers(
    context: ChainContext, token: Address, pools: Sequence[Address], pin: BlockRef
) -> dict[Address, MinedTransaction]:
    """Return buyers with their last purchase, latest first. Empty: none, or the node refuses."""
    day, month, hour = (context.chain.blocks_in(seconds) for seconds in _WINDOWS_S)
    found = await _receivers(context, token, pools, pin, blocks=day)
    if found is None:
        return await _receivers(context, token, pools, pin, blocks=hour) or {}
    if len(found) < MOST_SELLERS:
        found = await _receivers(context, token, pools, pin, blocks=month) or found
    return found


async def _receivers(
    context: ChainContext,
    token: Address,
    pools: Sequence[Address],
    pin: BlockRef,
    *,
    blocks: int,
) -> dict[Address, MinedTransaction] | None:
    """Return receivers of transfers from pools, latest first. None: the node refuses."""
    if not pools:
        return {}
    topics = (TRANSFER, [address_word(pool) for pool in pools])
    query = log_query(token, topics, from_block=max(0, pin.number - blocks), to_block=pin.number)
    try:
        (answer,) = await context.node.batch([query])
    except UpstreamError:
        return None
    logs = decode_answer(answer, tuple[_Bought, ...])
    if logs is None:
        return None
    found: dict[Address, MinedTransaction] = {}
    for log in reversed(logs):
        if len(log.topics) == _TOPICS:
            receiver = Address("0x" + log.topics[2][-40:].lower())
            mined = MinedTransaction(
                tx_hash=log.transaction_hash, block_number=int(log.block_number, 16)
            )
            found.setdefault(receiver, mined)
    return found
