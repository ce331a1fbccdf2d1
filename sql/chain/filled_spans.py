"""Spans of old blocks whose transfers are stored, so that each transfer is stored once.

Final rows leave their table, so duplicates could not be found there. Complete transfers reach from
a block to the head; back-fills store spans below. A span of a token belongs to one back-fill, which
proceeds block by block, so two ends describe it.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence

import msgspec

from core.errors import StoreError
from sql.chain.blocks import FINAL, read_checkpoint
from sql.chain.transfer_tables import insert_transfers
from sql.engine.database import Transaction
from sql.engine.table_rows import CheckpointRow, TokenRow, TransferRow


class FilledSpan(msgspec.Struct, frozen=True, kw_only=True):
    """Blocks whose transfers of one token are stored, ends included."""

    from_block: int
    to_block: int


class FillRun(msgspec.Struct, frozen=True, kw_only=True):
    """The chunk of a back-fill that rows come from, ends included."""

    stream: str
    first: int
    last: int


def insert_old_transfers(
    tx: Transaction, rows: Sequence[TransferRow], *, chain_id: int, run: FillRun | None
) -> int:
    """Store transfers that are not stored yet, final ones included; return how many were new.

    `run` None: the rows are those right below the token's complete transfers. Raises StoreError.
    """
    final = read_checkpoint(tx, chain_id=chain_id, stream=FINAL)
    by_token: defaultdict[int, list[TransferRow]] = defaultdict(list)
    for row in rows:
        by_token[row.token_id].append(row)
    new: list[TransferRow] = []
    for token_id, own in by_token.items():
        token = tx.fetch_one("tokens/find_by_id", TokenRow, token_id=token_id)
        if token is None:
            raise StoreError(path="transfer", reason=f"there is no token {token_id}")
        stored = _stored_spans(tx, token, final=final)
        new += [row for row in own if not _is_in(stored, row.block_number)]
    if run is not None:
        note_filled(tx, by_token, run)
    return insert_transfers(tx, new, chain_id=chain_id)


def note_filled(tx: Transaction, token_ids: Iterable[int], run: FillRun) -> None:
    """Record that a chunk's transfers of these tokens are stored. Ids may repeat."""
    tx.execute_many(
        "filled/put_span",
        ((run.stream, run.first, run.last, token_id) for token_id in dict.fromkeys(token_ids)),
    )


def _stored_spans(
    tx: Transaction, token: TokenRow, *, final: CheckpointRow | None
) -> list[FilledSpan]:
    """Return the blocks whose transfers of the token are stored, and may have left their table.

    Of the follower's blocks only the final ones: the others are still in the table.
    """
    spans = tx.fetch(
        "filled/list_of_token", FilledSpan, chain_id=token.chain_id, token_id=token.token_id
    )
    if token.transfers_from_block is not None and final is not None:
        spans.append(FilledSpan(from_block=token.transfers_from_block, to_block=final.number))
    return spans


def _is_in(spans: Sequence[FilledSpan], number: int) -> bool:
    return any(span.from_block <= number <= span.to_block for span in spans)
