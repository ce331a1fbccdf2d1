"""An analysis of many tokens for batch requests."""

import asyncio

from api.serving.batch_service import MOST_TOKENS
from core.evm.primitives import Address
from core.report.report import Report
from tests.harness.api.sample_reports import make_report

OTHERS = [Address(f"0x{number:040x}") for number in range(0x1000, 0x1000 + MOST_TOKENS)]


class ManyTokens:
    """Analysis with a separate outcome per token."""

    def __init__(self) -> None:
        self.outcomes: dict[str, Report | Exception] = {}
        self.slow: set[str] = set()
        self.running = 0
        self.most_running = 0
        self.requests: list[str] = []

    async def report(self, _chain: str, address: Address, /, **_: bool) -> Report:
        self.requests.append(address)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(3600 if address in self.slow else 0)
        finally:
            self.running -= 1
        outcome = self.outcomes.get(address, make_report(address=address))
        if isinstance(outcome, Exception):
            raise outcome
        return outcome
