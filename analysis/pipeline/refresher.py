"""Interface of analysis for background jobs, in one process or a fleet."""

from typing import Protocol

from analysis.pipeline.analyser import KnownReport
from core.evm.primitives import Address
from core.report.report import Report


class Refresher(Protocol):
    """Analyses tokens at once; one run per token at a time."""

    async def recall(self, chain: str, token: Address) -> KnownReport:
        """Return what is stored or running, without an analysis. Raises StoreError."""
        ...

    async def refresh(self, chain: str, token: Address, *, redecompile: bool = False) -> Report:
        """Analyse the token now and wait until the settled report has been stored.

        Raises TokenRefusedError, UpstreamError, InternalError.
        """
        ...
