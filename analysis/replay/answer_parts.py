"""Parts of node answers that are recorded and compared. Pure.

A part is text that every correct node returns alike, without anything that clients word or count
differently (error messages, gas after refunds, hashes of simulated blocks).
"""

from typing import Annotated, Final

import msgspec

from core.evm.keccak import keccak
from core.rpc.messages import RpcAnswer, RpcFault

FAILED: Final = "failed"
"""Part of an answer that is an error other than a revert: the request was not carried out."""

_SHOWN_CHARS: Final = 74
"""Characters of a long part that are kept: a selector or status, and a word."""

_DIGEST_CHARS: Final = 32
"""Hex digits, 128 bits, of the Keccak hash of the whole part."""

_REVERT_CODE: Final = 3

_Hex = Annotated[str, msgspec.Meta(pattern="^0x[0-9a-fA-F]*$")]


class _Header(msgspec.Struct, rename="camel"):
    number: _Hex
    hash: _Hex
    parent_hash: _Hex
    timestamp: _Hex
    miner: _Hex
    state_root: _Hex = "0x"
    base_fee_per_gas: _Hex | None = None


class _Log(msgspec.Struct, rename="camel"):
    address: _Hex
    topics: tuple[_Hex, ...]
    data: _Hex
    block_number: _Hex = "0x"


class _Error(msgspec.Struct):
    data: object = None


class _SimulatedCall(msgspec.Struct, rename="camel"):
    status: _Hex
    return_data: _Hex = "0x"
    logs: tuple[_Log, ...] = ()
    error: _Error | None = None


class _SimulatedBlock(msgspec.Struct):
    calls: tuple[_SimulatedCall, ...] = ()


def answer_parts(method: str, answer: RpcAnswer) -> tuple[str, ...]:
    """Return the parts of an answer. An answer of another form counts as a failure."""
    if isinstance(answer, RpcFault):
        return (_fault_part(answer),)
    try:
        return tuple(_cut(part.lower()) for part in _parts(method, answer))
    except (msgspec.DecodeError, ValueError):
        return (FAILED,)


def _fault_part(fault: RpcFault) -> str:
    is_revert = (
        fault.code == _REVERT_CODE or fault.data is not None or "revert" in fault.message.lower()
    )
    return _cut(f"reverted {(fault.data or '0x').lower()}") if is_revert else FAILED


def _parts(method: str, answer: msgspec.Raw) -> list[str]:
    """Raises DecodeError, ValueError."""
    match method:
        case "eth_getBlockByHash":
            header = msgspec.json.decode(answer, type=_Header)
            return [f"{key} {value}" for key, value in msgspec.structs.asdict(header).items()]
        case "eth_getLogs":
            logs = msgspec.json.decode(answer, type=tuple[_Log, ...])
            return [_log_part(log) for log in logs[:_MOST_PARTS]] + _rest(logs)
        case "eth_simulateV1":
            blocks = msgspec.json.decode(answer, type=tuple[_SimulatedBlock, ...])
            return [_call_part(call) for block in blocks for call in block.calls]
        case "eth_getStorageAt":
            return [f"0x{int(msgspec.json.decode(answer, type=_Hex), 16):064x}"]
        case _:
            return [msgspec.json.decode(answer, type=_Hex)]


_MOST_PARTS: Final = 64


def _rest(logs: tuple[_Log, ...]) -> list[str]:
    """Return one part for all logs beyond those that are shown."""
    rest = " ".join(map(_log_part, logs[_MOST_PARTS:]))
    return [f"{len(logs)} logs {rest}"] if rest else []


def _log_part(log: _Log) -> str:
    return " ".join((log.block_number, log.address, *log.topics, log.data))


def _call_part(call: _SimulatedCall) -> str:
    is_ok = int(call.status, 16) == 1
    data = call.return_data
    if data == "0x" and call.error is not None and isinstance(call.error.data, str):
        data = call.error.data
    logs = [" ".join((log.address, *log.topics, log.data)) for log in call.logs]
    return " ".join(("ok" if is_ok else "reverted", data, *logs))


def _cut(part: str) -> str:
    """Return the part; of a long one the beginning and a digest of the whole."""
    if len(part) <= _SHOWN_CHARS + _DIGEST_CHARS:
        return part
    digest = keccak(part.encode()).hex()[:_DIGEST_CHARS]
    return f"{part[:_SHOWN_CHARS]}... keccak {digest}"
