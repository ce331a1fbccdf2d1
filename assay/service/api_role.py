"""The role `api`: serves requests."""

import asyncio
import time
from functools import partial

from analysis.market.native_price import anchor_prices
from analysis.market.token_price import StoredTrades, TokenPrice, find_price
from analysis.token.contract_clock import ContractClock
from api.app import create_app
from api.deps import ApiDeps, Prefill, StatusDeps
from api.serving.cached_answer_app import CachedAnswerApp
from assay.service.analysis_parts import AnalysisParts
from assay.service.followed_state import clock_of
from assay.service.shared_parts import SharedParts
from config.facts.chain import Chain
from config.plans import load_plans
from core.report.report import Report
from sql.chain.trade_tables import list_newest_trades


class _ChainReader:
    """Reads contract clocks and token prices for requests, by chain slug."""

    def __init__(self, parts: SharedParts, analysis: AnalysisParts) -> None:
        self._parts = parts
        self._analysis = analysis
        self._chains = {chain.slug: chain for chain in parts.chains}
        self._trades = StoredTrades(
            partial(list_newest_trades, parts.store),
            lambda chain: anchor_prices(chain, self._native_usd(chain)),
        )

    def read_clock(self, slug: str) -> ContractClock | None:
        """Return the contract clock of a chain. None: not known."""
        chain = self._chains[slug]
        return clock_of(chain, self._parts.statuses.get(chain.id))

    async def read_price(self, slug: str, report: Report) -> TokenPrice | None:
        """Find the price of a token. None: not known."""
        return await find_price(
            self._chains[slug],
            report,
            market_data=self._analysis.outside.market_data,
            now_s=time.time(),
            trades=self._trades,
        )

    def _native_usd(self, chain: Chain) -> float | None:
        """Return the price that an analysis read last, here or in another process."""
        context = self._analysis.contexts.get(chain.slug)
        own = None if context is None else context.memory.recall_native_usd()
        return self._parts.native_usd.get(chain.id) if own is None else own


def open_api(
    parts: SharedParts,
    analysis: AnalysisParts,
    status: StatusDeps,
    *,
    prefill: Prefill | None,
    closing: asyncio.Event,
) -> CachedAnswerApp:
    """Build the application. `closing`: set when the server ends."""
    settings = parts.settings
    chain_reader = _ChainReader(parts, analysis)
    return create_app(
        ApiDeps(
            analysis=analysis.analysis,
            quotes=analysis.quotes,
            ledger=parts.ledger,
            chains=parts.chains,
            served=parts.served,
            plans=load_plans(),
            settings=settings.api,
            store=parts.store,
            watches=settings.watches,
            stop=closing,
            public=settings.public,
            launch=settings.launch,
            launches_kept_s=settings.indexer.launches_kept_s,
            liquid_above_usd=settings.analysis.min_liquidity_usd,
            has_owner_simulation=settings.analysis.owner_simulation,
            has_liquidity_check=settings.analysis.finds_liquidity_holders,
            has_billing=settings.billing_secret is not None,
            redis_url=settings.redis_url,
            batch_wait_s=settings.analysis.wait_s,
            oidc=settings.oidc,
            sign_in=settings.sign_in,
            read_clock=chain_reader.read_clock,
            read_price=chain_reader.read_price,
            prefill=prefill,
            read_states=status.read_states,
            read_store_state=status.read_store_state,
            is_ending=status.is_ending,
            must_follow=status.must_follow,
            metrics=status.metrics,
            metrics_token=settings.metrics_token,
            jobs=parts.limits,
        )
    )
