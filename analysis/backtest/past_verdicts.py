"""Analysis of a token at a past block, with block and clock pinned."""

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.chain_memory import ChainMemory
from analysis.pipeline.scan import scan
from core.evm.primitives import Address, BlockRef
from core.report.report import Report


async def analyse_as_of(context: ChainContext, token: Address, block: BlockRef) -> Report:
    """Return the settled report as it would have been at a block.

    Nothing that was learnt of later blocks is used, nor any external service, which only knows
    today. Needs a node with the state of that block. Raises TokenRefusedError, UpstreamError.
    """
    pinned = msgspec.structs.replace(
        context,
        newest=lambda: block,
        now_s=lambda: float(block.time_s),
        external=None,
        memory=ChainMemory(),
    )
    *_, report = [one async for one in scan(pinned, token)]
    return report
