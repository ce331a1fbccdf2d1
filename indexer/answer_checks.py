"""Consistency checks of a node's answers: headers against each other, logs against headers and
query.

Each check raises DisagreementError, which names both requests. The hash of a header is not
recomputed, as chains differ in what they hash. Missing logs are suspected only where a block that
was read by hash has none at all.
"""

from collections.abc import Iterable, Sequence
from functools import lru_cache

import polars as pl
from eth_utils.crypto import keccak

from core.primitives import Address, BlockRef, Hash32
from core.rpc.failures import DisagreementError
from core.rpc.headers import Header, LogsBloom

_BLOOM_BITS = 2048


def check_number(header: Header, *, asked: int) -> None:
    """Check that the block at a height has that height."""
    if header.number != asked:
        raise DisagreementError(
            first=f"eth_getBlockByNumber({asked})",
            second="its answer",
            difference=f"it is block {header.number}",
        )


def check_link(parent: BlockRef, child: BlockRef) -> None:
    """Check that the child is one higher and has the parent's hash."""
    if child.number != parent.number + 1 or child.parent_hash != parent.hash:
        raise DisagreementError(
            first=f"block {parent.number} ({parent.hash})",
            second=f"block {child.number} ({child.hash})",
            difference=f"the parent of the second is {child.parent_hash}",
        )


def check_block_logs(logs: pl.DataFrame, header: Header, *, topics: Sequence[Hash32]) -> None:
    """Check that logs read by block hash are of that block, in order, of the topics, and in its
    bloom filter."""
    asked = f"eth_getLogs(block {header.ref.hash})"
    _check_topics(logs, topics=topics, asked=asked)
    _check_order(logs, asked=asked)
    _check_within(logs, first=header.number, last=header.number, asked=asked)
    _check_hash(logs, header, asked=asked)
    for text in _distinct(logs, "address", "topic0"):
        if not may_contain(header.logs_bloom, text):
            raise DisagreementError(
                first=asked,
                second=f"the header of block {header.number}",
                difference=f"a log has {text}, which its bloom filter excludes",
            )


def check_range_logs(
    logs: pl.DataFrame,
    *,
    first: int,
    last: int,
    topics: Sequence[Hash32],
    headers: Iterable[Header],
    address: Address | None = None,
) -> None:
    """Check that logs read by range lie in it, in order, of the topics, with one hash a block, as
    in `headers`.

    `address`: the only contract whose logs were queried. None: any.
    """
    asked = f"eth_getLogs({first} to {last})"
    _check_topics(logs, topics=topics, asked=asked)
    _check_order(logs, asked=asked)
    _check_within(logs, first=first, last=last, asked=asked)
    strangers = set(_distinct(logs, "address")) - {address}
    if address is not None and strangers:
        raise DisagreementError(
            first=asked,
            second="its answer",
            difference=f"a log is of {min(strangers)}, which was not asked for",
        )
    if logs.select(pl.struct("block_number", "block_hash").n_unique()).item() != (
        logs.select(pl.col("block_number").n_unique()).item()
    ):
        raise DisagreementError(
            first=asked, second="itself", difference="one block number has two hashes"
        )
    for header in headers:
        own = logs.filter(pl.col("block_number") == header.number)
        check_block_logs(own, header, topics=topics)


def is_suspiciously_empty(logs: pl.DataFrame, header: Header, *, topics: Sequence[Hash32]) -> bool:
    """True if there are no logs at all, although the bloom filter contains one of the topics.

    The filter has false positives, so this is a reason to ask again, not an error.
    """
    return logs.is_empty() and any(may_contain(header.logs_bloom, text) for text in topics)


def may_contain(bloom: LogsBloom, text: str) -> bool:
    """True if a bloom filter may contain an address or topic; False is certain.

    Source: the Yellow Paper, section 4.4.3 (three 11-bit indices from the item's keccak256).
    """
    mask = _bloom_mask(text)
    return bloom & mask == mask


@lru_cache(maxsize=65_536)
def _bloom_mask(text: str) -> int:
    digest = keccak(hexstr=text)
    mask = 0
    for at in (0, 2, 4):
        mask |= 1 << (int.from_bytes(digest[at : at + 2], "big") % _BLOOM_BITS)
    return mask


def _distinct(logs: pl.DataFrame, *columns: str) -> list[str]:
    return [text for column in columns for text in logs[column].unique().to_list()]


def _check_topics(logs: pl.DataFrame, *, topics: Sequence[Hash32], asked: str) -> None:
    strange = set(_distinct(logs, "topic0")) - set(topics)
    if strange:
        raise DisagreementError(
            first=asked,
            second="its answer",
            difference=f"topic {min(strange) or 'none'} was not asked for",
        )


def _check_order(logs: pl.DataFrame, *, asked: str) -> None:
    before, after = pl.col("block_number").shift(1), pl.col("block_number")
    ascends = (after > before) | (
        (after == before) & (pl.col("log_index") > pl.col("log_index").shift(1))
    )
    if not logs.select(ascends.all(ignore_nulls=True)).item():
        raise DisagreementError(
            first=asked, second="itself", difference="logs are out of order, or one comes twice"
        )


def _check_within(logs: pl.DataFrame, *, first: int, last: int, asked: str) -> None:
    outside = logs.filter(~pl.col("block_number").is_between(first, last))
    if not outside.is_empty():
        raise DisagreementError(
            first=asked,
            second="its answer",
            difference=f"a log is of block {outside['block_number'][0]}",
        )


def _check_hash(logs: pl.DataFrame, header: Header, *, asked: str) -> None:
    others = logs.filter(pl.col("block_hash") != header.ref.hash)
    if not others.is_empty():
        raise DisagreementError(
            first=asked,
            second=f"the header of block {header.number} ({header.ref.hash})",
            difference=f"a log is of block {others['block_hash'][0]}",
        )
