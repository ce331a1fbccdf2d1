"""What background jobs ask of analysis, in one process or over several."""

from typing import Protocol

from analysis.pipeline.analyser import KnownReport
from core.evm.primitives import Address
from core.report.report import Report


class Refresher(Protocol):
    """Analyses tokens now, each once at a time."""

    async def recall(self, chain: str, token: Address) -> KnownReport:
        """Return what is stored or under way; nothing is analysed. Raises StoreError."""
        ...

    async def refresh(self, chain: str, token: Address, *, redecompile: bool = False) -> Report:
        """Analyse the token now and wait until the settled report has been stored.

        Raises TokenRefusedError, UpstreamError, InternalError.
        """
        ...
