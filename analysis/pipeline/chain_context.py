"""Chain context: what all analyses of one chain are given; frozen, but for what its parts learn."""

from collections.abc import Callable, Mapping, MutableMapping

import msgspec
from cachetools import LRUCache

from analysis.external.connect import ExternalServices
from analysis.pipeline.chain_memory import ChainMemory
from analysis.pipeline.stages import StageObserver
from analysis.reads.block_reader import BlockReader
from analysis.reads.chain_reads import ContractRead
from analysis.reads.indexed_facts import FactsIndex
from analysis.reads.node import Node
from analysis.reads.node_capabilities import NodeCapabilities
from analysis.reads.rpc_reads import ReadAnswer
from analysis.static.analyse_code import CodeAnalysis
from analysis.static.result_cache import StaticResultCache
from analysis.token.creation_findings import CreationFindings
from config.facts.chain import Chain
from config.settings import AnalysisSettings
from core.evm.primitives import Address, BlockRef, Hash32
from core.process.run_slot import lend_slot_during

_MOST_CREATIONS = 4_096


class ChainContext(msgspec.Struct, frozen=True, kw_only=True):
    """One chain's configuration, node, index, external services and memory."""

    chain: Chain
    node: Node
    index: FactsIndex
    settings: AnalysisSettings
    now_s: Callable[[], float]
    newest: Callable[[], BlockRef | None] = lambda: None
    """Returns the head where an indexer follows the chain. None: it must be fetched."""
    external: ExternalServices | None = None
    """None: no external service is used."""
    static_results: StaticResultCache = msgspec.field(default_factory=StaticResultCache)
    """Shared by all chains of a service."""
    capabilities: NodeCapabilities = msgspec.field(default_factory=NodeCapabilities)
    observe_stage: StageObserver | None = None
    """None: stages are not timed."""
    memory: ChainMemory = msgspec.field(default_factory=ChainMemory)
    creations: MutableMapping[Address, CreationFindings] = msgspec.field(
        default_factory=lambda: LRUCache(_MOST_CREATIONS)
    )
    """Findings on creations in final blocks, by token, of those analysed last."""
    is_replayable: bool = False
    """True if the node's answers alone must determine the analysis: reads are sent one by one,
    without time limits."""

    async def analyse_code(self, code: bytes, *, redecompile: bool = False) -> CodeAnalysis:
        """Return the static analysis of a code. The run's slot is lent if it takes long.

        `redecompile`: without stored results.
        """
        return await lend_slot_during(self.static_results.analyse(code, redecompile=redecompile))

    def reader(
        self, block: Hash32, *, memory: Mapping[ContractRead, ReadAnswer] | None = None
    ) -> BlockReader:
        """Return a reader of one block. `memory`: known answers."""
        return BlockReader(
            self.node,
            block=block,
            capabilities=self.capabilities,
            memory=memory,
            is_patient=self.is_replayable,
        )
