"""Trade check: effects of one unsigned call on its sender.

One round trip of reads, one of the simulation, and one more where events name contracts that were
not read yet. A call that is made here for a known exchange needs the token's pools first.
"""

import secrets
from collections.abc import Sequence
from typing import Final, Literal

import msgspec

from analysis.market.venues.pool import Candidate
from analysis.market.venues.swaps import uniswap_v4_swap
from analysis.market.venues.venue_registry import venue_of
from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.trade_effects import (
    AllowanceChange,
    SenderChange,
    also_named,
    gas_of,
    logged_change,
    read_allowances,
    read_balances,
)
from analysis.quotes.unsigned_trade import UnsignedCall, UnsignedTrade, given_call, made_call
from analysis.reads.eth_reads import decode_uint, read_word
from analysis.reads.read_batch import ReadBatch
from analysis.reads.revert_reason import decode_revert
from analysis.scenarios.trade.called_trade import (
    AllowanceKey,
    CalledTrade,
    SenderState,
    TradeCall,
    WatchedReads,
    least_wei,
    write_called_trade,
)
from analysis.scenarios.trade.trade_outcome import HEAVY_TAX_PCT
from analysis.simulation.backends import perform
from analysis.simulation.balance_slot import BalanceProbe
from analysis.simulation.block_schedule import next_blocks
from analysis.simulation.disguise import Disguise
from analysis.simulation.eth_call_backend import SimulationJob
from analysis.simulation.simulate_v1 import NotSimulated, SimLog, SimulationResult
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from config.facts.chain import Dex
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, RawAmount
from core.report.report import Report
from core.rpc.messages import RpcRequest


class SenderReads(msgspec.Struct, frozen=True, kw_only=True):
    """State of sender and router at one block."""

    pin: BlockRef
    disguise: Disguise
    coins_wei: int
    held_raw: RawAmount | None
    """Balance of the token that pays. None: the native coin, or no answer."""
    needs_approval: bool
    slot_index: int | None
    """Index of the balance slot of that token. None: not found, or the native coin."""
    router_has_code: bool
    sender_has_code: bool
    """True if the sender is a contract, and not an account that delegates to one."""
    sender: Address

    @classmethod
    async def fetch(
        cls, context: ChainContext, trade: UnsignedTrade, call: TradeCall, newest: BlockRef
    ) -> "SenderReads":
        """Read the state. Raises UpstreamError."""
        batch = ReadBatch(newest.hash, needs_header=True)
        sender, paid = trade.sender, call.pays_with
        balance = RpcRequest("eth_getBalance", (sender, {"blockHash": newest.hash}))
        coins = batch.request(balance, returns=read_word)
        tips = context.memory.request_tips(batch)
        router = batch.code(call.to, first_bytes=1)
        account = batch.code(sender, first_bytes=DELEGATION_BYTES)
        balance_read = allowed = granted = probe = None
        if paid is not None:
            balance_read = batch.call(paid, "balanceOf(address)", sender, returns=decode_uint)
            names = "allowance(address,address)"
            allowed = batch.call(paid, names, sender, call.spender, returns=decode_uint)
            probe = BalanceProbe(batch, paid, Address("0x" + secrets.token_hex(20)))
        if paid is not None and call.permit2 is not None:
            names = "allowance(address,address,address)"
            granted = batch.call(call.permit2, names, sender, paid, call.to, returns=decode_uint)
        await batch.send(context.node, context.capabilities)
        if tips is not None:
            context.memory.remember_tips(batch[tips])
        header = batch.header
        context.memory.remember_proposer(header.proposer)
        allowances = [batch[each] or 0 for each in (allowed, granted) if each is not None]
        return cls(
            pin=header.ref,
            disguise=context.memory.disguise(header, trade.token),
            coins_wei=batch[coins],
            held_raw=None if balance_read is None else RawAmount(batch[balance_read] or 0),
            needs_approval=any(each < call.amount_raw for each in allowances),
            slot_index=None if probe is None else probe.read(),
            router_has_code=bool(batch[router]),
            sender_has_code=bool(batch[account]) and not is_delegated_account(batch[account]),
            sender=sender,
        )

    def sender_state(self, call: TradeCall) -> SenderState:
        """Return the sender, funded with the coins and tokens that it lacks."""
        price = 2 * (self.disguise.base_fee_wei or 0) + self.disguise.tips_wei[0]
        lacks_coins = self.coins_wei < least_wei(call, gas_price_wei=price)
        lacks = self.held_raw is not None and self.held_raw < call.amount_raw
        return SenderState(
            address=self.sender,
            given_wei=max(self.coins_wei, call.value_wei) if lacks_coins else None,
            given_raw=call.amount_raw if lacks and self.slot_index is not None else None,
            slot_index=self.slot_index,
        )


CallOutcome = Literal["passed", "reverted", "unknown"]

TradeWarning = Literal[
    "reverts",
    "heavy_tax",
    "nothing_arrives",
    "pays_more",
    "other_token_leaves",
    "allowance_to_other",
    "allowance_left",
    "allowance_for_all",
    "events_disagree",
    "router_has_no_code",
    "router_is_token",
    "sender_has_code",
    "hypothetical",
    "not_all_read",
]
"""Warnings before signing. Their absence is no proof of safety."""

_DUST: Final = 1_000
"""Smallest units: a smaller difference between the agreed and the real payment is rounding."""


class Approval(msgspec.Struct, frozen=True, kw_only=True):
    """An approval that the call needs and the sender has not given; it was simulated before."""

    token: Address
    spender: Address
    amount_raw: RawAmount
    passed: bool


class TradeCheck(msgspec.Struct, frozen=True, kw_only=True):
    """Effects of the call at one block."""

    block: BlockRef
    call: UnsignedCall
    outcome: CallOutcome
    reason: str
    """Reason for a revert or an unknown outcome. Empty: it passed."""
    approval: Approval | None
    """None: none is needed."""
    has_given_coins: bool
    """True if the sender lacks native coins, and was given them."""
    has_given_tokens: bool
    """True if the sender lacks the token that it pays with, and was given it."""
    gas_used: int | None
    """Gas of approval and call. None: not known, as is the change of the native coin then."""
    gas_price_wei: int
    changes: tuple[SenderChange, ...] = ()
    """Balances of the sender that changed. Empty also where the outcome is not known."""
    allowances: tuple[AllowanceChange, ...] = ()
    tax_pct: float | None = None
    """Percent that the token took, by the events of pools that its report has. None: not known."""
    warnings: tuple[TradeWarning, ...] = ()


async def check_trade(
    context: ChainContext, trade: UnsignedTrade, report: Report | None
) -> TradeCheck:
    """Return the effects of the trade. `report`: the token's, for its pools; None: there is none.

    Raises TradeRefusedError, TokenRefusedError, UpstreamError.
    """
    newest = context.newest() or await context.node.fetch_head()
    if trade.data is None:
        unsigned_call = await made_call(trade, context, newest)
    else:
        unsigned_call = given_call(trade, context.chain)
    return await _Check(context, trade, unsigned_call, report).run(newest)


class _Check:
    """One running check."""

    def __init__(
        self,
        context: ChainContext,
        trade: UnsignedTrade,
        unsigned_call: UnsignedCall,
        report: Report | None,
    ) -> None:
        self._context = context
        self._trade = trade
        self._unsigned_call = unsigned_call
        self._call = unsigned_call.call
        self._report = report

    async def run(self, newest: BlockRef) -> TradeCheck:
        """Read, simulate, and conclude. Raises UpstreamError."""
        context, call = self._context, self._call
        reads = await SenderReads.fetch(context, self._trade, call, newest)
        sender, disguise = reads.sender_state(call), reads.disguise
        watched = self._watched()
        written, result = await self._simulate(reads, sender, disguise, watched)
        is_all = True
        if isinstance(result, SimulationResult):
            wider, is_all = also_named(
                watched, self._logs(written, result), self._trade.sender, permit2=self._permit2
            )
            if wider != watched:
                written, result = await self._simulate(reads, sender, disguise, wider)
        return self._conclude(reads, sender, written, result, is_all=is_all)

    async def _simulate(
        self, reads: SenderReads, sender: SenderState, disguise: Disguise, watched: WatchedReads
    ) -> tuple[CalledTrade, SimulationResult | NotSimulated]:
        context = self._context
        written = write_called_trade(
            self._call,
            sender,
            watched,
            pin=reads.pin,
            disguise=disguise,
            blocks=next_blocks(
                reads.pin,
                block_time_s=context.chain.block_time_s,
                now_s=int(context.now_s()),
                waits_s=(0,),
            ),
            needs_approval=reads.needs_approval,
        )
        job = SimulationJob(simulation=written.simulation, pool=self._call.to)
        # Without codes, nothing is simulated by eth_call, which cannot act as this sender.
        (result,) = await perform(context.node, context.capabilities, [job])
        return written, result

    @property
    def _permit2(self) -> Address | None:
        permit2 = self._context.chain.permit2
        return None if permit2 is None else permit2.address

    def _watched(self) -> WatchedReads:
        """Return the reads of every check: balances of the token, the paying token and the anchors,
        and their allowances to the router and Permit2."""
        call, chain = self._call, self._context.chain
        paid = (
            [self._trade.token] if call.pays_with is None else [self._trade.token, call.pays_with]
        )
        contracts = dict.fromkeys([*paid, *(anchor.address for anchor in chain.anchors)])
        spenders = dict.fromkeys([call.to, call.spender])
        keys = [
            AllowanceKey(token=token, spender=spender)
            for token in dict.fromkeys(paid)
            for spender in spenders
        ]
        if call.permit2 is not None and call.pays_with is not None:
            keys.append(AllowanceKey(token=call.pays_with, spender=call.to, permit2=call.permit2))
        return WatchedReads(contracts=tuple(contracts), allowances=tuple(keys))

    def _logs(self, written: CalledTrade, result: SimulationResult) -> tuple[SimLog, ...]:
        steps = (*written.approvals, written.called)
        return tuple(log for step in steps for log in result[step].logs)

    def _conclude(
        self,
        reads: SenderReads,
        sender: SenderState,
        written: CalledTrade,
        result: SimulationResult | NotSimulated,
        *,
        is_all: bool,
    ) -> TradeCheck:
        call = self._call
        base = TradeCheck(
            block=reads.pin,
            call=self._unsigned_call,
            outcome="unknown",
            reason=result.reason if isinstance(result, NotSimulated) else "",
            approval=None,
            has_given_coins=False,
            has_given_tokens=sender.given_raw is not None,
            gas_used=None,
            gas_price_wei=written.gas_price_wei,
        )
        if isinstance(result, NotSimulated):
            return base
        called = result[written.called]
        gas = gas_of(written, result)
        wei = call.value_wei + (gas or 0) * written.gas_price_wei
        approval = None
        if reads.needs_approval and call.pays_with is not None:
            approval = Approval(
                token=call.pays_with,
                spender=call.spender,
                amount_raw=call.amount_raw,
                passed=all(result[each].ok for each in written.approvals),
            )
        check = msgspec.structs.replace(
            base,
            outcome="passed" if called.ok else "reverted",
            reason="" if called.ok else decode_revert(called.data, called.message),
            approval=approval,
            has_given_coins=reads.coins_wei < wei,
            gas_used=gas,
            changes=read_balances(written, result),
            allowances=read_allowances(written, result),
        )
        logs = called.logs
        tax = self._tax(check, logs) if called.ok else None
        check = msgspec.structs.replace(check, tax_pct=tax)
        found = _warnings(check, reads, self._trade, self._logs(written, result), is_all=is_all)
        return msgspec.structs.replace(check, warnings=found)

    def _tax(self, check: TradeCheck, logs: Sequence[SimLog]) -> float | None:
        """Return the percent that the token took between the sender and its pools. None: no pool of
        its report swapped, or the amounts do not fit."""
        is_buy = self._trade.side == "buy"
        moves = [
            moved
            for candidate in _candidates(self._report, self._context.chain.dexes)
            if (moved := _moved(candidate, logs, is_buy=is_buy, router=self._call.to)) is not None
        ]
        change = next(
            (each.change_raw for each in check.changes if each.token == self._trade.token), 0
        )
        if not moves:
            return None
        if is_buy:
            sent, arrived = sum(moved for moved in moves), change
        else:
            sent, arrived = -change, sum(moved for moved in moves)
        if sent <= 0 or not 0 <= arrived <= sent:
            return None
        return round(100 * (1 - arrived / sent), 4)


def _candidates(report: Report | None, dexes: Sequence[Dex]) -> list[Candidate]:
    """Return the pools of the report, as far as their events need them."""
    by_name = {dex.name: dex for dex in dexes}
    if report is None:
        return []
    return [
        Candidate(
            dex=by_name[row.dex],
            pool=row.pool,
            token=report.token.address,
            quote=row.quote,
            pool_id=row.pool_id,
        )
        for row in report.pools or ()
        if row.dex in by_name
    ]


def _moved(
    candidate: Candidate, logs: Sequence[SimLog], *, is_buy: bool, router: Address
) -> int | None:
    """Return the tokens that the pool sent, or received in a sale. None: it did not swap."""
    trades, is_0 = venue_of(candidate.dex).router, candidate.token_is_0 != is_buy
    if trades is not None:
        moved = trades.read_moved(candidate, logs, token_in_is_0=is_0)
    else:
        moved = uniswap_v4_swap.read_moved(candidate, logs, token_in_is_0=is_0, router=router)
    if moved is None:
        return None
    return moved.sent if is_buy else moved.received


def _warnings(
    check: TradeCheck,
    reads: SenderReads,
    trade: UnsignedTrade,
    logs: Sequence[SimLog],
    *,
    is_all: bool,
) -> tuple[TradeWarning, ...]:
    call = check.call.call
    paid_in = call.pays_with or ZERO_ADDRESS
    left = {each.token: -each.change_raw for each in check.changes if each.change_raw < 0}
    arrived = {each.token for each in check.changes if each.change_raw > 0}
    passed = check.outcome == "passed"
    others = left.keys() - {paid_in}
    if call.value_wei:
        others -= {ZERO_ADDRESS}
    most = {ZERO_ADDRESS: call.value_wei, paid_in: call.amount_raw}
    is_open = [each for each in check.allowances if each.after_raw and passed]
    knows_coins = check.gas_used is not None
    known = {call.to, call.spender}
    holds: dict[TradeWarning, bool] = {
        "reverts": check.outcome == "reverted",
        "heavy_tax": check.tax_pct is not None and check.tax_pct >= HEAVY_TAX_PCT,
        "nothing_arrives": passed
        and not (trade.token in arrived if trade.side == "buy" else arrived - {trade.token})
        and (knows_coins or trade.side == "buy"),
        "pays_more": any(
            amount > most.get(token, amount) + _DUST for token, amount in left.items()
        ),
        "other_token_leaves": bool(others),
        "allowance_to_other": any(
            each.key.spender not in known and each.before_raw < each.after_raw for each in is_open
        ),
        "allowance_left": any(
            each.key.spender in known
            and each.key.permit2 is None
            and each.key.token != call.permit2
            for each in is_open
        ),
        "allowance_for_all": any(each.key.is_for_all for each in is_open),
        "events_disagree": passed and _events_disagree(check, trade, logs),
        "router_has_no_code": not reads.router_has_code,
        "router_is_token": call.to == trade.token,
        "sender_has_code": reads.sender_has_code,
        "hypothetical": check.has_given_coins or check.has_given_tokens,
        "not_all_read": not is_all or not knows_coins,
    }
    return tuple(warning for warning, is_held in holds.items() if is_held)


def _events_disagree(check: TradeCheck, trade: UnsignedTrade, logs: Sequence[SimLog]) -> bool:
    """True if the token's events contradict the change of the sender's balance."""
    change = next((each.change_raw for each in check.changes if each.token == trade.token), 0)
    return logged_change(logs, trade.token, trade.sender) != change
