"""Rows of decoded logs, in the fast decoder's form and in the general one's."""

from collections.abc import Sequence

from indexer.decode.log_columns import NO_TIME, LogColumns
from tests.harness.indexer.log_answers import MadeLog, Written

Row = tuple[object, ...]


def rows_of(logs: LogColumns) -> list[Row]:
    """Every log's values, in the order of the answer."""
    rows: list[Row] = []
    for group in logs.groups:
        rows += [
            (
                group.position[at],
                group.block_number[at],
                group.log_index[at],
                group.time_s[at],
                group.block_hash[at].tobytes(),
                group.tx_hash[at].tobytes(),
                group.address[at].tobytes(),
                group.shape.topic0 + group.topics[at].tobytes(),
                group.data[at].tobytes(),
            )
            for at in range(len(group))
        ]
        assert group.shape.topics == len(group.topics[0]) + bool(group.shape.topic0)
        assert group.shape.data_size == group.data.shape[1]
    return sorted(rows, key=lambda row: int(str(row[0])))


def expected_rows(logs: Sequence[MadeLog], node: Written) -> list[Row]:
    return [
        (
            at,
            log.block_number,
            log.log_index,
            log.time_s if "blockTimestamp" in node.keys else NO_TIME,
            bytes.fromhex(log.block_hash),
            bytes.fromhex(log.tx_hash),
            bytes.fromhex(log.address),
            bytes.fromhex("".join(log.topics)),
            bytes.fromhex(log.data),
        )
        for at, log in enumerate(logs)
    ]
