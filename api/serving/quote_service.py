"""Answers that are simulated when they are asked for: exit quotes, who holds the liquidity, and
checks of trades.
"""

from analysis.quotes.exit_quote import ExitAsk
from analysis.quotes.unsigned_trade import TradeRefusedError, UnsignedTrade
from analysis.replay.evidence_pack import PackFile
from analysis.token.admission import admit_address
from api.deps import ApiDeps
from api.error_answers import InvalidInputError, InvalidItem
from api.formats.rendering import native_of, summary_of
from api.formats.resources.exit_format import ExitAnswer, exit_answer
from api.formats.resources.hooks_format import HooksAnswer, hooks_answer
from api.formats.resources.liquidity_format import LiquidityAnswer, liquidity_answer
from api.formats.resources.trade_format import TradeAnswer, TradeRequest, trade_answer
from api.serving.answers import Answers
from core.errors import StoreError, TokenRefusedError
from core.evm.primitives import Address, HexBytes, RawAmount

MOST_USD = 1e9
"""Largest size of a caller's own."""

_MOST_RAW = 2**256 - 1


class QuoteService:
    """Exit quotes, holders of liquidity, evidence packs and checks of trades."""

    def __init__(self, deps: ApiDeps, answers: Answers):
        self._quotes = deps.quotes
        self._answers = answers

    async def exit(
        self, *, chain: str, address: str, usd: float | None = None, amount: str | None = None
    ) -> ExitAnswer:
        """Return the quote; the token is analysed first where it has not been. `amount`: whole
        tokens as a decimal number; not together with `usd`.

        Raises InvalidInputError, TokenRefusedError, UpstreamError, InternalError, TimeoutError.
        """
        if usd is not None and amount is not None:
            raise _invalid("query", "amount", "Either usd or amount.")
        if usd is not None and not 0 < usd <= MOST_USD:
            raise _invalid("query", "usd", f"Expected more than 0, at most {MOST_USD:g}.")
        snapshot = await self._answers.snapshot(chain=chain, address=address)
        report = snapshot.report
        ask = ExitAsk(usd=usd, amount_raw=_raw(amount, decimals=report.token.decimals))
        quote = await self._quotes.quote_exit(chain, report, ask)
        return exit_answer(quote, self._answers.chain(chain), report.token)

    async def liquidity(self, *, chain: str, address: str) -> LiquidityAnswer:
        """Return who holds the liquidity; the token is analysed first where it has not been.

        Raises TokenRefusedError, UpstreamError, InternalError, TimeoutError.
        """
        snapshot = await self._answers.snapshot(chain=chain, address=address)
        found = await self._quotes.find_liquidity(chain, snapshot.report)
        return liquidity_answer(found, self._answers.chain(chain), snapshot.report.token)

    async def hooks(self, *, chain: str, address: str) -> HooksAnswer:
        """Return what the hooks of its pools may do; the token is analysed first where it has not
        been.

        Raises TokenRefusedError, UpstreamError, InternalError, TimeoutError.
        """
        snapshot = await self._answers.snapshot(chain=chain, address=address)
        found = await self._quotes.find_hooks(chain, snapshot.report)
        return hooks_answer(found, self._answers.chain(chain), snapshot.report.token)

    async def evidence_pack(self, *, chain: str, address: str) -> PackFile:
        """Return the evidence pack of an analysis made now.

        Raises TokenRefusedError, UpstreamError, EvidencePackError, TimeoutError.
        """
        return await self._quotes.record_pack(chain, admit_address(address))

    async def trade(self, *, chain: str, address: str, asked: TradeRequest) -> TradeAnswer:
        """Return the check. The verdict is of what is stored: nothing is analysed.

        Raises InvalidInputError, TokenRefusedError, UpstreamError.
        """
        token = admit_address(address)
        try:
            known = await self._answers.recall(chain=chain, address=token)
            snapshot = known.snapshot
        except (TokenRefusedError, StoreError):
            snapshot = None
        try:
            check = await self._quotes.check_trade(
                chain, None if snapshot is None else snapshot.report, _ask(token, asked)
            )
        except TradeRefusedError as error:
            raise _invalid("body", error.argument, error.reason) from error
        judged = None
        if snapshot is not None:
            summary = summary_of(snapshot, native_of(snapshot))
            judged = summary, snapshot.report.token.block_number
        return trade_answer(check, self._answers.chain(chain), token, judged=judged)


def _ask(token: Address, asked: TradeRequest) -> UnsignedTrade:
    amount = int(asked.amount_raw)
    value = None if asked.value_wei is None else int(asked.value_wei)
    if not 0 < amount <= _MOST_RAW:
        raise _invalid("body", "amount_raw", "Expected more than 0, below 2**256.")
    if value is not None and value > _MOST_RAW:
        raise _invalid("body", "value_wei", "Expected less than 2**256.")
    if int(asked.sender, 16) == 0:
        raise _invalid("body", "sender", "Nobody can sign as the zero address.")
    return UnsignedTrade(
        token=token,
        side=asked.side,
        amount_raw=RawAmount(amount),
        sender=Address(asked.sender.lower()),
        router=asked.router,
        data=None if asked.calldata is None else HexBytes(asked.calldata.lower()),
        value_wei=value,
        pays_with=None if asked.pays_with is None else Address(asked.pays_with.lower()),
    )


def _raw(amount: str | None, *, decimals: int) -> RawAmount | None:
    """Return whole tokens in smallest units, what is below one cut off. Raises
    InvalidInputError."""
    if amount is None:
        return None
    whole, _, rest = amount.partition(".")
    digits = whole + rest[:decimals].ljust(decimals, "0")
    raw = int(digits) if digits.isascii() and digits.isdigit() else 0
    if not 0 < raw <= _MOST_RAW or len(amount) > _MOST_DIGITS:
        raise _invalid("query", "amount", "Expected a decimal number of tokens above 0.")
    return RawAmount(raw)


_MOST_DIGITS = 160


def _invalid(place: str, name: str, message: str) -> InvalidInputError:
    return InvalidInputError(InvalidItem(loc=(place, name), msg=message, type="value_error"))
