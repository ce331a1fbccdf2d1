"""Observations of watched tokens in blocks: events, calls, and trades with other taxes. Pure."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Final

import msgspec

from config.facts.chain import Chain
from core.evm.event_signatures import parse_event
from core.evm.primitives import BlockRef, Hash32
from core.report.notifications import ObservationKind
from indexer.block_spans import BlockSpan
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import LogColumns, LogGroup
from indexer.decode.pool_events import PoolDecoder
from indexer.decode.swap_transactions import (
    SwapTransaction,
    add_moves,
    find_swaps,
    swaps_by_place,
)
from indexer.watched.block_reads import BlockReads, TransactionOutcome
from indexer.watched.failed_trades import side_of
from indexer.watched.real_trades import (
    Prediction,
    RealTrade,
    differs,
    find_trades,
)
from indexer.watched.seen import Seen
from indexer.watched.token_swaps import pool_key, token_logs
from indexer.watched.watched_set import WatchedSet
from sql.engine.columns import blob
from sql.tokens.observations import Observation
from sql.tokens.watched_tokens import WatchedPool, WatchedToken


def find_other_taxes(
    logs: LogColumns, blocks: Iterable[BlockRef], watched: WatchedSet
) -> Iterator[Seen]:
    """Yield trades in blocks after a token's report that contradict its prediction."""
    if not watched.pools:
        return
    transactions = find_swaps(logs, swaps_by_place(logs, blocks), watched.pools)
    if not transactions:
        return
    quotes = {blob(pool.quote) for pools in watched.pools.values() for pool in pools}
    add_moves(logs, watched.tokens.keys() | quotes, transactions)
    for tx_hash, one in transactions.items():
        yield from _compare(tx_hash, one, watched)


def _compare(tx_hash: bytes, one: SwapTransaction, watched: WatchedSet) -> Iterator[Seen]:
    for address in one.moves:
        token = watched.tokens.get(address)  # None: the other side of a pool
        if token is None or token.report_block is None or one.block_number <= token.report_block:
            continue
        pools = {
            pool_key(pool): pool
            for event in one.swaps.values()
            for pool in watched.pools[event.pool]
            if pool.token_id == token.token_id
        }
        for trade in find_trades(token_logs(one, address, pools, watched.facts)):
            seen = _seen(token, pools[trade.pool], trade)
            if seen is not None:
                yield msgspec.structs.replace(
                    seen, block_number=one.block_number, tx_hash=Hash32("0x" + tx_hash.hex())
                )


def _seen(token: WatchedToken, pool: WatchedPool, trade: RealTrade) -> Seen | None:
    is_buy = trade.side == "buy"
    predicted = Prediction(
        outcome=pool.buy if is_buy else pool.sell,
        tax_pct=pool.buy_tax if is_buy else pool.sell_tax,
    )
    difference = differs(trade, predicted)
    if difference is None:
        return None
    return Seen(
        block_number=0,
        token_id=token.token_id,
        kind="other_tax",
        what=pool.pool_id or pool.pool,
        detail=difference,
    )


_OWNERSHIP: Final = (
    "OwnershipTransferred(address indexed previous,address indexed next)",
    "OwnershipTransferStarted(address indexed previous,address indexed next)",
    "RoleGranted(bytes32 indexed role,address indexed account,address indexed sender)",
    "RoleRevoked(bytes32 indexed role,address indexed account,address indexed sender)",
    "RoleAdminChanged(bytes32 indexed role,bytes32 indexed before,bytes32 indexed next)",
    "AdminChanged(address previous,address next)",
    "Upgraded(address indexed implementation)",
    "BeaconUpgraded(address indexed beacon)",
)
"""Sources: OpenZeppelin Contracts, Ownable, Ownable2Step, AccessControl; ERC-1967."""

_NAMED: Final = ("Paused(address account)", "Unpaused(address account)")
"""Source: OpenZeppelin Contracts, Pausable."""

_OF_HOLDERS: Final = (
    "Transfer(address indexed from,address indexed to,uint256 value)",
    "Approval(address indexed owner,address indexed spender,uint256 value)",
    "ApprovalForAll(address indexed owner,address indexed operator,bool approved)",
    "Deposit(address indexed to,uint256 value)",
    "Withdrawal(address indexed from,uint256 value)",
)
"""Events of holders' actions. Sources: EIP-20, EIP-721, WETH9."""

_MOST_DETAIL: Final = 1_024
"""Characters kept of the arguments of a log or call."""


def _topic(declared: str) -> bytes:
    return bytes.fromhex(parse_event(declared).topic0[2:])


_IGNORED: Final = frozenset(_topic(declared) for declared in _OF_HOLDERS)
_NAMES: Final[dict[bytes, tuple[ObservationKind, str]]] = {
    **{_topic(each): ("ownership_event", each.partition("(")[0]) for each in _OWNERSHIP},
    **{_topic(each): ("parameter_event", each.partition("(")[0]) for each in _NAMED},
}


def find_events(logs: LogColumns, watched: WatchedSet) -> Iterator[Seen]:
    """Yield the logs of watched tokens that may announce a change other than of a balance.

    An unknown event is named by its topic 0, one without topics `anonymous`.
    """
    for group in logs.groups:
        if group.shape.topic0 in _IGNORED:
            continue
        for row, emitter in enumerate(keys_of(group.address)):
            token = watched.tokens.get(emitter)
            if token is not None:
                kind, name = _named(group)
                yield Seen(
                    block_number=int(group.block_number[row]),
                    token_id=token.token_id,
                    kind=kind,
                    tx_hash=Hash32("0x" + group.tx_hash[row].tobytes().hex()),
                    what=name,
                    detail=_arguments(group, row),
                )


def _named(group: LogGroup) -> tuple[ObservationKind, str]:
    topic0 = group.shape.topic0
    unnamed = "0x" + topic0.hex() if topic0 else "anonymous"
    return _NAMES.get(topic0, ("parameter_event", unnamed))


def _arguments(group: LogGroup, row: int) -> str:
    """Return the arguments as 0x and hex, indexed ones first."""
    words: bytes = group.topics[row].tobytes() + group.data[row].tobytes()
    return ("0x" + words.hex())[:_MOST_DETAIL]


_SELECTOR_BYTES = 4


class BlockWatch:
    """Finds the observations of one chain's watched tokens in blocks."""

    def __init__(self, chain: Chain) -> None:
        self._chain_id = chain.id
        self._pools = PoolDecoder(chain.dexes, chain_id=chain.id)

    def observe(
        self, span: BlockSpan, reads: Sequence[BlockReads], watched: WatchedSet
    ) -> list[Observation]:
        """Return the observations, in order of the blocks."""
        blocks = {header.number: header.ref for header in span.headers}
        senders = {
            tx_hash: transaction.sender
            for read in reads
            for tx_hash, transaction in read.senders.items()
        }
        found = sorted(self._find(span, reads, watched), key=lambda seen: seen.block_number)
        return [
            seen.at(
                blocks[seen.block_number],
                chain_id=self._chain_id,
                sender=None if seen.tx_hash is None else senders.get(seen.tx_hash),
            )
            for seen in found
        ]

    def _find(
        self, span: BlockSpan, reads: Sequence[BlockReads], watched: WatchedSet
    ) -> Iterator[Seen]:
        blocks: list[BlockRef] = [header.ref for header in span.headers]
        for read in reads:
            yield from find_events(read.logs, watched)
            for outcome in read.outcomes:
                yield from _of_outcome(outcome, block_number=read.number)
        yield from find_other_taxes(span.logs, blocks, watched)
        yield from self._new_pools(span, watched)

    def _new_pools(self, span: BlockSpan, watched: WatchedSet) -> Iterator[Seen]:
        for pool in self._pools.decode(span.logs).pools:
            for side in (pool.token0, pool.token1):
                token = watched.tokens.get(blob(side))
                if token is not None:
                    yield Seen(
                        block_number=pool.block_number,
                        token_id=token.token_id,
                        kind="pool_created",
                        what=pool.pool_key,
                        detail=pool.dex,
                    )


def _of_outcome(outcome: TransactionOutcome, *, block_number: int) -> Iterator[Seen]:
    """Yield a successful call, or a failed trade that did not fail for its own limits."""
    candidate = outcome.candidate
    transaction, token = candidate.transaction, candidate.token
    if candidate.what == "call" and outcome.has_succeeded is not False:
        data = transaction.data
        yield Seen(
            block_number=block_number,
            token_id=token.token_id,
            kind="owner_call" if transaction.sender == token.owner else "call",
            tx_hash=transaction.hash,
            what="0x" + data[:_SELECTOR_BYTES].hex(),
            detail=("0x" + data[_SELECTOR_BYTES:].hex())[:_MOST_DETAIL],
        )
    elif outcome.failure is not None and outcome.failure.cause == "unknown":
        yield Seen(
            block_number=block_number,
            token_id=token.token_id,
            kind="failed_trade",
            tx_hash=transaction.hash,
            what=side_of(transaction.data, blob(token.address)),
            detail=outcome.failure.error,
        )
