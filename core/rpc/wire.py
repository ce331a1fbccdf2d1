"""JSON-RPC 2.0 encoding: requests to bytes, bytes to answers matched by id. No I/O."""

from collections.abc import Sequence

import msgspec

from core.errors import UpstreamError
from core.rpc.failures import BatchRefusedError, MalformedAnswerError, RateLimitedError
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest
from core.rpc.ranges import is_address_refusal, is_query_timeout, is_range_refusal

_RATE_CODES = frozenset({429, -32005, -32016, -32029, -32097})
"""Codes that nodes and gateways use for "too many requests"; -32005 also for "too many results",
-32016 also for a timeout (Nethermind)."""
_RATE_WORDS = (
    "rate limit",
    "ratelimit",
    "too many requests",
    "requests per second",
    "request limit",
    "compute units",
    "rate exceeded",
    "credits limited",
    "capacity exceeded",
    "capacity limit exceeded",
    "exceeded its throughput",
    "try again later",
    "over quota",
)
_EVM_CODES = frozenset({3, -32015})
"""Codes of reverts: go-ethereum and its followers; Parity and Nethermind."""
_MOST_ID_DIGITS = 18
_MESSAGE_CHARACTERS = 2_000
"""Characters of an error's message that are kept: its words are searched for by expressions."""
_DETAIL_CHARACTERS = 200
"""Characters of an error's data that are kept."""
_TOO_LONG_FOR_BATCH = "response too large"
"""Geth's error for the tail of a batch whose answers together grew too long."""


class _Request(msgspec.Struct):
    id: int
    method: str
    params: tuple[object, ...]
    jsonrpc: str = "2.0"


class _Error(msgspec.Struct):
    code: int | str | float | None = 0
    message: str | None = ""
    data: msgspec.Raw = msgspec.Raw()


class _Reply(msgspec.Struct):
    id: int | str | float | None = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: _Error | None = None


Message = bytes | bytearray
"""One message as it was received. It is not changed any more: answers are parts of it."""

_FIRST_BYTES = 64
_LONG_BYTES = 128 * 1024
"""Messages from which on a long list is left unread: reading all bytes of one costs a fifth of what
decoding its logs does."""
_EDGE_BYTES = 32 * 1024
"""Places in a long message where a list may begin or end."""
_LIST_BEGINS, _LIST_ENDS = b'"result":[{', b"}]}"
"""With the key before the list, and the end of the answer behind it."""
_NO_LIST = b"[]"

_one = msgspec.json.Decoder(_Reply)
_many = msgspec.json.Decoder(list[_Reply])


def encode_requests(requests: Sequence[RpcRequest], *, first_id: int) -> bytes:
    """Encode all requests as one message, with ids counted up from `first_id`.

    A single request is not wrapped in a list: every node takes that form.
    """
    messages = [
        _Request(id=first_id + offset, method=request.method, params=request.params)
        for offset, request in enumerate(requests)
    ]
    return msgspec.json.encode(messages[0] if len(messages) == 1 else messages)


def decode_answers(body: Message, *, first_id: int, count: int, service: str) -> list[RpcAnswer]:
    """Decode the answers into the order of the requests, in whatever order the node sent them.

    A long list of objects may come back undecoded: its reader may still find that it is not JSON.
    Raises MalformedAnswerError for anything but exactly one answer to each id, BatchRefusedError
    and RateLimitedError where one error object answers the message as a whole.
    """
    if len(body) >= _LONG_BYTES:
        try:
            return _decode_around_list(body, first_id=first_id, count=count, service=service)
        except UpstreamError:
            pass  # the list is none, or not the only one: all is read
    return _decode_all(body, first_id=first_id, count=count, service=service)


def _decode_around_list(
    body: Message, *, first_id: int, count: int, service: str
) -> list[RpcAnswer]:
    """Decode a message in which one result is a list of objects, but for that list.

    With an empty list in its place the rest must be the answers to all requests, and no other
    result an empty list. Raises UpstreamError otherwise.
    """
    first = body.find(_LIST_BEGINS, 0, _EDGE_BYTES) + len(_LIST_BEGINS) - len("[{")
    end = body.rfind(_LIST_ENDS, -_EDGE_BYTES) + len("}]")
    short = bytes(body[:first]) + _NO_LIST + bytes(body[end:])
    if not 0 < first < end or len(short) > 2 * _EDGE_BYTES:
        raise MalformedAnswerError(service=service, reason="a long answer without one long list")
    answers = _decode_all(short, first_id=first_id, count=count, service=service)
    places = [at for at, one in enumerate(answers) if one == msgspec.Raw(_NO_LIST)]
    if len(places) != 1:
        raise MalformedAnswerError(service=service, reason="a long list next to empty lists")
    answers[places[0]] = msgspec.Raw(memoryview(body)[first:end])
    return answers


def _decode_all(body: Message, *, first_id: int, count: int, service: str) -> list[RpcAnswer]:
    try:
        # Without a copy of the whole, unless it begins with that many blanks.
        is_list = (body[:_FIRST_BYTES].lstrip() or body.lstrip())[:1] == b"["
        replies = _many.decode(body) if is_list else [_one.decode(body)]
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise MalformedAnswerError(service=service, reason=f"not JSON-RPC: {error}") from None
    if count > 1 and len(replies) == 1 and replies[0].error is not None:
        raise _refusal_of_all(replies[0].error, service=service)
    return _match(replies, first_id=first_id, count=count, service=service)


def is_passing(fault: RpcFault) -> bool:
    """True if the same request may succeed later or at another endpoint: a rate limit.

    Never for a revert, as its message is the contract's and may itself be "try again later".
    """
    message = fault.message.lower()
    if _is_revert(fault) or is_range_refusal(fault) or is_address_refusal(fault):
        return False
    return (
        (fault.code in _RATE_CODES and not is_query_timeout(fault))
        or any(words in message for words in _RATE_WORDS)
        or _TOO_LONG_FOR_BATCH in message
    )


def _is_revert(fault: RpcFault) -> bool:
    has_revert_data = fault.data is not None and fault.data.startswith("0x")
    return fault.code in _EVM_CODES or has_revert_data or "revert" in fault.message.lower()


def _refusal_of_all(error: _Error, *, service: str) -> BatchRefusedError | RateLimitedError:
    fault = _fault(error)
    if is_passing(fault):
        return RateLimitedError(service=service, reason=fault.message)
    return BatchRefusedError(service=service, reason=fault.message)


def _match(
    replies: Sequence[_Reply], *, first_id: int, count: int, service: str
) -> list[RpcAnswer]:
    answers: list[RpcAnswer | None] = [None] * count
    for reply in replies:
        number = _id(reply.id)
        is_requested = number is not None and first_id <= number < first_id + count
        # A node that could not read the request answers with a null id; alone, it is unambiguous.
        lone_error = reply.id is None and reply.error is not None and count == len(replies) == 1
        if lone_error:
            offset = 0
        elif is_requested and number is not None:
            offset = number - first_id
        else:
            raise MalformedAnswerError(service=service, reason=f"answer with id {reply.id!r}")
        if answers[offset] is not None:
            raise MalformedAnswerError(service=service, reason=f"two answers with id {reply.id!r}")
        answers[offset] = _answer(reply, service=service)
    complete = [answer for answer in answers if answer is not None]
    if len(complete) != count:
        reason = f"{count - len(complete)} of {count} requests were not answered"
        # Nodes without batches, or with a shorter limit, answer some of the requests or none.
        kind = BatchRefusedError if count > 1 else MalformedAnswerError
        raise kind(service=service, reason=reason)
    return complete


def _id(value: float | str | None) -> int | None:
    """Return the id of an answer; some gateways send it as text or with a fraction."""
    if isinstance(value, str):
        return int(value) if value.isdecimal() and len(value) <= _MOST_ID_DIGITS else None
    if isinstance(value, float):
        return int(value) if value.is_integer() else None
    return value


def _answer(reply: _Reply, *, service: str) -> RpcAnswer:
    if reply.error is not None:
        return _fault(reply.error)
    if isinstance(reply.result, msgspec.UnsetType):
        raise MalformedAnswerError(service=service, reason="an answer without result and error")
    return reply.result


def _fault(error: _Error) -> RpcFault:
    """Return the error with its revert data, wherever the node put it; other details of `data`
    become part of the message."""
    try:
        data = msgspec.json.decode(error.data) if bytes(error.data) else None
    except msgspec.MsgspecError:
        data = None
    revert = _revert_data(data)
    detail = "" if data is None or revert is not None else _text_of(data)
    text = (error.message or "")[:_MESSAGE_CHARACTERS]
    message = f"{text} ({detail})" if detail else text
    return RpcFault(code=_code(error.code), message=message, data=revert)


def _code(code: float | str | None) -> int:
    """Return an error code as a number, as some gateways send text. 0: it is none."""
    try:
        return int(code or 0)
    except (ValueError, OverflowError):
        return 0


def _revert_data(data: object) -> str | None:
    """Return revert data as 0x hex. None: there is none.

    Parity's form begins with "Reverted"; Hardhat has it in the object's `data`, Ganache in
    `result`.
    """
    if isinstance(data, dict):
        places = (data.get("data"), data.get("result"))
        return next((one for one in map(_revert_data, places) if one is not None), None)
    if not isinstance(data, str):
        return None
    text = data.removeprefix("Reverted ")
    return text if text.startswith("0x") else None


def _text_of(data: object) -> str:
    """Return a short text: a contract may have chosen the data and its size."""
    text = data if isinstance(data, str) else msgspec.json.encode(data).decode()
    return text[:_DETAIL_CHARACTERS]
