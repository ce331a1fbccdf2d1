"""Trace backend: simulations on nodes without eth_simulateV1, by one debug_traceCall per
transaction.

debug_traceCall runs one transaction, from a codeless account, in a block of any number and time.
One tracer reports its result and events, another its state changes, which are merged into the state
overrides of the next. So a contract sees the same as in eth_simulateV1. Source: go-ethereum,
built-in tracers (callTracer, prestateTracer in diff mode).
"""

import asyncio
from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TypeVar

import msgspec

from analysis.reads.node import Node
from analysis.reads.node_capabilities import Capability
from analysis.reads.rpc_reads import STATE_CHANGES
from analysis.simulation.simulate_v1 import (
    NotSimulated,
    SimBlock,
    SimCall,
    SimLog,
    SimResult,
    Simulation,
    SimulationResult,
    merge_overrides,
)
from core.errors import UpstreamError
from core.evm.primitives import Address, BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

_METHOD = "debug_traceCall"
_CALLS: dict[str, object] = {"tracer": "callTracer", "tracerConfig": {"withLog": True}}

_PROOF_CODE = "0x4360005542600052600080a060206000f3"
"""SSTORE(0, NUMBER); an event and return data with TIMESTAMP: covers all that a simulation relies
on."""

_PROOF_NUMBER, _PROOF_TIME_S = 0x1234_5678, 0x7234_5678
T = TypeVar("T")

_NOTHING = Hash32("0x" + "0" * 64)


class _Log(msgspec.Struct):
    address: Address
    topics: tuple[Hash32, ...] = ()
    data: str = "0x"
    position: str = "0x0"
    """Number of calls that the frame made before it."""


class _Frame(msgspec.Struct):
    output: str = "0x"
    error: str = ""
    logs: tuple[_Log, ...] = ()
    calls: tuple["_Frame", ...] = ()


class _Account(msgspec.Struct):
    balance: str | None = None
    nonce: int | None = None
    code: str | None = None
    storage: dict[Hash32, Hash32] = {}


class _Changes(msgspec.Struct):
    pre: dict[Address, _Account]
    post: dict[Address, _Account]


async def is_possible(node: Node, power: Capability, pin: BlockRef) -> bool:
    """True if the node traces calls with overrides of state and block. Probed once, then
    remembered.

    Raises UpstreamError.
    """
    if power.is_proven or not power.is_worth_trying:
        return power.is_proven
    power.is_proven = is_proof(await node.batch(proof_requests(pin)))
    if not power.is_proven:
        power.note_refusal()
    return power.is_proven


async def perform(
    node: Node, simulations: Sequence[Simulation]
) -> list[SimulationResult | NotSimulated]:
    """Run the simulations concurrently. Raises UpstreamError."""
    return list(await asyncio.gather(*(_run(node, simulation) for simulation in simulations)))


async def _run(node: Node, simulation: Simulation) -> SimulationResult | NotSimulated:
    state = simulation.state_overrides()
    results: list[tuple[SimResult, ...]] = []
    for number, block in enumerate(simulation.blocks):
        if number:
            merge_overrides(state, block.state_overrides())
        of_block: list[SimResult] = []
        for calls in _steps(block):
            requests = [_request(simulation, block, call, state, _CALLS) for call in calls]
            if not calls[-1].is_read:
                requests.append(_request(simulation, block, calls[-1], state, STATE_CHANGES))
            answers = await node.batch(requests)
            try:
                of_block += [_result(_decode(answer, _Frame)) for answer in answers[: len(calls)]]
                if len(answers) > len(calls):
                    _carry(state, _decode(answers[-1], _Changes))
            except UpstreamError as error:
                return NotSimulated(missing="NODE", reason=str(error))
        results.append(tuple(of_block))
    return SimulationResult(tuple(results), _METHOD)


def _steps(block: SimBlock) -> Iterator[list[SimCall]]:
    """Yield batches of calls that can be sent at once: reads, and the transaction after them."""
    step: list[SimCall] = []
    for call in block.calls:
        step.append(call)
        if not call.is_read:
            yield step
            step = []
    if step:
        yield step


def _request(
    simulation: Simulation,
    block: SimBlock,
    call: SimCall,
    state: dict[str, dict[str, object]],
    tracer: dict[str, object],
) -> RpcRequest:
    options = {
        **tracer,
        # Encoded now: later changes of the state must not change a request made before.
        "stateOverrides": msgspec.Raw(msgspec.json.encode(state)),
        "blockOverrides": simulation.block_overrides(block),
    }
    pinned = {"blockHash": simulation.pin.hash}
    return RpcRequest(_METHOD, (simulation.transaction(call), pinned, options))


def _carry(state: dict[str, dict[str, object]], changes: _Changes) -> None:
    """Merge a transaction's changes into the state it ran on.

    A slot set to zero, and a deleted account, are listed before and not after.
    """
    for address, before in changes.pre.items():
        after = changes.post.get(address)
        if after is None:
            state[address] = {"balance": "0x0", "nonce": "0x0", "code": "0x", "state": {}}
            continue
        emptied = dict.fromkeys(before.storage.keys() - after.storage.keys(), _NOTHING)
        _put(state, address, after, emptied)
    for address in changes.post.keys() - changes.pre.keys():
        _put(state, address, changes.post[address], {})


def _put(
    state: dict[str, dict[str, object]],
    address: Address,
    after: _Account,
    emptied: dict[Hash32, Hash32],
) -> None:
    account = state.setdefault(address, {})
    if after.balance is not None:
        account["balance"] = after.balance
    if after.nonce is not None:
        account["nonce"] = hex(after.nonce)
    if after.code is not None:
        account["code"] = after.code
    slots = after.storage | emptied
    if slots:
        kind = "state" if "state" in account else "stateDiff"
        before = account.get(kind)
        account[kind] = {**(before if isinstance(before, dict) else {}), **slots}


def _result(frame: _Frame) -> SimResult:
    return SimResult(
        ok=not frame.error,
        data=bytes.fromhex(frame.output.removeprefix("0x")),
        logs=tuple(_logs(frame)),
        message=frame.error,
    )


def _logs(frame: _Frame) -> Iterator[SimLog]:
    """Yield events in the order they were emitted. Failed calls emit none."""
    if frame.error:
        return
    for at in range(len(frame.calls) + 1):
        for log in frame.logs:
            if int(log.position, 16) == at:
                yield SimLog(address=log.address, topics=log.topics, data=log.data)
        if at < len(frame.calls):
            yield from _logs(frame.calls[at])


def _decode(answer: RpcAnswer, kind: type[T]) -> T:
    """Return the decoded trace. Raises UpstreamError."""
    if isinstance(answer, RpcFault):
        raise UpstreamError(service="node", reason=f"{_METHOD}: {answer.message}")
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.DecodeError as error:
        raise UpstreamError(service="node", reason=f"{_METHOD}: {error}") from error


def proof_requests(pin: BlockRef) -> list[RpcRequest]:
    actor = Address("0x" + "a5" * 20)
    options = {
        "stateOverrides": {actor: {"code": _PROOF_CODE}},
        "blockOverrides": {"number": hex(_PROOF_NUMBER), "time": hex(_PROOF_TIME_S)},
    }
    call = {"to": actor, "gas": hex(100_000)}
    return [
        RpcRequest(_METHOD, (call, {"blockHash": pin.hash}, {**tracer, **options}))
        for tracer in (_CALLS, STATE_CHANGES)
    ]


def is_proof(answers: Sequence[RpcAnswer]) -> bool:
    try:
        frame, changes = _decode(answers[0], _Frame), _decode(answers[1], _Changes)
        words = chain.from_iterable(one.storage.values() for one in changes.post.values())
        return (
            int(frame.output, 16) == _PROOF_TIME_S
            and any(int(word, 16) == _PROOF_NUMBER for word in words)
            and len(frame.logs) == 1
        )
    except (UpstreamError, ValueError):
        return False
