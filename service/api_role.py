"""The role `api`: answers requests."""

import asyncio
import time
from contextlib import AsyncExitStack, aclosing

from analysis.market.last_trade_price import StoredTrades
from analysis.market.native_price import anchor_prices
from analysis.market.token_price import TokenPrice, find_price
from analysis.quotes.chain_quotes import ChainQuotes
from analysis.token.contract_clock import ContractClock
from api.app import create_app
from api.deps import ApiDeps, Prefill, StatusDeps
from api.serving.cached_answer_app import CachedAnswerApp
from config.plans import load_plans
from core.report import Report
from service.analysis_parts import AnalysisParts
from service.followed_state import clock_of
from service.shared_parts import SharedParts


async def open_api(
    stack: AsyncExitStack,
    parts: SharedParts,
    analysis: AnalysisParts,
    status: StatusDeps,
    *,
    prefill: Prefill | None,
    closing: asyncio.Event,
) -> CachedAnswerApp:
    """Build the application, until the stack is closed. `closing`: set when the server ends."""
    settings = parts.settings
    by_slug = {context.chain.slug: context.chain for context in analysis.contexts.values()}
    trades = StoredTrades(
        parts.store,
        lambda chain: anchor_prices(
            chain, analysis.contexts[chain.slug].memory.recall_native_usd()
        ),
    )

    def read_clock(slug: str) -> ContractClock | None:
        chain = by_slug[slug]
        return clock_of(chain, parts.statuses.get(chain.id))

    async def read_price(slug: str, report: Report) -> TokenPrice | None:
        return await find_price(
            by_slug[slug],
            report,
            market_data=analysis.outside.market_data,
            now_s=time.time(),
            trades=trades,
        )

    quotes = ChainQuotes(
        analysis.contexts,
        concurrency=settings.analysis.concurrency,
        signing_key=settings.signing_key,
    )
    return create_app(
        ApiDeps(
            analysis=analysis.asked,
            quotes=await stack.enter_async_context(aclosing(quotes)),
            ledger=parts.ledger,
            chains=parts.chains,
            served=frozenset(analysis.contexts),
            plans=load_plans(),
            settings=settings.api,
            store=parts.store,
            watches=settings.watches,
            stop=closing,
            public=settings.public,
            liquid_above_usd=settings.analysis.min_liquidity_usd,
            has_owner_simulation=settings.analysis.owner_simulation,
            has_billing=settings.billing_secret is not None,
            redis_url=settings.redis_url,
            batch_wait_s=settings.analysis.wait_s,
            oidc=settings.oidc,
            sign_in=settings.sign_in,
            read_clock=read_clock,
            read_price=read_price,
            prefill=prefill,
            read_states=status.read_states,
            read_store_state=status.read_store_state,
            is_ending=status.is_ending,
            follows=status.follows,
            metrics=status.metrics,
            metrics_token=settings.metrics_token,
            jobs=parts.limits,
        )
    )
