"""Opening of a token without a pool, as an answer."""

from typing import Literal

from analysis.quotes.opening_inquiry import QUOTE_RAW, OpeningFindings
from analysis.scenarios.trade.opening import OpeningOutcome
from analysis.simulation.simulate_v1 import Outcome, Passed, Refused
from api.formats.amounts import decimal_text
from api.formats.prose.function_names import function_name
from api.formats.resources.simulated_outcome import (
    OutcomeWord,
    outcome_reason,
    outcome_tax,
    outcome_word,
)
from api.formats.shape_building import Shape
from config.facts.chain import Chain
from core.evm.primitives import Address, checksum
from core.report.report import ReportRow

_COIN_DECIMALS = 18


class OpeningTrade(Shape, frozen=True, kw_only=True):
    """One simulated trade in the simulated pair."""

    outcome: OutcomeWord
    """refused: the token reverts it. unknown: it was not simulated."""
    tax_pct: float | None
    """Percent. None: it did not pass, or is not computable from the amounts."""
    reason: str
    """Reason of a trade that did not pass. Empty: it did."""


class OpeningTrades(Shape, frozen=True, kw_only=True):
    """Trades of a fresh account in the simulated pair."""

    buy: OpeningTrade
    """A buy for a hundredth of the pair's coins."""
    sale: OpeningTrade
    """A sale of a quarter of it, two blocks later."""
    later_sale: OpeningTrade
    """A sale of an eighth of it, a day later."""


class OpeningAct(Shape, frozen=True, kw_only=True):
    """The call that opens trading."""

    function: str
    """Selector of the function."""
    signature: str | None
    """Its likely signature. None: not in the table of usual ones."""
    sender: str
    """Account that may send it."""
    sender_kind: Literal["owner", "creator", "other"]
    """Part of that account by the report; of an owner that is the creator, owner."""
    creates_pool: bool
    """true: the call itself creates the pair, with what the token contract has."""


class OpeningAnswer(Shape, frozen=True, kw_only=True):
    """Opening of a token without a pool. No verdict depends on it, and no pool exists."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block whose state everything was simulated on."""
    block_hash: str
    """Hash of that block."""
    dex: str
    """Exchange of the pair that exists in the simulations only. Empty: none was created."""
    simulated_coins: str
    """Wrapped coins in that pair; they are no liquidity."""
    needs_call: bool | None
    """false: a buy passes without a call. true: it does not. None: not found out."""
    summary: str
    """One sentence. Empty: nothing was simulated."""
    call: OpeningAct | None
    """The call after which trades pass. None: none is needed, or none was found."""
    trades: OpeningTrades | None
    """Trades after it, or without a call. None: nothing opens trading."""
    trades_before: OpeningTrades | None
    """Trades without a call. None: no pair could be created without one."""
    functions_tried: int
    """Functions that were tried."""
    reason: str
    """Reason why nothing was simulated. Empty: something was."""


def opening_answer(found: OpeningFindings, chain: Chain, token: ReportRow) -> OpeningAnswer:
    """Return the answer for one token."""
    opening = found.opening
    call = None if opening is None else _act(opening, token)
    return OpeningAnswer(
        chain=chain.slug,
        contract_address=checksum(token.address),
        block_number=found.block.number,
        block_hash=found.block.hash,
        dex=found.dex,
        simulated_coins=decimal_text(QUOTE_RAW, decimals=_COIN_DECIMALS) if found.dex else "0",
        needs_call=found.needs_call,
        summary=_sentence(found, call),
        call=call,
        trades=None if opening is None else _trades(opening),
        trades_before=None if found.before is None else _trades(found.before),
        functions_tried=found.tried,
        reason=found.reason,
    )


def _act(opening: OpeningOutcome, token: ReportRow) -> OpeningAct | None:
    call = opening.call
    if call is None:
        return None
    kinds: dict[Address | None, Literal["owner", "creator"]] = {token.creator_address: "creator"}
    kinds[token.owner_address] = "owner"
    return OpeningAct(
        function=call.selector,
        signature=function_name(call.selector),
        sender=checksum(call.sender),
        sender_kind=kinds.get(call.sender, "other"),
        creates_pool=call.makes_pool,
    )


def _sentence(found: OpeningFindings, call: OpeningAct | None) -> str:
    opening = found.opening
    if found.needs_call is None:
        return ""
    if opening is None:
        return "No call was found that opens trading."
    if call is None:
        start = "Trading is open"
    else:
        name = call.signature or call.function
        starts = {"owner": f"The owner's call {name}", "creator": f"The creator's call {name}"}
        start = starts.get(call.sender_kind, f"The call {name} of {call.sender}")
        start += " opens trading"
    buys, sales, later = map(_words, (opening.buy, opening.sale, opening.later_sale))
    return f"{start}. Buys then {buys}, and sales {sales}. A day later, sales {later}."


def _words(outcome: Outcome) -> str:
    if isinstance(outcome, Refused):
        return "are refused"
    if not isinstance(outcome, Passed):
        return "were not simulated"
    if outcome.tax is None:
        return "pass"
    return f"are taxed {outcome.tax:g} %" if outcome.tax else "pass untaxed"


def _trades(outcome: OpeningOutcome) -> OpeningTrades:
    return OpeningTrades(
        buy=_trade(outcome.buy),
        sale=_trade(outcome.sale),
        later_sale=_trade(outcome.later_sale),
    )


def _trade(outcome: Outcome) -> OpeningTrade:
    return OpeningTrade(
        outcome=outcome_word(outcome),
        tax_pct=outcome_tax(outcome),
        reason=outcome_reason(outcome),
    )
