"""Simulation model: simulated blocks on top of one pinned block, run by `eth_simulateV1`.

A simulation is one request, so the chain's own rules apply (L1 clocks, precompiles). Block number
and time are always given: without them some nodes repeat the pinned block. Source: execution-apis,
eth_simulateV1.
"""

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Literal

import msgspec

from analysis.simulation.disguise import Disguise
from core.evm.primitives import Address, BlockRef, Hash32
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

CALL_GAS = 5_000_000
"""Gas of one simulated transaction: five times the dearest honest swap, far below block limits."""

READ_GAS = 500_000
"""Gas of one read inside a simulation."""

_USUAL_GAS = 300_000
_USUAL_READ_GAS = 60_000

Missing = Literal["HOLDER", "POOL", "NODE", "FUNDS", "LIQUIDITY"]


class Passed(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The trade or transfer succeeded."""

    tax: float | None
    """Percent. None: it succeeded, but the amounts do not show a tax."""
    loss: float | None = None
    """Percent of the pool's quote that a sale did not bring, and no tax explains.

    A token that sells its own fees first lowers the price. None: below one percent, or not known.
    """


class Refused(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """The trade or transfer failed because of the token, not because of the setup or the node."""

    reason: str
    """Decoded revert reason, or a description of the failure."""


class NotSimulated(msgspec.Struct, frozen=True, kw_only=True, tag=True):
    """Nothing was determined. `missing` names the cause."""

    missing: Missing
    reason: str


Outcome = Passed | Refused | NotSimulated


class CallHandle(msgspec.Struct, frozen=True):
    """Position of a call in its simulation, by which its result is read."""

    block: int
    """Index of the simulated block."""
    index: int
    """Index of the call in that block."""


class SimCall(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction, or one read (a transaction whose effects do not matter)."""

    label: str
    """Text for the evidence only; results are read by `CallHandle`."""
    sender: Address
    to: Address
    data: str
    value: int = 0
    gas: int = CALL_GAS
    is_trade: bool = False
    """True if its effects matter, however low its gas limit."""
    gas_price_wei: int | None = None
    """None: fees as set by an ordinary wallet."""

    @property
    def is_read(self) -> bool:
        """True if only its return data matters."""
        return self.gas <= READ_GAS and not self.is_trade


class SimBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated block."""

    number: int
    time_s: int
    calls: tuple[SimCall, ...]
    overrides: Mapping[str, str] = {}
    """Fields of `blockOverrides` that take precedence over the disguise's."""
    storage: Mapping[Address, Mapping[Hash32, Hash32]] = {}
    """Slots overridden before this block, by contract."""
    purses: Mapping[Address, int] = {}
    """Wei that accounts are set to before this block."""

    def state_overrides(self) -> dict[str, dict[str, object]]:
        """Return the state overrides before this block."""
        state: dict[str, dict[str, object]] = {
            account: {"balance": hex(wei)} for account, wei in self.purses.items()
        }
        for contract, slots in self.storage.items():
            state.setdefault(contract, {})["stateDiff"] = dict(slots)
        return state


class SimLog(msgspec.Struct, frozen=True, rename="camel"):
    """An event of a simulated call."""

    address: Address
    topics: tuple[Hash32, ...]
    data: str


class SimResult(msgspec.Struct, frozen=True, kw_only=True):
    """Result of one simulated call."""

    ok: bool
    data: bytes
    """Return data, or revert data."""
    logs: tuple[SimLog, ...]
    message: str
    """The node's error message; empty on success."""
    gas_used: int | None = None
    """After refunds. None: not reported."""

    @property
    def word(self) -> int | None:
        """Return the first 32 bytes as an unsigned integer. None: the call failed or returned
        less."""
        return int.from_bytes(self.data[:32], "big") if self.ok and len(self.data) >= 32 else None  # noqa: PLR2004 - an ABI word


class _WireError(msgspec.Struct):
    message: str = ""
    data: object = None


class _WireCall(msgspec.Struct, rename="camel"):
    status: str
    return_data: str = "0x"
    logs: tuple[SimLog, ...] = ()
    error: _WireError | None = None
    gas_used: str | None = None


class _WireBlock(msgspec.Struct):
    calls: tuple[_WireCall, ...] = ()


class SimulationResult(msgspec.Struct, frozen=True):
    """The results of a simulation, by the handles of its calls."""

    blocks: tuple[tuple[SimResult, ...], ...]
    """One result a call, in the order of the simulation."""
    method: str = "eth_simulateV1"
    """The RPC method that it was run with."""

    def __getitem__(self, handle: CallHandle) -> SimResult:
        return self.blocks[handle.block][handle.index]

    def word(self, handle: CallHandle | None) -> int | None:
        """Return the first 32 bytes that the call returned, as an unsigned integer. None: there is
        no such call, or it failed or returned less."""
        return None if handle is None else self[handle].word


class Simulation(msgspec.Struct, frozen=True, kw_only=True, dict=True):
    """One whole simulation, ready to send and ready to be replayed from the evidence."""

    pin: BlockRef
    disguise: Disguise
    blocks: tuple[SimBlock, ...]
    purses: Mapping[Address, int]
    """Balances in wei of codeless accounts."""
    storage: Mapping[Address, Mapping[Hash32, Hash32]]
    """Slots overridden before the first block, by contract."""
    code: Mapping[Address, str] = {}
    """0x runtime code put at addresses before the first block."""
    nonces: Mapping[Address, int] = {}
    """Nonces of accounts that have sent transactions before."""
    is_validated: bool = False
    """The node checks balances and fees as in a real block."""

    def calls(self) -> Iterator[tuple[CallHandle, SimCall]]:
        """Yield all calls, with their handles, in order."""
        for at, block in enumerate(self.blocks):
            for index, call in enumerate(block.calls):
                yield CallHandle(at, index), call

    def state_overrides(self) -> dict[str, dict[str, object]]:
        """Return the state overrides before the first block."""
        state: dict[str, dict[str, object]] = {}
        needed = self._gas_money()
        for account, wei in self.purses.items():
            state.setdefault(account, {})["balance"] = hex(wei + needed.get(account, 0))
        for account, nonce in self.nonces.items():
            state.setdefault(account, {})["nonce"] = hex(nonce)
        for contract, slots in self.storage.items():
            state.setdefault(contract, {})["stateDiff"] = dict(slots)
        for address, code in self.code.items():
            state.setdefault(address, {})["code"] = code
        merge_overrides(state, self.blocks[0].state_overrides())
        return state

    def _gas_money(self) -> dict[Address, int]:
        """Return the most wei that each account spends on gas, in addition to its purse.

        It covers the usual gas of its transactions, and the whole limit of the largest, which nodes
        require as balance.
        """
        spent: dict[Address, int] = {}
        largest: dict[Address, int] = {}
        for _, call in self.calls():
            price = max(self.disguise.highest_fee_wei, call.gas_price_wei or 0)
            usual = _USUAL_READ_GAS if call.is_read else _USUAL_GAS
            spent[call.sender] = spent.get(call.sender, 0) + min(call.gas, usual) * price
            largest[call.sender] = max(largest.get(call.sender, 0), call.gas * price)
        return {account: wei + largest[account] for account, wei in spent.items()}

    def block_overrides(self, block: SimBlock) -> dict[str, str]:
        """Return the block overrides of a simulated block."""
        return {
            "number": hex(block.number),
            "time": hex(block.time_s),
            **self.disguise.block_overrides(block.number),
            **block.overrides,
        }

    def transaction(self, call: SimCall) -> dict[str, str]:
        """Return a call in the JSON-RPC format."""
        if call.gas_price_wei is not None:
            return _wire_call(call) | {"gasPrice": hex(call.gas_price_wei)}
        return _wire_call(call) | self._fees[call.sender]

    @cached_property
    def _fees(self) -> dict[Address, dict[str, str]]:
        senders = {call.sender for _, call in self.calls()}
        return {sender: self.disguise.fees(sender) for sender in senders}

    @cached_property
    def request(self) -> RpcRequest:
        """The eth_simulateV1 request. Built once: it is sent, and stored as evidence."""
        state: list[dict[str, object]] = []
        for before, block in zip((None, *self.blocks), self.blocks, strict=False):
            if before is not None:
                state += _between(before, block)
            simulated: dict[str, object] = {
                "blockOverrides": self.block_overrides(block),
                "calls": [self.transaction(call) for call in block.calls],
            }
            if block.storage or block.purses:
                simulated["stateOverrides"] = block.state_overrides()
            state.append(simulated)
        state[0]["stateOverrides"] = self.state_overrides()
        options = {
            "blockStateCalls": state,
            "validation": self.is_validated,
            "traceTransfers": False,
        }
        return RpcRequest("eth_simulateV1", (options, {"blockHash": self.pin.hash}))


def merge_overrides(
    state: dict[str, dict[str, object]], later: Mapping[str, Mapping[str, object]]
) -> None:
    """Merge later overrides into `state`, where later ones take precedence; single slots are
    added."""
    for address, fields in later.items():
        known = state.setdefault(address, {})
        for field, value in fields.items():
            before = known.get(field)
            if field == "stateDiff" and isinstance(before, dict) and isinstance(value, dict):
                known[field] = {**before, **value}
            else:
                known[field] = value


def read_simulation(simulation: Simulation, answer: RpcAnswer) -> SimulationResult | NotSimulated:
    """Return the results. NotSimulated: the node could not run it, which never counts as a
    revert."""
    if isinstance(answer, RpcFault):
        return NotSimulated(missing="NODE", reason=f"eth_simulateV1: {answer.message}")
    try:
        blocks = msgspec.json.decode(answer, type=tuple[_WireBlock, ...])
        # Geth fills skipped block numbers with empty blocks, and the simulation has some, too.
        results = [tuple(map(_result, block.calls)) for block in blocks if block.calls]
    except (msgspec.DecodeError, ValueError) as error:
        return NotSimulated(missing="NODE", reason=f"eth_simulateV1 answered nonsense: {error}")
    expected = [len(block.calls) for block in simulation.blocks if block.calls]
    if [len(each) for each in results] != expected:
        return NotSimulated(missing="NODE", reason="eth_simulateV1 answered for other calls")
    rest = iter(results)
    return SimulationResult(tuple(next(rest) if block.calls else () for block in simulation.blocks))


_FILLER_STEP_S = 12
_MOST_FILLERS = 256
"""A condition on a block number may lie millions of blocks ahead."""


def _between(before: SimBlock, block: SimBlock) -> list[dict[str, object]]:
    """Return empty blocks for the numbers between two, where the node's own would be too late.

    Geth fills a gap with blocks 12 seconds apart, whatever the chain's pace, and rejects a request
    whose next block is not after them. A gap beyond what it simulates is left to the node. Source:
    go-ethereum internal/ethapi/simulate.go.
    """
    gap, passed_s = block.number - before.number - 1, block.time_s - before.time_s
    if passed_s > gap * _FILLER_STEP_S or gap > _MOST_FILLERS:
        return []
    return [
        {
            "blockOverrides": {
                "number": hex(before.number + at),
                "time": hex(before.time_s + passed_s * at // (gap + 1)),
            },
            "calls": [],
        }
        for at in range(1, gap + 1)
    ]


def _wire_call(call: SimCall) -> dict[str, str]:
    wire = {"from": call.sender, "to": call.to, "data": call.data, "gas": hex(call.gas)}
    return wire | {"value": hex(call.value)} if call.value else dict(wire)


def _result(call: _WireCall) -> SimResult:
    data = bytes.fromhex(call.return_data[2:])
    if not data and call.error is not None and isinstance(call.error.data, str):
        data = bytes.fromhex(call.error.data.removeprefix("0x"))
    return SimResult(
        ok=int(call.status, 16) == 1,
        data=data,
        logs=call.logs,
        message=call.error.message if call.error else "",
        gas_used=None if call.gas_used is None else int(call.gas_used, 16),
    )
