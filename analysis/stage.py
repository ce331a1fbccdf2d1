"""The stage: what-if blocks played by the node on top of one pinned block, then forgotten.

Everything is one `eth_simulateV1` request, so the chain's own rules apply (L1 clocks, precompiles).
Block number and time are always given: without them some nodes repeat the pinned block.
Source: execution-apis, eth_simulateV1.
"""

import secrets
from collections.abc import Mapping, Sequence
from itertools import chain
from typing import Literal

import msgspec
from eth_hash.auto import keccak

from analysis.node import RpcAnswer
from analysis.pin import Header
from config.jsonrpc import RpcFault, RpcRequest
from config.primitives import Address, BlockRef, Hash32, RawAmount

CALL_GAS = 5_000_000
"""Gas of one simulated transaction: five times the dearest honest swap, far below block limits."""

READ_GAS = 500_000
"""Gas of one read inside a simulation."""

Missing = Literal["HOLDER", "POOL", "NODE", "FUNDS"]


class Passed(msgspec.Struct, frozen=True, kw_only=True):
    """The act succeeded."""

    tax: float | None
    """Percent. None: success was seen, but the amounts do not tell a tax."""


class Refused(msgspec.Struct, frozen=True, kw_only=True):
    """The chain refused the act: the token's doing, never ours or the node's."""

    reason: str
    """Decoded revert reason, or what was seen instead of success."""


class NotRun(msgspec.Struct, frozen=True, kw_only=True):
    """Nothing was learnt. `missing` says what we lacked."""

    missing: Missing
    reason: str


Outcome = Passed | Refused | NotRun


class SimCall(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction, or one read (a transaction whose effects do not matter)."""

    label: str
    """Names the call's result within its play."""
    sender: Address
    to: Address
    data: str
    value: int = 0
    gas: int = CALL_GAS

    @property
    def is_read(self) -> bool:
        """Whether it is made for its answer only."""
        return self.gas <= READ_GAS


class SimBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One what-if block."""

    number: int
    time_s: int
    calls: tuple[SimCall, ...]


class SimLog(msgspec.Struct, frozen=True, rename="camel"):
    """An event of a simulated call."""

    address: Address
    topics: tuple[Hash32, ...]
    data: str


class SimResult(msgspec.Struct, frozen=True, kw_only=True):
    """What one simulated call did."""

    ok: bool
    data: bytes
    """Return data, or revert data."""
    logs: tuple[SimLog, ...]
    message: str
    """The node's own words on a failure; empty on success."""

    @property
    def word(self) -> int | None:
        """The first 32 bytes as an unsigned integer. None: the call failed or said less."""
        return int.from_bytes(self.data[:32], "big") if self.ok and len(self.data) >= 32 else None  # noqa: PLR2004 - an ABI word


class _WireError(msgspec.Struct):
    message: str = ""
    data: object = None


class _WireCall(msgspec.Struct, rename="camel"):
    status: str
    return_data: str = "0x"
    logs: tuple[SimLog, ...] = ()
    error: _WireError | None = None


class _WireBlock(msgspec.Struct):
    calls: tuple[_WireCall, ...] = ()


class Scenery(msgspec.Struct, frozen=True, kw_only=True):
    """What a contract could tell the stage from the chain by, made to look like the chain.

    A token that knows it is being simulated may behave for once. So accounts and amounts come from
    a secret drawn for each analysis, and gas price, base fee, proposer and randomness are like
    those of the pinned block instead of the zeros that nodes put there.
    """

    secret: str
    base_fee_wei: int | None
    """None: the chain has none (before EIP-1559)."""
    proposer: Address

    @property
    def gas_price_wei(self) -> int:
        """Of every transaction: a little over the base fee, as wallets pay."""
        return (self.base_fee_wei or _LEGACY_GAS_PRICE_WEI) + _TIP_WEI

    def account(self, purpose: str) -> Address:
        """A codeless address that nobody can know, the same for the same purpose."""
        return Address("0x" + self._draw(purpose)[-20:].hex())

    def purse(self, account: Address) -> int:
        """Wei for gas and a bit: what ordinary wallets hold, no two alike."""
        return _SMALLEST_PURSE_WEI + int.from_bytes(self._draw(account)[:8], "big")

    def about(self, amount: RawAmount, purpose: str) -> RawAmount:
        """The amount within a tenth, at least one: round shares of a reserve give a test away."""
        per_mille = 900 + int.from_bytes(self._draw(purpose)[:2], "big") % 200
        return RawAmount(max(1, amount * per_mille // 1000))

    def block_overrides(self, number: int) -> dict[str, str]:
        """Fields of `blockOverrides` beside number and time."""
        overrides = {
            "feeRecipient": self.proposer,
            "prevRandao": "0x" + self._draw(f"randao {number}").hex(),
        }
        if self.base_fee_wei is not None:
            overrides["baseFeePerGas"] = hex(self.base_fee_wei)
        return overrides

    def _draw(self, purpose: str) -> bytes:
        return keccak(f"{self.secret}:{purpose}".encode())


_TIP_WEI = 10**9
_LEGACY_GAS_PRICE_WEI = 3 * 10**9
_SMALLEST_PURSE_WEI = 5 * 10**18


def draw_scenery(header: Header) -> Scenery:
    """The scenery of one analysis, with a secret of its own."""
    return Scenery(
        secret=secrets.token_hex(16), base_fee_wei=header.base_fee_wei, proposer=header.proposer
    )


class Played(msgspec.Struct, frozen=True):
    """The results of a play, by the labels of its calls."""

    by_label: Mapping[str, SimResult]
    by: str = "eth_simulateV1"
    """The method that the node played it with."""

    def __getitem__(self, label: str) -> SimResult:
        return self.by_label[label]


class Play(msgspec.Struct, frozen=True, kw_only=True):
    """One whole simulation, ready to send and ready to be replayed from the evidence."""

    pin: BlockRef
    scenery: Scenery
    blocks: tuple[SimBlock, ...]
    purses: Mapping[Address, int]
    """Wei that codeless accounts are given."""
    storage: Mapping[Address, Mapping[Hash32, Hash32]]
    """Slots overridden before the first block, by contract."""
    code: Mapping[Address, str] = {}
    """0x runtime code put at addresses before the first block."""

    def state_overrides(self) -> dict[str, dict[str, object]]:
        """The state before the first block, as far as it is not the pinned block's."""
        state: dict[str, dict[str, object]] = {}
        for account, wei in self.purses.items():
            state.setdefault(account, {})["balance"] = hex(wei)
        for contract, slots in self.storage.items():
            state.setdefault(contract, {})["stateDiff"] = dict(slots)
        for address, code in self.code.items():
            state.setdefault(address, {})["code"] = code
        return state

    def block_overrides(self, block: SimBlock) -> dict[str, str]:
        """What a contract can tell of a what-if block."""
        return {
            "number": hex(block.number),
            "time": hex(block.time_s),
            **self.scenery.block_overrides(block.number),
        }

    def transaction(self, call: SimCall) -> dict[str, str]:
        """A call as nodes take it."""
        return _wire_call(call) | {"gasPrice": hex(self.scenery.gas_price_wei)}

    def request(self) -> RpcRequest:
        """The eth_simulateV1 request."""
        state: list[dict[str, object]] = []
        for before, block in zip((None, *self.blocks), self.blocks, strict=False):
            if before is not None:
                state += _between(before, block)
            state.append(
                {
                    "blockOverrides": self.block_overrides(block),
                    "calls": [self.transaction(call) for call in block.calls],
                }
            )
        state[0]["stateOverrides"] = self.state_overrides()
        options = {"blockStateCalls": state, "validation": False, "traceTransfers": False}
        return RpcRequest("eth_simulateV1", (options, {"blockHash": self.pin.hash}))


def read_play(play: Play, answer: RpcAnswer) -> Played | NotRun:
    """What the node saw; NotRun when it could not play it. Never mistakes one for the other."""
    if isinstance(answer, RpcFault):
        return NotRun(missing="NODE", reason=f"eth_simulateV1: {answer.message}")
    try:
        blocks = msgspec.json.decode(answer, type=tuple[_WireBlock, ...])
        # Geth fills skipped block numbers with empty blocks; ours all have calls.
        played = [[_result(call) for call in block.calls] for block in blocks if block.calls]
    except (msgspec.DecodeError, ValueError) as error:
        return NotRun(missing="NODE", reason=f"eth_simulateV1 answered nonsense: {error}")
    if [len(results) for results in played] != [len(block.calls) for block in play.blocks]:
        return NotRun(missing="NODE", reason="eth_simulateV1 answered for other calls")
    labels = [call.label for block in play.blocks for call in block.calls]
    return Played(dict(zip(labels, chain.from_iterable(played), strict=True)))


def next_blocks(
    pin: BlockRef, *, block_time_s: float, now_s: int, waits_s: Sequence[int]
) -> list[tuple[int, int]]:
    """Numbers and times of what-if blocks: the next block, then one after each wait.

    The first is dated no earlier than now, because a real trade would be. Time and number go
    together at the chain's pace, for a contract can compare them; so a wait is cut short where the
    chain makes more blocks in it than nodes let a simulation skip.
    """
    step_s = max(1, round(block_time_s))
    number, time_s = pin.number + 1, max(pin.time_s + step_s, now_s)
    blocks = [(number, time_s)]
    for wait_s in waits_s:
        skipped = max(1, min(int(wait_s / block_time_s), _MOST_BLOCKS_SKIPPED))
        number += skipped
        # No two simulated blocks have the same time, as those of very fast chains have.
        time_s += max(skipped, round(skipped * block_time_s))
        blocks.append((number, time_s))
    return blocks


_MOST_BLOCKS_SKIPPED = 239
"""In one wait. Geth plays at most 256 blocks, the skipped ones included; odd, for a token may rest
in every other block."""


_FILLER_STEP_S = 12


def _between(before: SimBlock, block: SimBlock) -> list[dict[str, object]]:
    """Empty blocks for the numbers between two, where the node's own would be too late.

    Geth fills a gap with blocks 12 seconds apart, whatever the chain's pace, and refuses a request
    whose next block is not after them. Source: go-ethereum internal/ethapi/simulate.go.
    """
    gap, passed_s = block.number - before.number - 1, block.time_s - before.time_s
    if passed_s > gap * _FILLER_STEP_S:
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
    )
