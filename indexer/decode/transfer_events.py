"""Decoder of ERC-20 transfers of tracked tokens: log columns in, transfer columns out."""

import msgspec
import polars as pl

from core.abi import topic_of
from indexer.decode.undecoded import undecoded_columns
from indexer.decode.words import has_shape, is_address, to_address, to_hash, topic, word

TRANSFER_TOPIC = topic_of("Transfer(address,address,uint256)")
"""Source: EIP-20. EIP-721 has the same topic, with its third argument indexed too."""

_SENDER = topic(1)
_RECIPIENT = topic(2)
_AMOUNT = word(0)

TRACKED_SCHEMA = {"address": pl.String, "from_block": pl.Int64}
"""Columns of a frame of tracked tokens, each with the first block whose transfers are kept."""


class DecodedTransfers(msgspec.Struct, frozen=True, kw_only=True):
    """Decoded logs of tracked tokens."""

    transfers: pl.DataFrame
    """Columns block_number, log_index, token, sender, recipient, amount_raw (0x, 64 digits), in
    chain order."""
    undecoded: pl.DataFrame
    """Transfer events of tracked tokens in other shapes (EIP-721, none indexed, more data)."""


def decode_transfers(logs: pl.DataFrame, tracked: pl.DataFrame) -> DecodedTransfers:
    """Return the transfers among these logs of tokens in `tracked`, a frame of TRACKED_SCHEMA."""
    sent = (
        logs.filter(pl.col("topic0") == TRANSFER_TOPIC)
        .join(tracked, on="address", how="inner", maintain_order="left")
        .filter(pl.col("block_number") >= pl.col("from_block"))
    )
    is_plain = has_shape(topics=3, words=1) & is_address(_SENDER) & is_address(_RECIPIENT)
    transfers = sent.filter(is_plain).select(
        "block_number",
        "log_index",
        token=pl.col("address"),
        sender=to_address(_SENDER),
        recipient=to_address(_RECIPIENT),
        amount_raw=to_hash(_AMOUNT),
    )
    return DecodedTransfers(
        transfers=transfers.sort("block_number", "log_index"),
        undecoded=undecoded_columns(sent.filter(~is_plain)),
    )
