"""Checks of predictions against the logs of blocks. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

import msgspec

from core.evm.primitives import Address, Hash32
from indexer.accuracy.trade_checks import PredictionCheck, check_swap, check_transfer
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, HASH_BYTES, LogColumns
from indexer.decode.swap_events import SWAP_TOPICS
from indexer.decode.swap_transactions import (
    SwapsByPlace,
    add_moves,
    find_swaps,
)
from indexer.decode.transfer_events import PLAIN_TRANSFER
from indexer.watched.block_reads import BlockReads, TransactionOutcome
from indexer.watched.failed_trades import side_of
from indexer.watched.real_trades import read_swaps
from indexer.watched.token_swaps import TokenLogs, TradeFacts, pool_key, token_logs
from sql.engine.columns import blob
from sql.reports.accuracy_counts import PredictedPool, PredictedTransfer

_SWAP_TOPICS = frozenset(blob(topic) for topic in SWAP_TOPICS)


class PlacedCheck(msgspec.Struct, frozen=True, kw_only=True):
    """A check of one prediction, and the place of the trade."""

    block_number: int
    tx_hash: Hash32
    log_index: int | None
    """None: the transaction failed."""
    trader: Address | None
    """None: unknown."""
    of: PredictedPool | PredictedTransfer
    check: PredictionCheck


def check_trades(
    logs: LogColumns,
    swaps: SwapsByPlace,
    predictions: Sequence[PredictedPool],
    facts: TradeFacts,
) -> Iterator[PlacedCheck]:
    """Yield checks of swaps against predictions made in earlier blocks."""
    if not predictions:
        return
    by_pool: dict[bytes, list[PredictedPool]] = defaultdict(list)
    for one in predictions:
        by_pool[pool_key(one)].append(one)
    transactions = find_swaps(logs, swaps, by_pool)
    sides = {blob(side) for one in predictions for side in (one.token, one.quote)}
    add_moves(logs, sides, transactions)
    for tx_hash, transaction in transactions.items():
        of_token: dict[bytes, dict[bytes, PredictedPool]] = defaultdict(dict)
        for event in transaction.swaps.values():
            for one in by_pool[event.pool]:
                if one.report_block < transaction.block_number:
                    of_token[blob(one.token)][event.pool] = one
        for token, pools in of_token.items():
            of_one = token_logs(transaction, token, pools, facts)
            yield from _check_token(tx_hash, transaction.block_number, of_one, pools)


def check_transfers(
    logs: LogColumns, predictions: Sequence[PredictedTransfer]
) -> Iterator[PlacedCheck]:
    """Yield checks of transfers against predictions made in earlier blocks. Only transfers that are
    the only one of their token in a transaction without a swap count."""
    by_token = {blob(one.token): one for one in predictions}
    if not by_token:
        return
    traded = {
        tx_hash for group in logs.with_topics(_SWAP_TOPICS) for tx_hash in keys_of(group.tx_hash)
    }
    traded.add(bytes(HASH_BYTES))
    found: dict[tuple[bytes, bytes], list[tuple[int, int, bytes, bytes]]] = defaultdict(list)
    for group in logs.groups:
        if group.shape != PLAIN_TRANSFER:
            continue
        rows = zip(keys_of(group.tx_hash), keys_of(group.address), strict=True)
        for row, (tx_hash, token) in enumerate(rows):
            if token in by_token and tx_hash not in traded:
                sender, recipient = group.topics[row, :, HASH_BYTES - ADDRESS_BYTES :]
                place = int(group.block_number[row]), int(group.log_index[row])
                found[tx_hash, token].append((*place, sender.tobytes(), recipient.tobytes()))
    for (tx_hash, token), moves in found.items():
        block_number, log_index, sender, recipient = moves[0]
        predicted = by_token[token]
        if len(moves) == 1 and predicted.report_block < block_number:
            yield PlacedCheck(
                block_number=block_number,
                tx_hash=Hash32("0x" + tx_hash.hex()),
                log_index=log_index,
                trader=Address("0x" + sender.hex()),
                of=predicted,
                check=check_transfer(sender, recipient, predicted),
            )


def failures_in(reads: Sequence[BlockReads]) -> Iterator[tuple[int, TransactionOutcome]]:
    """Yield failed trades of watched tokens, with their blocks. Failures known to be the trade's
    own fault are left out."""
    for read in reads:
        for outcome in read.outcomes:
            if outcome.failure is not None and outcome.failure.cause == "unknown":
                yield read.number, outcome


def check_failure(
    block_number: int, outcome: TransactionOutcome, predicted: PredictedPool
) -> Iterator[PlacedCheck]:
    """Yield the check of a failed trade in the token's deepest pool, if success was predicted."""
    transaction = outcome.candidate.transaction
    side = side_of(transaction.data, blob(predicted.token))
    promised = {"buy": predicted.buy, "sell": predicted.sell, "unknown": None}[side]
    if promised != "passed" or predicted.report_block >= block_number:
        return
    yield PlacedCheck(
        block_number=block_number,
        tx_hash=transaction.hash,
        log_index=None,
        trader=transaction.sender,
        of=predicted,
        check=PredictionCheck(
            flag="buy_success" if side == "buy" else "sell_success",
            result="open",
            predicted="passed",
            observed="failed",
        ),
    )


def _check_token(
    tx_hash: bytes, block_number: int, logs: TokenLogs, pools: dict[bytes, PredictedPool]
) -> Iterator[PlacedCheck]:
    readings = [reading for reading in read_swaps(logs) if not reading.is_own]
    is_alone = len(readings) == 1 and not _went_elsewhere(logs)
    for reading in readings:
        trader = None if reading.trade is None else Address("0x" + reading.trade.trader.hex())
        predicted = pools[reading.swap.pool]
        for check in check_swap(reading, predicted, is_alone=is_alone):
            yield PlacedCheck(
                block_number=block_number,
                tx_hash=Hash32("0x" + tx_hash.hex()),
                log_index=reading.swap.log_index,
                trader=trader,
                of=predicted,
                check=check,
            )


def _went_elsewhere(logs: TokenLogs) -> bool:
    """True if the token also moved at one of its pools that no report names: possibly a second
    trade."""
    return any(move.sender in logs.others or move.recipient in logs.others for move in logs.moves)
