"""Decoder of `eth_getBlockReceipts` answers: the logs of a whole block."""

import itertools

import msgspec

from core.process.arrays import ByteArray
from core.rpc.failures import IllFormedError
from core.rpc.log_answers import WireLog
from indexer.decode.hex_columns import decode_hex
from indexer.decode.log_columns import HASH_BYTES, LogColumns, in_chain_order
from indexer.decode.logs import columns_of


class BlockReceipts(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Log-related part of one block's receipts."""

    block_hashes: ByteArray
    """Hash of the block in each receipt, uint8[n, 32]."""
    logs: LogColumns
    """All logs of the block, with any topics."""


class _WireReceipt(msgspec.Struct, rename="camel", gc=False):
    block_hash: str
    logs: list[WireLog]


_decoder = msgspec.json.Decoder(list[_WireReceipt] | None)


def decode_receipts(body: bytes | msgspec.Raw) -> BlockReceipts | None:
    """Decode the receipts of a block. None: the node does not have the block.

    Raises ValueError (msgspec's errors are among them) for anything other than a list of receipts
    with well-formed logs.
    """
    try:
        receipts = _decoder.decode(body)
    except RecursionError:
        raise IllFormedError(part="receipt: it is nested too deeply") from None
    if receipts is None:
        return None
    try:
        hashes = decode_hex([receipt.block_hash for receipt in receipts], size=HASH_BYTES)
    except ValueError:
        raise IllFormedError(part="block hash of a receipt") from None
    logs = itertools.chain.from_iterable(receipt.logs for receipt in receipts)
    return BlockReceipts(block_hashes=hashes, logs=in_chain_order(columns_of([*logs])))
