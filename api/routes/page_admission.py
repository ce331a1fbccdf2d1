"""Admission of pages that are simulated when they are asked for.

One costs the node about what an analysis costs, so it is admitted as one: counted on the key of the
signed-in account, or on the network of somebody without one.
"""

from typing import Any

from litestar import Request

from api.auth.limits import KeyLimits
from api.auth.public_limits import PublicLimits
from api.auth.robots import is_robot
from api.deps import ApiDeps
from api.error_answers import AnalysesSpentError, KeyRequiredError, NotAnalysedError
from api.routes.token_page import account_caller, network_asking
from api.sign_in.browser import find_visitor

MOST_ADDRESS_CHARS = 128
"""Of an address that a page repeats."""


async def admit_quote(request: Request[Any, Any, Any], slug: str) -> None:
    """Count a page that is simulated when it is asked for, as an analysis. Raises RefusalError."""
    deps: ApiDeps = request.app.state.deps
    visitor = await find_visitor(request)
    caller = None if visitor is None else await account_caller(request, visitor)
    if caller is not None:
        limits: KeyLimits = request.app.state.limits
        await limits.admit(caller)
        return
    if not deps.public.is_open:
        raise KeyRequiredError
    if is_robot(request.headers):
        raise NotAnalysedError
    public: PublicLimits = request.app.state.public_limits
    network = network_asking(request)
    await public.admit_page(network)
    wait_s = await public.take_analysis(network, slug)
    if wait_s is not None:
        raise AnalysesSpentError(retry_after_s=wait_s)
