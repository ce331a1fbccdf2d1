"""Observations of watched tokens in blocks. Pure."""

from collections.abc import Iterator, Sequence

from config.facts.chain import Chain
from core.evm.primitives import BlockRef
from indexer.decode.pool_events import PoolDecoder
from indexer.reads import BlockSpan
from indexer.watched.block_reads import BlockReads, TransactionOutcome
from indexer.watched.failed_trades import side_of
from indexer.watched.seen import Seen
from indexer.watched.token_events import find_events
from indexer.watched.trade_logs import find_other_taxes
from indexer.watched.watched_set import WatchedSet
from sql.engine.columns import blob
from sql.tokens.observations import Observation

_SELECTOR_BYTES = 4
_MOST_DETAIL = 1_024


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
