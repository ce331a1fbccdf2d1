"""The service's judgement of one token, for tests to compare with the world."""

from analysis.desk import Desk
from analysis.scan import scan
from config.primitives import Address
from sql.rows import Report


async def judge(desk: Desk, token: Address) -> Report:
    """The settled report."""
    *_, report = [report async for report in scan(desk, token)]
    return report
