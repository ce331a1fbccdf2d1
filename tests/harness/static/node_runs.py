"""Runs of a code on the real node: every step of one call, with made-up storage.

A slot that a run reads is given a value and the call is run again, so that later runs pass the
checks on which the first one failed.
"""

import hashlib
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final

import msgspec

from assay.demo.anvil import AnvilNode, quantity
from core.evm.keccak import keccak

TOKEN: Final = "0x" + "70" * 20
CALLER: Final = "0x" + "ca" * 20
ANSWERER: Final = "0x" + "a5" * 20
"""A contract that answers 1 to everything."""

_ANSWERER_CODE: Final = "0x600160005260206000f3"
_GAS: Final = 250_000
_MOST_ROUNDS: Final = 8
_MEMORY: Final = 0x4000
"""Bytes of a run's memory that are followed."""

_PLAUSIBLE: Final = (
    0,
    1,
    3,
    10**18,
    10**24,
    int(CALLER, 16),
    int(ANSWERER, 16),
    int(TOKEN, 16),
    int(CALLER, 16) << 64 | 1,
    2**160 + int(CALLER, 16),
    1_700_000_000,
    4_000_000_000,
    2**128 + 10**17,
    2**255 - 1,
    2**256 - 1,
)
"""Plausible values of storage and of callers: switches, amounts, addresses, times, packed words."""

ARGUMENTS: Final = (*_PLAUSIBLE, 2, 0x20, 0x40, 0x60, 0x80, 0xB0B, 0xDEAD)


class Step(msgspec.Struct, frozen=True):
    """One instruction, before it ran."""

    pc: int
    op: str
    depth: int
    stack: tuple[str, ...]

    def operand(self, index: int) -> int:
        """A word of the stack, counted from its top."""
        return int(self.stack[-1 - index], 16)


class _Trace(msgspec.Struct):
    structLogs: tuple[Step, ...]  # noqa: N815 - the node's name


class Run(msgspec.Struct, frozen=True, kw_only=True):
    """One call and its steps in the called code itself, not those in codes that it called."""

    data: bytes
    value_wei: int
    time_s: int
    block_number: int
    steps: tuple[Step, ...]
    hashed: dict[int, bytes | None]
    """Hashed data of the run by digest. None: from memory that was not tracked."""


def runs_of(
    node: AnvilNode, code: bytes, data: bytes, *, value_wei: int, seed: int
) -> Iterator[Run]:
    """The same call over ever more storage, until it reads nothing new."""
    storage: dict[int, int] = {}
    for _ in range(_MOST_ROUNDS):
        run = _run(node, code, data, value_wei, storage)
        yield run
        read = {step.operand(0) for step in run.steps if step.op == "SLOAD"} - storage.keys()
        if not read:
            return
        storage |= {slot: _made_up(slot, seed) for slot in read}


def _made_up(slot: int, seed: int) -> int:
    digest = hashlib.sha256(f"{seed}:{slot}".encode()).digest()
    return _PLAUSIBLE[int.from_bytes(digest) % len(_PLAUSIBLE)]


def _run(node: AnvilNode, code: bytes, data: bytes, value_wei: int, storage: dict[int, int]) -> Run:
    call = {
        "from": CALLER,
        "to": TOKEN,
        "data": "0x" + data.hex(),
        "value": hex(value_wei),
        "gas": hex(_GAS),
    }
    storage_words = {f"0x{slot:064x}": f"0x{value:064x}" for slot, value in storage.items()}
    overrides = {
        TOKEN: {"code": "0x" + code.hex(), "stateDiff": storage_words, "balance": hex(10**20)},
        ANSWERER: {"code": _ANSWERER_CODE},
        CALLER: {"balance": hex(10**20)},
    }
    options = {"disableStorage": True, "stateOverrides": overrides}
    head = node.rpc("eth_getBlockByNumber", "latest", False)
    assert isinstance(head, dict)
    answer = node.rpc("debug_traceCall", call, "latest", options)
    steps = [step for step in msgspec.convert(answer, _Trace).structLogs if step.depth == 1]
    return Run(
        data=data,
        value_wei=value_wei,
        time_s=quantity(head["timestamp"]),
        block_number=quantity(head["number"]),
        steps=tuple(steps),
        hashed=dict(_hashed(steps, code, data)),
    )


def _hashed(steps: list[Step], code: bytes, data: bytes) -> Iterator[tuple[int, bytes | None]]:
    """Yield hashed data, tracking memory by the relevant instructions.

    The node's own dumps are too large. The digest of the run shows whether tracking was enough.
    """
    memory = bytearray(_MEMORY)
    for step, after in pairwise(steps):
        if step.op in _STORES:
            place, given = _STORES[step.op](step, memory, code, data)
            if place + len(given) <= _MEMORY:
                memory[place : place + len(given)] = given
        elif step.op in ("KECCAK256", "SHA3"):
            start, length = step.operand(0), step.operand(1)
            hashed = bytes(memory[start : start + length]) if start + length <= _MEMORY else b""
            digest = after.operand(0)
            yield digest, hashed if int.from_bytes(keccak(hashed)) == digest else None


def _piece(source: bytes | bytearray, step: Step) -> tuple[int, bytes]:
    """Return offset and data of a copying instruction."""
    place, start, length = (step.operand(index) for index in range(3))
    length = min(length, _MEMORY)
    return place, bytes(source[start : start + length]).ljust(length, b"\0")


_STORES: Final[dict[str, Callable[[Step, bytearray, bytes, bytes], tuple[int, bytes]]]] = {
    "MSTORE": lambda step, *_: (step.operand(0), step.operand(1).to_bytes(32)),
    "MSTORE8": lambda step, *_: (step.operand(0), bytes([step.operand(1) & 0xFF])),
    "CALLDATACOPY": lambda step, _memory, _code, data: _piece(data, step),
    "CODECOPY": lambda step, _memory, code, _data: _piece(code, step),
    "MCOPY": lambda step, memory, _code, _data: _piece(memory, step),
}
