"""The check of a trade as an answer: its effects on the sender."""

from typing import Annotated, Literal

import msgspec

from analysis.quotes.trade_check import CallOutcome, TradeCheck, TradeWarning
from analysis.quotes.trade_effects import AllowanceChange, SenderChange
from api.formats.shape_building import Shape
from api.formats.summary.summary import Summary, Verdict
from config.facts.chain import Chain
from core.evm.primitives import Address, checksum

AddressText = Annotated[str, msgspec.Meta(pattern="^0[xX][0-9a-fA-F]{40}$")]
AmountText = Annotated[str, msgspec.Meta(pattern="^[0-9]{1,78}$")]
DataText = Annotated[str, msgspec.Meta(pattern="^0x([0-9a-fA-F]{2})*$", max_length=65_538)]


class TradeRequest(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A trade that is about to be signed."""

    side: Literal["buy", "sell"]
    """Side of the trade, seen from the sender."""
    amount_raw: AmountText
    """Amount paid, in smallest units: of the token for a sale, of `pays_with` for a buy."""
    router: Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
    """Address of the contract that is called, or the name of an exchange."""
    sender: AddressText
    """Account that is to sign. It needs no funds: the simulation supplies them, and
    `is_hypothetical` is true."""
    calldata: DataText | None = None
    """The call as it is to be signed. None: one is made for the exchange's deepest pool, without a
    price limit."""
    value_wei: AmountText | None = None
    """Native coins sent with `calldata`. None: the amount, where a buy pays with them."""
    pays_with: AddressText | None = None
    """Token that a buy by `calldata` pays with. None: the native coin."""


class TradeApproval(Shape, frozen=True, kw_only=True):
    """An approval that the call needs and the sender has not given."""

    token: str
    """Address of the token."""
    spender: str
    """Address that is approved."""
    amount_raw: str
    """Smallest units: no more than the call takes."""
    passed: bool
    """false: the token refuses it."""


class BalanceEffect(Shape, frozen=True, kw_only=True):
    """A balance of the sender that the call changes, as reported by the contract."""

    token: str
    """Address of the contract; the zero address is the native coin, without gas."""
    before_raw: str
    """Smallest units before approval and call."""
    after_raw: str
    """Smallest units after them."""
    change_raw: str
    """Smallest units that arrive, or with a minus that leave."""


class AllowanceEffect(Shape, frozen=True, kw_only=True):
    """An allowance of the sender that the call changes, or that is open after it."""

    token: str
    """Address of the contract."""
    spender: str
    """Address that may take from the sender."""
    before_raw: str
    """Smallest units before approval and call; for all items of a collection, 1 or 0."""
    after_raw: str
    """Smallest units after them."""
    kept_by: str
    """Address of the contract that stores the allowance: the token's, or that of Permit2."""
    is_for_all: bool
    """true: the spender is an operator of all items of a collection."""


class TradeAnswer(Shape, frozen=True, kw_only=True):
    """Effects of one call on its sender, and the verdict on the token."""

    chain: str
    """Slug of the chain, however the request named it."""
    contract_address: str
    """The token's address with the checksum of EIP-55."""
    block_number: int
    """Block that the call was simulated on."""
    block_hash: str
    """Hash of that block."""
    outcome: CallOutcome
    """passed covers this call at this block alone: no verdict. unknown: nothing is known."""
    reason: str
    """Why it reverts, or is not known. Empty: it passed."""
    warnings: tuple[TradeWarning, ...]
    """Warnings to read before signing. An empty list is no proof of safety. Keys are added over
    time."""
    router: str
    """Address that was called."""
    dex: str | None
    """Exchange whose router that is. None: of no configured one."""
    is_call_made_here: bool
    """true: no calldata was given."""
    is_hypothetical: bool
    """true: the sender lacks coins or tokens for it, and was given them."""
    lacks_coins: bool
    """true: the sender has too few native coins for value and gas."""
    lacks_tokens: bool
    """true: it has too few of the token that it pays with."""
    approval: TradeApproval | None
    """Approval simulated before the call. None: none is needed."""
    tax_pct: float | None
    """Percent that the token takes, by the events of pools that its report knows. None: not
    known."""
    gas_used: int | None
    """Gas of approval and call. None: not known."""
    gas_price_wei: int
    """Price of gas in the simulation."""
    balances: tuple[BalanceEffect, ...]
    """Balances that change. Empty also where nothing is known."""
    allowances: tuple[AllowanceEffect, ...]
    """Allowances that change or are open after it."""
    verdict: Verdict | None
    """Verdict of the token's last report. None: there is none yet."""
    verdict_reasons: tuple[str, ...]
    """Every cause of the verdict, most severe first."""
    verdict_block: int | None
    """Block of that report. None: there is none."""


def trade_answer(
    check: TradeCheck,
    chain: Chain,
    token: Address,
    *,
    last_summary: tuple[Summary, int] | None,
) -> TradeAnswer:
    """Build the answer. `last_summary`: summary and block of the last report. None: none."""
    summary, block = (None, None) if last_summary is None else last_summary
    call, approval = check.call, check.approval
    return TradeAnswer(
        chain=chain.slug,
        contract_address=checksum(token),
        block_number=check.block.number,
        block_hash=check.block.hash,
        outcome=check.outcome,
        reason=check.reason,
        warnings=check.warnings,
        router=call.call.to,
        dex=call.dex,
        is_call_made_here=call.is_ours,
        is_hypothetical=check.has_given_coins or check.has_given_tokens,
        lacks_coins=check.has_given_coins,
        lacks_tokens=check.has_given_tokens,
        approval=None
        if approval is None
        else TradeApproval(
            token=approval.token,
            spender=approval.spender,
            amount_raw=str(approval.amount_raw),
            passed=approval.passed,
        ),
        tax_pct=check.tax_pct,
        gas_used=check.gas_used,
        gas_price_wei=check.gas_price_wei,
        balances=tuple(map(_balance, check.changes)),
        allowances=tuple(map(_allowance, check.allowances)),
        verdict=None if summary is None else summary.verdict,
        verdict_reasons=() if summary is None else summary.verdict_reasons,
        verdict_block=block,
    )


def _balance(change: SenderChange) -> BalanceEffect:
    return BalanceEffect(
        token=change.token,
        before_raw=str(change.before_raw),
        after_raw=str(change.after_raw),
        change_raw=str(change.change_raw),
    )


def _allowance(change: AllowanceChange) -> AllowanceEffect:
    return AllowanceEffect(
        token=change.key.token,
        spender=change.key.spender,
        before_raw=str(change.before_raw),
        after_raw=str(change.after_raw),
        kept_by=change.key.permit2 or change.key.token,
        is_for_all=change.key.is_for_all,
    )
