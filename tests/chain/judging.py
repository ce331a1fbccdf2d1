"""The service's judgement of one token, for tests to compare with the world."""

from analysis.pipeline.chain_context import Desk
from analysis.pipeline.scan import scan
from config.primitives import Address
from sql.rows import Report


async def judge(desk: Desk, token: Address) -> Report:
    """The settled report."""
    *_, report = [report async for report in scan(desk, token)]
    return report
