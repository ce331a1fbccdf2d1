"""What routes and pages share whose answer is simulated when it is asked for."""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from litestar import Request, Response

from api.auth.keys import caller_of
from api.auth.limits import KeyLimits
from api.pages.page_rendering import page
from api.routes.page_admission import MOST_ADDRESS_CHARS, admit_quote
from api.routes.token import chain_of, coding_for, respond
from api.serving.answers import Answers
from api.serving.quote_answers import QuoteAnswer, quoted
from api.serving.quote_service import QuoteService
from core.errors import AssayError, TokenRefusedError

T = TypeVar("T")

AskQuotes = Callable[[QuoteService, str], Awaitable[T]]
"""Asks the service, with the slug of the chain."""


async def respond_to_quote(
    request: Request[Any, Any, Any], address: str, ask: AskQuotes[QuoteAnswer]
) -> Response[bytes]:
    """Count a call of the key, and answer what `ask` brings. Raises RefusalError."""
    limits: KeyLimits = request.app.state.limits
    await limits.admit(caller_of(request.scope))
    slug = chain_of(request)
    answer = await quoted(
        lambda: ask(request.app.state.quotes, slug),
        chain=request.app.state.answers.chain(slug),
        address=address,
        coding=coding_for(request),
    )
    return respond(answer)


async def show_quote(
    request: Request[Any, Any, Any],
    address: str,
    ask: AskQuotes[QuoteAnswer],
    *,
    template: str,
    failed: str,
) -> Response[str]:
    """Count an analysis, and render a template with what `ask` brings as `found`, or None and a
    `reason`.

    `failed`: the reason where it is no fault of the token. Raises RefusalError.
    """
    answers: Answers = request.app.state.answers
    slug = chain_of(request)
    await admit_quote(request, slug)
    found, reason, status = None, "", 200
    try:
        found = await ask(request.app.state.quotes, slug)
    except TokenRefusedError as error:
        reason, status = error.reason, error.status
    except (AssayError, TimeoutError):
        reason, status = failed, 500
    return page(
        template,
        status=status,
        chain=answers.chain(slug),
        address=address[:MOST_ADDRESS_CHARS],
        found=found,
        reason=reason,
    )
