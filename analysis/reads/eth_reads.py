"""Reads of one pinned block, and what their answers mean.

Three things can come back and are never mixed up: data, a refusal by the contract itself
(`NoAnswer`: it reverted, burned its gas, ran into a bad instruction), and a fault of the node,
which is raised as UpstreamError.
"""

import msgspec

from analysis.reads.abi_encoding import call_data
from analysis.reads.revert_reason import decode_revert
from config.errors import UpstreamError
from config.jsonrpc import RpcAnswer, RpcFault, RpcRequest
from config.primitives import Address, Hash32

CALL_GAS = 15_000_000
"""Gas of one read. A Solidity getter that returns a string of 1 MB needs about 11 million (memory
costs grow with the square of its size); nodes with EIP-7825 refuse more than 2**24; and a contract
that burns all of it still ends within a fraction of a second."""

WORD = 32
TEXT_LIMIT = 256
"""Characters of a name or symbol that are kept."""

_TEXT_BYTES = 4 * TEXT_LIMIT
"""UTF-8 needs at most four bytes a character."""

_ADDRESS_BITS = 160
_SERVICE = "node"

_REVERT_CODE = 3
"""Error code of a revert: go-ethereum, and all that follow it."""

_VM_ERROR_CODE = -32015
"""OpenEthereum's and Nethermind's code for every failure inside the EVM."""

_EVM_FAILURES = (
    # a revert, in every client's words
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
"""Words for "the contract's code failed", letters and digits only, lower case. Sources: go-ethereum
core/vm/errors.go, Nethermind EvmExceptionExtensions.cs, Reth's RpcInvalidTransactionError, revm's
HaltReason. Anything else (an unknown block, a timeout, a missing state) is the node's fault."""


class NoAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """The contract did not answer a call. Its own doing, never the node's."""

    reason: str


Reply = bytes | NoAnswer
"""What a contract returned, or that it did not."""


def call(to: Address, signature: str, *arguments: object, block: Hash32) -> RpcRequest:
    """A read of `name(type,...)` at `to`, as the zero address, at one block (EIP-1898)."""
    return call_raw(to, call_data(signature, *arguments), block=block)


def call_raw(to: Address, data: str, *, block: Hash32) -> RpcRequest:
    """As `call`, with 0x calldata that is written already."""
    transaction = {"to": to, "data": data, "gas": hex(CALL_GAS)}
    return RpcRequest("eth_call", (transaction, _pinned(block)))


def code_at(address: Address, *, block: Hash32) -> RpcRequest:
    """The runtime code of an address at one block."""
    return RpcRequest("eth_getCode", (address, _pinned(block)))


def word_at(address: Address, slot: Hash32, *, block: Hash32) -> RpcRequest:
    """One word of an address's storage at one block."""
    return RpcRequest("eth_getStorageAt", (address, slot, _pinned(block)))


def _pinned(block: Hash32) -> dict[str, str]:
    return {"blockHash": block}


def read_reply(answer: RpcAnswer) -> Reply:
    """What the contract said to `call`. Raises UpstreamError when it was the node that failed."""
    if not isinstance(answer, RpcFault):
        return _hex_bytes(answer)
    if _is_the_contracts_doing(answer):
        return NoAnswer(reason=_said(answer))
    raise _upstream(answer)


def read_code(answer: RpcAnswer) -> bytes:
    """The code asked for by `code_at`, empty for an account. Raises UpstreamError."""
    if isinstance(answer, RpcFault):
        raise _upstream(answer)
    return _hex_bytes(answer)


def read_word(answer: RpcAnswer) -> int:
    """The word asked for by `word_at`. Raises UpstreamError."""
    if isinstance(answer, RpcFault):
        raise _upstream(answer)
    text = _text(answer)
    try:
        return int(text, 16)
    except ValueError as error:
        raise UpstreamError(service=_SERVICE, reason="sent storage that is not hex") from error


def _is_the_contracts_doing(fault: RpcFault) -> bool:
    if fault.code in (_REVERT_CODE, _VM_ERROR_CODE):
        return True
    words = "".join(letter for letter in fault.message.lower() if letter.isalnum())
    return any(failure in words for failure in _EVM_FAILURES)


def _upstream(fault: RpcFault) -> UpstreamError:
    return UpstreamError(service=_SERVICE, reason=f"{_said(fault)} (code {fault.code})")


def _said(fault: RpcFault) -> str:
    """The fault in a line of bounded length: a contract chooses its revert's words, and their
    number."""
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
    """The first word as a number. None: the contract gave no whole word."""
    if isinstance(reply, NoAnswer) or len(reply) < WORD:
        return None
    return int.from_bytes(reply[:WORD])


def decode_address(reply: Reply) -> Address | None:
    """The first word as an address. None: no whole word, or its upper twelve bytes are not zero."""
    word = decode_uint(reply)
    return None if word is None else address_of(word)


def address_of(word: int) -> Address | None:
    """The address a word holds. None: more than an address is in it."""
    return None if word >> _ADDRESS_BITS else Address(f"0x{word:040x}")


def decode_text(data: bytes) -> str | None:
    """An ABI string, or a bytes32, as text of at most TEXT_LIMIT characters.

    Bytes that are not UTF-8 become U+FFFD, NULs are dropped. Offset and length are only compared
    with the data at hand, so an absurd one costs nothing. None: neither form fits the data.
    """
    if len(data) == WORD:
        return _shown(data)
    if len(data) < 2 * WORD:
        return None
    start = int.from_bytes(data[:WORD]) + WORD
    if start > len(data):
        return None
    end = start + int.from_bytes(data[start - WORD : start])
    return None if end > len(data) else _shown(data[start:end])


def _shown(raw: bytes) -> str:
    return raw.replace(b"\0", b"")[:_TEXT_BYTES].decode("utf-8", "replace")[:TEXT_LIMIT]


class Log(msgspec.Struct, frozen=True):
    """An event as nodes send it."""

    address: str
    topics: tuple[str, ...]
    data: str


def read_logs(answer: RpcAnswer) -> tuple[Log, ...]:
    """Of an `eth_getLogs`; none where the node refused."""
    return () if isinstance(answer, RpcFault) else msgspec.json.decode(answer, type=tuple[Log, ...])
