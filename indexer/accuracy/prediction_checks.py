"""Checks of predictions against real trades and transfers, from the logs of blocks. Pure."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Final, Literal

import msgspec

from core.evm.primitives import Address, Hash32
from core.report.accuracy import TOLERANCE_POINTS, PredictionFlag, is_near
from indexer.decode.hex_columns import keys_of
from indexer.decode.log_columns import ADDRESS_BYTES, HASH_BYTES, NO_HASH, LogColumns
from indexer.decode.swap_events import SWAP_TOPICS
from indexer.decode.swap_transactions import (
    SwapsByPlace,
    add_moves,
    find_swaps,
)
from indexer.decode.transfer_events import PLAIN_TRANSFER
from indexer.watched.block_reads import BlockReads, TransactionOutcome
from indexer.watched.failed_trades import side_of
from indexer.watched.real_trades import TAKES_TAX, RealTrade, SwapReading, read_swaps
from indexer.watched.token_swaps import TokenLogs, TradeFacts, pool_key, token_logs
from sql.engine.columns import blob
from sql.reports.accuracy_counts import PredictedPool, PredictedTransfer, address_of

PredictionResult = Literal["agreed", "disagreed", "open", "uncounted"]
"""open: a difference for which the trader may be the reason."""

_TAX_DECIMALS: Final = 4


class PredictionCheck(msgspec.Struct, frozen=True, kw_only=True):
    """One prediction for one trade or transfer, with its outcome."""

    flag: PredictionFlag
    result: PredictionResult
    predicted: str
    """passed or refused; for a tax, percent as decimal text."""
    observed: str
    """passed; for a tax, percent as decimal text. Empty: unknown."""


def check_swap(
    reading: SwapReading, predicted: PredictedPool, *, is_alone: bool
) -> Iterator[PredictionCheck]:
    """Yield checks of the predictions for a swap's side; nothing for a side without one.

    `is_alone` False: others traded the token in the same transaction, so nothing is certain.
    """
    is_buy = reading.side == "buy"
    outcome = predicted.buy if is_buy else predicted.sell
    tax_pct = predicted.buy_tax if is_buy else predicted.sell_tax
    trade = reading.trade if is_alone else None
    if trade is not None and _is_special(trade, predicted):
        trade = None
    success: PredictionFlag = "buy_success" if is_buy else "sell_success"
    tax: PredictionFlag = "buy_tax" if is_buy else "sell_tax"
    if outcome == "refused":
        result: PredictionResult = "uncounted" if trade is None else "open"
        yield _passed(success, result, predicted="refused")
    if outcome != "passed":
        return
    result = "uncounted" if trade is None else "agreed"
    yield _passed(success, result, predicted="passed")
    if tax_pct is not None:
        paid_pct = None if trade is None else trade.tax_pct
        yield PredictionCheck(
            flag=tax,
            result="uncounted"
            if trade is None or paid_pct is None
            else _tax_result(trade, paid_pct, tax_pct, predicted),
            predicted=_percent(tax_pct),
            observed="" if paid_pct is None else _percent(paid_pct),
        )


def check_transfer(
    sender: bytes, recipient: bytes, predicted: PredictedTransfer
) -> PredictionCheck:
    """Return the check of a transfer that is the only one of its token in its transaction."""
    special = {address_of(predicted.owner), address_of(predicted.creator)}
    special |= TAKES_TAX | {blob(predicted.token)}
    if sender in special or recipient in special:
        result: PredictionResult = "uncounted"
    else:
        result = "agreed" if predicted.transfer_success else "open"
    return _passed(
        "transfer_success", result, predicted="passed" if predicted.transfer_success else "refused"
    )


def _is_special(trade: RealTrade, predicted: PredictedPool) -> bool:
    """True if tokens treat the trader specially, or the trader got more than the pool paid."""
    known = {address_of(predicted.owner), address_of(predicted.creator)}
    tax_pct = trade.tax_pct
    return trade.trader in known or (tax_pct is not None and tax_pct < -TOLERANCE_POINTS)


def _tax_result(
    trade: RealTrade, paid_pct: float, tax_pct: float, predicted: PredictedPool
) -> PredictionResult:
    if is_near(paid_pct, tax_pct):
        return "agreed"
    if paid_pct < tax_pct:
        return "open"  # the trader may be exempt
    # Tokens that a seller sends elsewhere may be a payment, not a tax.
    is_tax = trade.others <= TAKES_TAX | {blob(predicted.token)}
    return "disagreed" if is_tax else "open"


def _passed(flag: PredictionFlag, result: PredictionResult, *, predicted: str) -> PredictionCheck:
    return PredictionCheck(flag=flag, result=result, predicted=predicted, observed="passed")


def _percent(tax_pct: float) -> str:
    return str(round(tax_pct, _TAX_DECIMALS))


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
    traded.add(NO_HASH)
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
