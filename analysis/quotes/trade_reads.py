"""Reads of the sender, the contract that it calls, and what it pays with: one round trip."""

import secrets

import msgspec

from analysis.pipeline.chain_context import ChainContext
from analysis.quotes.trade_request import TradeAsk
from analysis.reads.eth_reads import decode_uint, read_word
from analysis.reads.read_batch import ReadBatch
from analysis.scenarios.trade.called_trade import SenderState, TradeCall, least_wei
from analysis.simulation.balance_slot import BalanceProbe
from analysis.simulation.disguise import Disguise
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from core.evm.primitives import Address, BlockRef, RawAmount
from core.rpc.messages import RpcRequest


class SenderReads(msgspec.Struct, frozen=True, kw_only=True):
    """What was read, at one block."""

    pin: BlockRef
    disguise: Disguise
    coins_wei: int
    held_raw: RawAmount | None
    """Of what the sender pays with. None: the native coin, or no answer."""
    needs_approval: bool
    slot_index: int | None
    """Index of the balance slot of what is paid with. None: not found, or the native coin."""
    router_has_code: bool
    sender_has_code: bool
    """True if the sender is a contract, and not an account that delegates to one."""
    sender: Address

    @classmethod
    async def fetch(
        cls, context: ChainContext, ask: TradeAsk, call: TradeCall, newest: BlockRef
    ) -> "SenderReads":
        """Read them. Raises UpstreamError."""
        batch = ReadBatch(newest.hash, needs_header=True)
        sender, paid = ask.sender, call.pays_with
        asked = RpcRequest("eth_getBalance", (sender, {"blockHash": newest.hash}))
        coins = batch.request(asked, returns=read_word)
        tips = context.memory.ask_tips(batch)
        router = batch.code(call.to, first_bytes=1)
        account = batch.code(sender, first_bytes=DELEGATION_BYTES)
        held = allowed = granted = probe = None
        if paid is not None:
            held = batch.call(paid, "balanceOf(address)", sender, returns=decode_uint)
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
            disguise=context.memory.disguise(header, ask.token),
            coins_wei=batch[coins],
            held_raw=None if held is None else RawAmount(batch[held] or 0),
            needs_approval=any(each < call.amount_raw for each in allowances),
            slot_index=None if probe is None else probe.read(),
            router_has_code=bool(batch[router]),
            sender_has_code=bool(batch[account]) and not is_delegated_account(batch[account]),
            sender=sender,
        )

    def sender_state(self, call: TradeCall) -> SenderState:
        """Return the sender with what it lacks given to it."""
        price = 2 * (self.disguise.base_fee_wei or 0) + self.disguise.tips_wei[0]
        lacks_coins = self.coins_wei < least_wei(call, gas_price_wei=price)
        lacks = self.held_raw is not None and self.held_raw < call.amount_raw
        return SenderState(
            address=self.sender,
            given_wei=max(self.coins_wei, call.value_wei) if lacks_coins else None,
            given_raw=call.amount_raw if lacks and self.slot_index is not None else None,
            slot_index=self.slot_index,
        )
