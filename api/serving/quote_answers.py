"""Encodes answers that are simulated on demand; refusals and failures as for every token."""

from collections.abc import Awaitable, Callable

import msgspec
import structlog

from api.error_answers import RefusalError
from api.formats.rendering import render_failure, render_refusal
from api.formats.resources.exit_format import ExitAnswer
from api.formats.resources.hooks_format import HooksAnswer
from api.formats.resources.liquidity_format import LiquidityAnswer
from api.formats.resources.pack_format import PackAnswer
from api.formats.resources.trade_format import TradeAnswer
from api.serving.cached_answer import CachedAnswer
from api.serving.packing import Coding, pack, pack_once
from config.chains import Chain
from core.errors import AssayError, TokenRefusedError

QuoteAnswer = ExitAnswer | HooksAnswer | LiquidityAnswer | PackAnswer | TradeAnswer

_log = structlog.get_logger(__name__)


async def quoted(
    ask: Callable[[], Awaitable[QuoteAnswer]],
    *,
    chain: Chain,
    address: str,
    coding: Coding | None = None,
) -> CachedAnswer:
    """Return what `ask` answers, or the envelope of why there is none. Raises RefusalError."""

    async def encoded() -> CachedAnswer:
        return await pack_once(msgspec.json.encode(await ask()), coding)

    return await answered(encoded, chain=chain, address=address)


async def answered(
    ask: Callable[[], Awaitable[CachedAnswer]], *, chain: Chain, address: str
) -> CachedAnswer:
    """Return what `ask` returns, or the envelope of why there is none. Raises RefusalError."""
    try:
        return await ask()
    except TokenRefusedError as error:
        return pack(error.status, render_refusal(chain, address, "native", error))
    except RefusalError:
        raise
    except (AssayError, TimeoutError) as error:
        _log.warning("quote failed", chain=chain.slug, token=address, reason=str(error))
        return pack(500, render_failure(chain, address, "native"))
