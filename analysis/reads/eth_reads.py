"""Decoding of the answers to JSON-RPC reads, and of what contracts return.

An answer is one of three: data, a failure of the contract itself (`NoAnswer`: it reverted, ran out
of gas, met a bad instruction), or a fault of the node, which is raised as UpstreamError.
"""

from typing import TypeVar

import msgspec

from analysis.reads.revert_reason import decode_revert
from core.errors import UpstreamError
from core.evm.abi import slice_bytes
from core.evm.primitives import Address, address_of
from core.rpc.log_answers import plain_logs
from core.rpc.messages import RpcAnswer, RpcFault

T = TypeVar("T")

CALL_GAS = 15_000_000
"""Gas of one read. A Solidity getter that returns a string of 1 MB needs about 11 million (memory
costs grow with the square of its size); nodes with EIP-7825 reject more than 2**24; and a contract
that burns all of it still ends within a fraction of a second."""

WORD = 32
TEXT_LIMIT = 256
"""Characters of a name or symbol that are kept."""

_TEXT_BYTES = 4 * TEXT_LIMIT
"""UTF-8 needs at most four bytes a character."""

_SERVICE = "node"

_REVERT_CODE = 3
"""Error code of a revert: go-ethereum, and all clients that follow it."""

_VM_ERROR_CODE = -32015
"""Error code of OpenEthereum and Nethermind for every failure inside the EVM."""

_EVM_FAILURES = (
    # reverts, in each client's wording
    "revert",
    "vmexecutionerror",
    # gas: go-ethereum, Erigon, Nethermind, Reth; then revm's names, which anvil passes on
    "outofgas",
    "gasuintoverflow",
    "gasuint64overflow",
    "memoryoog",
    "memorylimitoog",
    "invalidoperandoog",
    "outofoffset",
    # instructions and jumps
    "invalidopcode",
    "invalidfeopcode",
    "opcodenotfound",
    "invalidinstruction",
    "badinstruction",
    "notactivated",
    "invalidjump",
    "badjumpdestination",
    # stack and call depth
    "stackunderflow",
    "stackoverflow",
    "stacklimitreached",
    "maxcalldepthexceeded",
    "calltoodeep",
    # rules of a call
    "writeprotection",
    "statechangeduringstaticcall",
    "returndataoutofbounds",
)
"""Error texts of failures inside the EVM, letters and digits only, lower case. Sources: go-ethereum
core/vm/errors.go, Nethermind EvmExceptionExtensions.cs, Reth's RpcInvalidTransactionError, revm's
HaltReason. Anything else (an unknown block, a timeout, a missing state) is the node's fault."""


class NoAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """A call that the contract itself failed; never a fault of the node."""

    reason: str


Reply = bytes | NoAnswer
"""The bytes that a contract returned, or its failure."""


def read_reply(answer: RpcAnswer) -> Reply:
    """Decode the answer to `eth_call`. Raises UpstreamError when the node failed."""
    if not isinstance(answer, RpcFault):
        return _hex_bytes(answer)
    if _is_the_contracts_doing(answer):
        return NoAnswer(reason=_said(answer))
    raise _upstream(answer)


def read_code(answer: RpcAnswer) -> bytes:
    """Decode the answer to `eth_getCode`, empty for an account. Raises UpstreamError."""
    if isinstance(answer, RpcFault):
        raise _upstream(answer)
    return _hex_bytes(answer)


def read_word(answer: RpcAnswer) -> int:
    """Decode the answer to `eth_getStorageAt`. Raises UpstreamError."""
    if isinstance(answer, RpcFault):
        raise _upstream(answer)
    text = _text(answer)
    try:
        word = int(text, 16)
    except ValueError as error:
        raise UpstreamError(service=_SERVICE, reason="sent storage that is not hex") from error
    if not 0 <= word < 2 ** (8 * WORD):
        raise UpstreamError(service=_SERVICE, reason="sent storage that is no word")
    return word


def decode_answer(answer: RpcAnswer, kind: type[T]) -> T | None:
    """Decode an answer that an analysis can do without. None: a fault, or another shape."""
    if isinstance(answer, RpcFault):
        return None
    try:
        return msgspec.json.decode(answer, type=kind)
    except msgspec.DecodeError:
        return None


def _is_the_contracts_doing(fault: RpcFault) -> bool:
    if fault.code in (_REVERT_CODE, _VM_ERROR_CODE):
        return True
    words = "".join(letter for letter in fault.message.lower() if letter.isalnum())
    return any(failure in words for failure in _EVM_FAILURES)


def _upstream(fault: RpcFault) -> UpstreamError:
    return UpstreamError(service=_SERVICE, reason=f"{_said(fault)} (code {fault.code})")


def _said(fault: RpcFault) -> str:
    """Return the fault as one line of bounded length: a contract chooses its revert data and its
    size."""
    try:
        data = bytes.fromhex((fault.data or "").removeprefix("0x"))
    except ValueError:
        data = b""
    return decode_revert(data, fault.message)


def _hex_bytes(answer: msgspec.Raw) -> bytes:
    text = _text(answer)
    try:
        return bytes.fromhex(text.removeprefix("0x"))
    except ValueError as error:
        raise UpstreamError(service=_SERVICE, reason="sent bytes that are not hex") from error


def _text(answer: msgspec.Raw) -> str:
    try:
        return msgspec.json.decode(answer, type=str)
    except msgspec.DecodeError as error:
        raise UpstreamError(service=_SERVICE, reason="sent no text where hex belongs") from error


# --- decoding what a contract returned --------------------------------------------------------


def decode_uint(reply: Reply) -> int | None:
    """Return the first word as a number. None: the contract returned no whole word."""
    if isinstance(reply, NoAnswer) or len(reply) < WORD:
        return None
    return int.from_bytes(reply[:WORD])


def words_of(data: bytes) -> list[int]:
    """Return the words of ABI data as numbers; a last one that is cut short counts as it is."""
    return [int.from_bytes(data[at : at + WORD]) for at in range(0, len(data), WORD)]


def decode_address(reply: Reply, *, at: int = 0) -> Address | None:
    """Return the word at this index as an address. None: no whole word, or its upper twelve bytes
    are not zero."""
    word = None if isinstance(reply, NoAnswer) else decode_uint(reply[WORD * at :])
    return None if word is None else address_of(word)


def decode_text(data: bytes) -> str | None:
    """Return an ABI string, or a bytes32, as text of at most TEXT_LIMIT characters.

    Bytes that are not UTF-8 become U+FFFD, NULs are dropped. None: neither form fits the data.
    """
    if len(data) == WORD:
        return _shown(data)
    raw = slice_bytes(data)
    return None if raw is None else _shown(raw)


def _shown(raw: bytes) -> str:
    return raw.replace(b"\0", b"")[:_TEXT_BYTES].decode("utf-8", "replace")[:TEXT_LIMIT]


class Log(msgspec.Struct, frozen=True):
    """An event as nodes send it."""

    address: str
    topics: tuple[str, ...]
    data: str


class MinedLog(msgspec.Struct, frozen=True, rename="camel"):
    """An event with the block that it is in."""

    topics: tuple[str, ...]
    data: str
    block_number: str
    """In hex."""


def decode_mined_logs(answer: RpcAnswer) -> tuple[MinedLog, ...] | None:
    """Decode the answer to `eth_getLogs`. None: the node refused the query."""
    return _decode(answer, tuple[MinedLog, ...])


def decode_logs(answer: RpcAnswer) -> tuple[Log, ...] | None:
    """Decode the answer to `eth_getLogs`. None: the node refused the query."""
    return _decode(answer, tuple[Log, ...])


def _decode(answer: RpcAnswer, kind: type[T]) -> T | None:
    """Return None also for an answer that is no list of logs, as for a refused query."""
    if isinstance(answer, RpcFault):
        return None
    try:
        return msgspec.json.decode(plain_logs(answer), type=kind)
    except (ValueError, RecursionError):  # msgspec's errors are ValueErrors, too
        return None
