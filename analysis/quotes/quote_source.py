"""Interface of quotes and checks, in this process or another one."""

from typing import Protocol

from analysis.quotes.exit_quote import ExitQuote, RequestedSize
from analysis.quotes.hook_inquiry import HookFindings
from analysis.quotes.limit_inquiry import LimitFindings
from analysis.quotes.liquidity_inquiry import LiquidityFindings
from analysis.quotes.opening_inquiry import OpeningFindings
from analysis.quotes.sale_census import SaleCensus
from analysis.quotes.trade_check import TradeCheck
from analysis.quotes.unsigned_trade import UnsignedTrade
from analysis.replay.evidence_pack import PackFile
from core.evm.primitives import Address
from core.report.report import Report


class Quotes(Protocol):
    """Quotes and checks, simulated on request."""

    async def quote_exit(self, chain: str, report: Report, size: RequestedSize, /) -> ExitQuote:
        """Return the exit quote of the report's token. Raises TokenRefusedError, UpstreamError."""
        ...

    async def find_liquidity(self, chain: str, report: Report, /) -> LiquidityFindings:
        """Return the liquidity holders of the report's token. Raises TokenRefusedError,
        UpstreamError."""
        ...

    async def find_hooks(self, chain: str, report: Report, /) -> HookFindings:
        """Return the findings about the hooks of its pools. Raises TokenRefusedError,
        UpstreamError."""
        ...

    async def take_census(self, chain: str, report: Report, /) -> SaleCensus:
        """Return the sales of the token's real holders. Raises TokenRefusedError, UpstreamError."""
        ...

    async def find_limits(self, chain: str, report: Report, /) -> LimitFindings:
        """Return the limits of its trades. Raises TokenRefusedError, UpstreamError."""
        ...

    async def find_opening(self, chain: str, report: Report, /) -> OpeningFindings:
        """Return the opening of a token without a pool. Raises TokenRefusedError, UpstreamError."""
        ...

    async def record_pack(self, chain: str, token: Address, /) -> PackFile:
        """Return the evidence pack of a new analysis. Raises TokenRefusedError,
        UpstreamError, EvidencePackError."""
        ...

    async def check_trade(
        self, chain: str, report: Report | None, trade: UnsignedTrade, /
    ) -> TradeCheck:
        """Return the effects of a trade. Raises TradeRefusedError, TokenRefusedError,
        UpstreamError."""
        ...
