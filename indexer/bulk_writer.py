"""Writer of large final spans of a back-fill: their transfers go straight to the lake.

Three commits: everything but the transfers, then the transfers with a note in the lake, then the
checkpoint. If stopped between them, the span is written again and stored rows are left out.
"""

from collections.abc import Callable
from contextlib import closing
from typing import Final

import msgspec
import numpy as np

from config.facts.chain import Chain
from indexer.bulk_columns import LakeTransfers, to_lake
from indexer.ingest import Ingest, WrittenSpan
from indexer.reads import BlockSpan, GatheredSpan
from sql.chain.filled_spans import FillRun, note_filled
from sql.engine.database import Transaction
from sql.engine.store import Store
from sql.lake.bulk_append import BulkRange, append_transfers
from sql.lake.final_batches import FinalBatches
from sql.lake.final_events import FinalEvents

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
