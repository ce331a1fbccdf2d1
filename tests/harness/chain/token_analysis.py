"""The service's judgement of one token, for tests to compare with the world."""

from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.scan import scan
from core.evm.primitives import Address
from core.report.report import Report


async def judge(context: ChainContext, token: Address) -> Report:
    """The settled report."""
    *_, report = [report async for report in scan(context, token)]
    return report
