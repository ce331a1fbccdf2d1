"""Writer of large final spans of a back-fill: their transfers go straight to the lake.

Three commits: everything but the transfers, then the transfers with a note in the lake, then the
checkpoint. If stopped between them, the span is written again and stored rows are left out. The
lake has transfers as sorted columns, with addresses and amounts as machine words.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Final

import msgspec
import numpy as np
import numpy.typing as npt

from config.facts.chain import Chain
from core.process.arrays import ByteArray, IndexArray, Int32Array
from indexer.block_spans import BlockSpan, GatheredSpan
from indexer.decode.transfer_events import TransferColumns
from indexer.ingest import Ingest, WrittenSpan
from sql.chain.filled_spans import FillRun, note_filled
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.lake.bulk_append import BulkRange, LakeColumns, append_transfers
from sql.lake.final_batches import FinalBatches
from sql.lake.final_events import FinalEvents

_ADDRESS = np.dtype([("high", ">u4"), ("mid", ">u8"), ("low", ">u8")])
_FEW = 2**16
"""Tokens below this are counted in 16 bits, which numpy sorts by radix, five times as fast."""


class LakeTransfers(msgspec.Struct, frozen=True, kw_only=True, eq=False):
    """Transfers and their tokens, with the column names of `sql.lake.bulk_append`."""

    transfers: LakeColumns
    """Sorted by token, block and log index."""
    tokens: LakeColumns


def to_lake(transfers: TransferColumns, token_ids: Int32Array) -> LakeTransfers:
    """Return transfers in chain order, each with the id of its token, as columns of words."""
    first = _first_of_each(token_ids)
    order = _by_token(token_ids, first, np.lexsort(transfers.token[first].T[::-1]))
    amount = transfers.amount.view(">u8")
    return LakeTransfers(
        transfers={
            "block_number": transfers.block_number[order],
            "log_index": transfers.log_index[order],
            "token_id": token_ids[order],
            **_address_words("sender_", transfers.sender, order),
            **_address_words("recipient_", transfers.recipient, order),
            **{f"word{at}": amount[:, 3 - at].astype(np.uint64)[order] for at in range(4)},
            "time_s": transfers.time_s[order],
        },
        tokens={"token_id": token_ids[first], **_address_words("", transfers.token, first)},
    )


def _first_of_each(token_ids: Int32Array) -> IndexArray:
    """Return the first row of each token, by its id."""
    rows = np.full(int(token_ids.max(initial=-1)) + 1, -1, np.intp)
    rows[token_ids[::-1]] = np.arange(token_ids.size - 1, -1, -1)
    return rows[rows >= 0]


def _by_token(token_ids: Int32Array, first: IndexArray, tokens: IndexArray) -> IndexArray:
    """Return the rows sorted by token; the sort is stable."""
    places = np.empty(
        int(token_ids.max(initial=-1)) + 1, np.uint16 if first.size < _FEW else np.int32
    )
    places[token_ids[first][tokens]] = np.arange(first.size)
    return np.argsort(places[token_ids], kind="stable")


def _address_words(
    side: str, addresses: ByteArray, rows: IndexArray
) -> dict[str, npt.NDArray[np.generic]]:
    """Return the highest 32, middle 64 and lowest 64 bits of these rows of uint8[n, 20]."""
    words = addresses.view(_ADDRESS).ravel()
    return {
        f"{side}high": words["high"].astype(np.uint32)[rows],
        f"{side}mid": words["mid"].astype(np.uint64)[rows],
        f"{side}low": words["low"].astype(np.uint64)[rows],
    }


LEAST_LOGS: Final = 50_000
"""Fewest logs of a span that are worth a separate file in the lake."""


class BulkWriter:
    """Writes spans of one back-fill of one chain. Blocking; not for concurrent use."""

    def __init__(
        self, chain: Chain, store: Store, ingest: Ingest, final: FinalEvents, *, stream: str
    ) -> None:
        self._chain = chain
        self._store = store
        self._ingest = ingest
        self._stream = stream
        self._final = final

    def write(self, gathered: GatheredSpan, *, check: Callable[[Transaction], None]) -> WrittenSpan:
        """Store a final span and move the stream's checkpoint to its end.

        `check` is called first in both transactions; it raises if the span does not continue the
        stored blocks. Raises StoreError.
        """
        with self._store.transaction(chain_id=self._chain.id) as tx:
            check(tx)
            facts = self._ingest.write_facts(
                tx, gathered.span, stream=self._stream, final=self._final
            )
        columns = to_lake(facts.found.transfers, facts.found.token_ids)
        token_ids, written = np.unique(facts.found.token_ids), facts.written
        # The sources of the columns are no longer needed, and the append needs memory.
        del facts
        gathered.drop_logs()
        span = gathered.span
        new = self._append(span, columns)
        with self._store.transaction(chain_id=self._chain.id) as tx:
            check(tx)
            note_filled(
                tx,
                token_ids.tolist(),
                FillRun(stream=self._stream, first=span.first, last=span.last),
            )
            self._ingest.finish(tx, span, stream=self._stream)
        return msgspec.structs.replace(written, transfers=new)

    def _append(self, span: BlockSpan, columns: LakeTransfers) -> int:
        with closing(FinalBatches.open(self._store.address)) as stored:
            note = append_transfers(
                self._final.opened_lake(),
                BulkRange(
                    chain_id=self._chain.id,
                    stream=self._stream,
                    from_block=span.first,
                    to_block=span.last,
                ),
                transfers=columns.transfers,
                tokens=columns.tokens,
                stored=stored,
            )
        return note.rows
