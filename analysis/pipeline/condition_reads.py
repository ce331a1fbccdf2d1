"""Reads of the code of tokens, hooks and callees, and of the storage that conditions depend on."""

import asyncio
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import partial
from typing import Final

import msgspec

from analysis.conditions.condition_plan import deciding_slots_of, slots_of
from analysis.market.pool_ranking import ValuedPool
from analysis.market.venues.state.hook_permissions import DYNAMIC_FEE, permissions_of_address
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.reads.eth_reads import read_word
from analysis.reads.read_batch import ReadBatch
from analysis.reads.storage_words import read_words
from analysis.scenarios.conditions.condition_check import CodeConditions
from analysis.static.token_model.conditions.trade_conditions import TradeConditions
from analysis.token.deployed_code import DeployedCode, analyse_deployed_code
from analysis.token.proxy_resolution import ProxyReads
from core.errors import UpstreamError
from core.evm.primitives import Address, Hash32, Selector, low_address, to_hash32
from core.report.fields.static_findings import StaticFindings
from core.report.powers import Power
from core.report.report import StateWord
from core.rpc.messages import RpcAnswer, RpcRequest

BEFORE_SWAP: Final = Selector("0x575e24b4")
_MOST_SLOTS: Final = 64
_MOST_CALLEES: Final = 16


async def read_token_conditions(
    context: ChainContext, token: Address, code: DeployedCode, *, block: Hash32
) -> CodeConditions:
    """Return the token's conditions with the storage they read. Never raises."""
    return await _with_words(context, token, code.conditions, block=block)


def is_wait_equal(code: CodeConditions, usual: Collection[Address]) -> bool:
    """True if the code makes everybody wait equally long after their own trade. `usual`: addresses
    that any token may treat in another way: its own, its owner's, of pools and exchanges."""
    wait = code.conditions.wait
    if wait is None or not code.conditions.is_complete:
        return False
    words = [(code.words.get(slot), shift) for slot, shift in wait.slots]
    stored = [None if word is None else low_address(word >> shift) for word, shift in words]
    return all(address in usual for address in (*wait.constants, *stored))


async def read_hook_conditions(
    context: ChainContext, pools: Sequence[ValuedPool], *, block: Hash32
) -> dict[Address, CodeConditions]:
    """Return the conditions of these pools' hooks, with the storage that they read.

    Takes two round trips for most: code, also behind proxies, then storage.

    A hook whose code could not be read, or can be replaced, has incomplete conditions. Never
    raises.
    """
    hooks = dict.fromkeys(
        pool.candidate.hooks for pool in pools if pool.candidate.hooks is not None
    )
    found = await asyncio.gather(*(_hook(context, hook, block=block) for hook in hooks if hook))
    return {each.contract: each for each in found}


async def _hook(context: ChainContext, hook: Address, *, block: Hash32) -> CodeConditions:
    try:
        code = await analyse_hook(context, hook, block=block)
    except UpstreamError:
        return CodeConditions(contract=hook, conditions=TradeConditions(), words={})
    conditions = code.conditions
    if code.is_replaceable is not False:
        # A replacement of the code changes every condition, and no field of the token shows it.
        conditions = msgspec.structs.replace(conditions, is_complete=False)
    return await _with_words(context, hook, conditions, block=block)


def fee_setters_of(
    pools: Iterable[ValuedPool], hooks: Mapping[Address, CodeConditions]
) -> tuple[Selector, ...] | None:
    """Return the functions of hooks that may set the fee of these pools. None: not known, as of a
    hook whose code can be replaced."""
    found: dict[Selector, None] = {}
    is_known = True
    for candidate in (pool.candidate for pool in pools):
        hook = candidate.hooks
        if candidate.fee != DYNAMIC_FEE or hook is None:
            continue
        conditions = hooks[hook].conditions
        is_known &= conditions.is_complete
        overrides = "before_swap" in permissions_of_address(hook)
        for setter in conditions.fee_setters:
            if overrides or setter != BEFORE_SWAP:
                found[setter] = None
    return tuple(found) if is_known or found else None


def with_hook_fees(
    static: StaticFindings, setters: tuple[Selector, ...] | None
) -> tuple[StaticFindings, tuple[Power, ...]]:
    """Return the findings with what hooks can do to the fee of a trade, and the power to do it."""
    if setters == () or (setters is None and static.tax_can_be_modified):
        return static, ()
    changed = msgspec.structs.replace(static, tax_can_be_modified=True if setters else None)
    power = Power(
        check="tax_can_be_modified", what="tax", holder_kind="unknown", functions=setters or ()
    )
    return changed, (power,) if setters else ()


async def analyse_token_code(
    context: ChainContext, first_round: FirstRound, token: Address, *, redecompile: bool = False
) -> DeployedCode:
    """Return the static findings of the code that holders meet, behind a proxy too.

    `redecompile`: without stored results. Raises UpstreamError.
    """
    return await analyse_deployed_code(
        context.reader(first_round.pin.hash, memory=first_round.memory),
        token,
        first_round.admitted.code,
        first_round.standard_slots,
        analyse=partial(context.analyse_code, redecompile=redecompile),
    )


async def analyse_hook(context: ChainContext, hook: Address, *, block: Hash32) -> DeployedCode:
    """Return the static findings of a hook's code, behind a proxy too. Raises UpstreamError."""
    batch = ReadBatch(block)
    code = batch.code(hook)
    proxy = ProxyReads(batch, hook)
    proxy.follow(code)
    await batch.send(context.node)
    return await analyse_deployed_code(
        context.reader(block, memory=proxy.memory()),
        hook,
        batch[code],
        proxy.read(),
        analyse=context.analyse_code,
    )


async def _with_words(
    context: ChainContext, contract: Address, conditions: TradeConditions, *, block: Hash32
) -> CodeConditions:
    slots = slots_of(conditions)[:_MOST_SLOTS]
    words = await read_words(context.reader(block), contract, slots)
    return CodeConditions(contract=contract, conditions=conditions, words=words)


async def read_accounts(
    context: ChainContext, callees: Sequence[Address], *, block: Hash32
) -> frozenset[Address]:
    """Return the callees that are accounts. Never raises; unreadable ones are left out.

    An account has no code and has sent a transaction, so that no contract can be created there.
    """
    batch = ReadBatch(block)
    reads = {
        callee: (
            batch.code(callee),
            batch.request(
                RpcRequest("eth_getTransactionCount", (callee, {"blockHash": block})),
                returns=_is_above_zero,
            ),
        )
        for callee in list(dict.fromkeys(callees))[:_MOST_CALLEES]
    }
    try:
        await batch.send(context.node)
    except UpstreamError:
        return frozenset()
    return frozenset(
        callee
        for callee, (code, has_sent) in reads.items()
        if batch.get(code) == b"" and batch[has_sent]
    )


def _is_above_zero(answer: RpcAnswer) -> bool:
    try:
        return read_word(answer) > 0
    except UpstreamError:
        return False


def state_words(
    token: Address,
    own: Iterable[Mapping[Hash32, int]],
    codes: Iterable[CodeConditions],
) -> tuple[StateWord, ...]:
    """Return the storage words that a report depends on, by contract and slot, each once.

    `own`: words of the token's slots, by slot. `codes`: contracts with the slots that their
    conditions read.
    """
    words = {(token, slot): word for read in own for slot, word in read.items()}
    words |= {
        (code.contract, slot): code.words[slot]
        for code in codes
        for slot in deciding_slots_of(code.conditions)
        if slot in code.words
    }
    return tuple(
        StateWord(contract=contract, slot=slot, word=to_hash32(word))
        for (contract, slot), word in sorted(words.items())
    )
