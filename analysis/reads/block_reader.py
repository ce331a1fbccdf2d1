"""Block reader: sends batches of reads on one pinned block."""

import asyncio
from collections.abc import Mapping

from analysis.reads.chain_reads import ContractRead
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.read_batch import ReadBatch
from analysis.reads.rpc_reads import ReadAnswer
from core.evm.primitives import Hash32


class BlockReader:
    """A node at one block, for steps that send their own reads."""

    def __init__(
        self,
        node: Node,
        *,
        block: Hash32,
        capabilities: NodeCapabilities | None = None,
        memory: Mapping[ContractRead, ReadAnswer] | None = None,
        is_patient: bool = False,
    ) -> None:
        """`capabilities` None: reads are not packed. `memory`: known answers. `is_patient`: time
        limits are ignored."""
        self._node = node
        self._is_patient = is_patient
        self._block = block
        self._capabilities = capabilities
        self._memory = memory

    def batch(self) -> ReadBatch:
        """Return an empty batch on the block."""
        return ReadBatch(self._block, memory=self._memory)

    async def send(self, batch: ReadBatch) -> None:
        """Send the batch, packed where the node accepts packs. Raises UpstreamError."""
        await batch.send(self._node, self._capabilities)

    async def send_within(self, batch: ReadBatch, seconds: float) -> None:
        """Send the batch with a time limit, which a patient reader ignores.

        Raises UpstreamError, TimeoutError.
        """
        async with asyncio.timeout(None if self._is_patient else seconds):
            await self.send(batch)
