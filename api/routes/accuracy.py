"""GET /accuracy and its page: agreement of predictions with real trades."""

from typing import Annotated, Any, Final

from litestar import Request, Response, get
from litestar.params import Parameter, QueryParameter

from api.auth.keys import require_key
from api.auth.networks import network_of
from api.auth.public_limits import PublicLimits
from api.deps import ApiDeps
from api.error_answers import (
    ChainNotServedError,
    DetailBody,
    InvalidInputError,
    InvalidItem,
    KeyRequiredError,
    LedgerDownError,
    StoreDownError,
    ValidationBody,
)
from api.formats.accuracy_format import DAYS, GROUP_KEYS, AccuracyAnswer, GroupKey
from api.openapi.responses import MALFORMED, NO_KEY, documented, unknown_value
from api.pages.page_rendering import page
from api.served_chains import CHAIN_HELP, find_chain
from api.serving.accuracy_service import AccuracyService
from api.sign_in.browser import find_visitor
from core.errors import StoreError
from core.report.accuracy import PredictionFlag

_OF_PAGE: tuple[GroupKey, ...] = ("chain", "venue", "flag", "age")
_PAGE_DAYS = 30
_ROWS = 25
"""Rows of each table on one page."""

FLAG_WORDS: Final[dict[PredictionFlag, str]] = {
    "buy_success": "Buy works",
    "sell_success": "Sale works",
    "transfer_success": "Transfer works",
    "buy_tax": "Tax on buys",
    "sell_tax": "Tax on sales",
}
"""Field that predicts -> its words on the page."""

Days = Annotated[int, Parameter(description="Span in days: 1, 7, 30 or 90, today included.")]
By = Annotated[
    str,
    Parameter(
        description="What to group by, separated by commas: chain, venue, flag, age.",
    ),
]
ChainAsked = Annotated[
    str,
    Parameter(
        description=f"{CHAIN_HELP}. Empty: all chains.",
        schema_extra={"examples": [""]},
    ),
]


@get(
    "/accuracy",
    guards=[require_key],
    security=[{"ApiKey": []}],
    operation_id="getAccuracy",
    summary="How often predictions came true in real trades",
    tags=["tokens"],
    responses={
        200: documented(AccuracyAnswer, "Observations and disagreements, with evidence"),
        400: MALFORMED,
        401: NO_KEY,
        422: documented(
            ValidationBody,
            "A parameter is wrong",
            unknown_group=unknown_value(
                "query", "by", message="Any of chain, venue, flag, age.", kind="value_error"
            ),
        ),
        503: documented(
            DetailBody,
            "The store, or the ledger of keys, is out of reach; or the chain is not served",
            store_down=StoreDownError(),
            ledger_down=LedgerDownError(),
            chain_not_served=ChainNotServedError(slug="chain_8453"),
        ),
    },
)
async def get_accuracy(
    request: Request[Any, Any, Any],
    days: Days = 30,
    by: By = "chain,flag",
    chain: ChainAsked = "",
) -> Response[AccuracyAnswer]:
    """Compares each prediction of a stored report with the trades and transfers that followed on
    the chain. Does not count as a call; up to a minute old."""
    deps: ApiDeps = request.app.state.deps
    if days not in DAYS:
        _refuse("days", "One of 1, 7, 30, 90.")
    keys = [key for key in GROUP_KEYS if key in by.split(",")]
    if len(keys) != len(by.split(",")):
        _refuse("by", f"Any of {', '.join(GROUP_KEYS)}, each once.")
    slug = find_chain(deps, chain, place="query") if chain else None
    answer = await _answer(request, days=days, by=keys, chain=slug)
    return Response(answer, headers={"Cache-Control": "no-store"})


@get("/ledger", include_in_schema=False)
async def show_accuracy(
    request: Request[Any, Any, Any], number: Annotated[int, QueryParameter(name="page")] = 1
) -> Response[str]:
    """The same for the last thirty days, as pages: one figure over all, then groups and cases."""
    deps: ApiDeps = request.app.state.deps
    if await find_visitor(request) is None:
        limits: PublicLimits = request.app.state.public_limits
        await limits.admit_page(network_of(request))
        if not deps.public.is_open:
            raise KeyRequiredError
    answer = await _answer(request, days=_PAGE_DAYS, by=_OF_PAGE, chain=None)
    overall = await _answer(request, days=_PAGE_DAYS, by=(), chain=None)
    lists = (answer.groups, answer.disagreements, answer.outcomes, answer.disputes)
    rows = max(map(len, lists))
    last = max(1, -(-rows // _ROWS))
    shown = min(max(number, 1), last)
    part = slice((shown - 1) * _ROWS, shown * _ROWS)
    return page(
        "accuracy.html",
        days=answer.days,
        overall=overall.groups[0] if overall.groups else None,
        groups=answer.groups[part],
        cases=answer.disagreements[part],
        chain_names={chain.slug: chain.display_name for chain in deps.chains},
        flag_words=FLAG_WORDS,
        outcomes=answer.outcomes[part],
        disputes=answer.disputes[part],
        number=shown,
        last=last,
    )


async def _answer(
    request: Request[Any, Any, Any],
    *,
    days: int,
    by: list[GroupKey] | tuple[GroupKey, ...],
    chain: str | None,
) -> AccuracyAnswer:
    service: AccuracyService | None = request.app.state.accuracy
    if service is None:
        raise StoreDownError
    try:
        return await service.answer(days=days, by=by, chain=chain)
    except StoreError as error:
        raise StoreDownError from error


def _refuse(name: str, message: str) -> None:
    raise InvalidInputError(InvalidItem(loc=("query", name), msg=message, type="value_error"))
