"""Conversion of decoded columns to the rows that the store accepts."""

from collections.abc import Sequence

from core.evm.primitives import Address, HexBytes, RawAmount
from core.process.arrays import Int32Array
from indexer.decode.hex_columns import encode_hex, keys_of
from indexer.decode.log_columns import NO_HASH, NO_TIME, WORD_BYTES
from indexer.decode.swap_events import SWAP_FORMS, TradeColumns
from indexer.decode.transfer_events import TransferColumns
from sql.engine.table_rows import SwapRow, TransferRow

_NO_ID = "0x" + "00" * WORD_BYTES


def transfer_rows(
    transfers: TransferColumns, token_ids: Int32Array | Sequence[int]
) -> list[TransferRow]:
    """Return transfers as rows. `token_ids`: one for each transfer."""
    ids = token_ids if isinstance(token_ids, Sequence) else token_ids.tolist()
    return [
        TransferRow(
            block_number=block_number,
            log_index=log_index,
            token_id=token_id,
            sender=sender,
            recipient=recipient,
            amount_raw=RawAmount(int.from_bytes(amount)),
            time_s=None if time_s == NO_TIME else time_s,
        )
        for block_number, log_index, token_id, sender, recipient, amount, time_s in zip(
            transfers.block_number.tolist(),
            transfers.log_index.tolist(),
            ids,
            keys_of(transfers.sender),
            keys_of(transfers.recipient),
            keys_of(transfers.amount),
            transfers.time_s.tolist(),
            strict=True,
        )
    ]


def swap_rows(trades: TradeColumns) -> list[SwapRow]:
    """Return swaps as rows, each with the possible kinds of its pool."""
    return [
        SwapRow(
            block_number=block_number,
            log_index=log_index,
            time_s=time_s,
            emitter=Address(emitter),
            pool_key=HexBytes(emitter if pool_id == _NO_ID else pool_id),
            kinds=SWAP_FORMS[form].kinds,
            amount0=amount0,
            amount1=amount1,
            tx_hash=None if tx == NO_HASH else tx,
        )
        for block_number, log_index, time_s, form, emitter, pool_id, amount0, amount1, tx in zip(
            trades.block_number.tolist(),
            trades.log_index.tolist(),
            trades.time_s.tolist(),
            trades.form.tolist(),
            encode_hex(trades.emitter),
            encode_hex(trades.pool_id),
            trades.amount0.tolist(),
            trades.amount1.tolist(),
            keys_of(trades.tx_hash),
            strict=True,
        )
    ]
