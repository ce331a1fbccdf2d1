"""Decoder of logs in answers to `eth_getLogs` and in receipts, for all of their readers.

Nodes differ in how they write what is empty: `null` for no logs, no data or no removal, and ""
for no data. These forms are read as what they mean. Anything else that is no log is an error.
"""

import itertools
import re
from collections.abc import Sequence

import msgspec

from core.rpc.failures import IllFormedError, MalformedAnswerError
from core.rpc.messages import RpcAnswer, RpcFault, RpcRequest

LOGS = "eth_getLogs"

_NO_DATA = "0x"
_NO_LOGS = msgspec.Raw(b"[]")
_ILL_FORMED = -32603
"""Code of an internal error (JSON-RPC 2.0, section 5.1)."""
_MOST_NUMBER = 2**63 - 1
_ADDRESS = re.compile(r"0x[0-9a-f]{40}")
_TOPIC = re.compile(r"0x[0-9a-f]{64}")
_DATA = re.compile(r"0x(?:[0-9a-f]{2})*")


class WireLog(msgspec.Struct, rename="camel", gc=False):
    """A mined log as nodes send it. Other fields are ignored."""

    address: str
    topics: tuple[str, ...]
    data: str | None
    block_number: str
    block_hash: str
    log_index: str
    transaction_hash: str | None = None
    block_timestamp: str | float | None = None
    """Geth, Erigon, Reth and anvil send it; execution-apis has it since 2025."""
    removed: bool | None = None

    @property
    def hex_data(self) -> str:
        """Return the data as 0x hex."""
        return self.data or _NO_DATA


class _AnyLog(msgspec.Struct, rename="camel"):
    """The fields of a log that analyses read."""

    address: str
    topics: tuple[str, ...]
    data: str | None = None
    block_number: str | None = None
    log_index: str | None = None
    removed: bool | None = None


_decoder = msgspec.json.Decoder(list[WireLog] | None)
_any_decoder = msgspec.json.Decoder(list[_AnyLog] | None)


def decode_wire_logs(answer: bytes | msgspec.Raw) -> list[WireLog]:
    """Decode mined logs, in the order of the answer.

    Raises ValueError (msgspec's errors are among them) for anything else.
    """
    try:
        return _decoder.decode(answer) or []
    except RecursionError:
        raise IllFormedError(part="log: it is nested too deeply") from None


def plain_logs(answer: msgspec.Raw) -> msgspec.Raw:
    """Return an answer with every log in its ordinary form, in the order of the chain.

    Returns the answer itself if it is so already. Raises ValueError for anything but logs.
    """
    try:
        logs = _any_decoder.decode(answer)
    except RecursionError:
        raise IllFormedError(part="log: it is nested too deeply") from None
    if logs is None:
        return _NO_LOGS
    is_plain = [_is_plain(log) for log in logs]
    places = [_place(log) for log in logs]
    if all(is_plain) and _is_sorted(places):
        return answer
    raw = msgspec.json.decode(answer, type=list[dict[str, object]])
    order = sorted(range(len(raw)), key=places.__getitem__)
    return msgspec.Raw(msgspec.json.encode([raw[at] | _plain_parts(logs[at]) for at in order]))


def plain_answers(
    requests: Sequence[RpcRequest], answers: Sequence[RpcAnswer]
) -> tuple[list[RpcAnswer], MalformedAnswerError | None]:
    """Return the answers with plain logs, and an error if some of them are no logs.

    An error object replaces such an answer; readers take it for a refused query.
    """
    found: list[RpcAnswer] = []
    failure: MalformedAnswerError | None = None
    for request, answer in zip(requests, answers, strict=True):
        if request.method != LOGS or isinstance(answer, RpcFault):
            found.append(answer)
            continue
        try:
            found.append(plain_logs(answer))
        except ValueError as error:  # msgspec's errors are ValueErrors, too
            reason = f"{LOGS}: {error}"
            failure = MalformedAnswerError(service="node", reason=reason)
            found.append(RpcFault(code=_ILL_FORMED, message=reason))
    return found, failure


def _plain_parts(log: _AnyLog) -> dict[str, object]:
    return {
        "address": log.address.lower(),
        "topics": [topic.lower() for topic in log.topics],
        "data": (log.data or _NO_DATA).lower(),
    }


def _is_plain(log: _AnyLog) -> bool:
    """True if the log is in its ordinary form, False if it can be put into it.

    Raises IllFormedError.
    """
    if log.removed:
        raise IllFormedError(part="log: it was removed by a reorganisation")
    parts = _plain_parts(log)
    topics = [topic.lower() for topic in log.topics]
    if (
        _ADDRESS.fullmatch(str(parts["address"])) is None
        or _DATA.fullmatch(str(parts["data"])) is None
        or any(_TOPIC.fullmatch(topic) is None for topic in topics)
    ):
        raise IllFormedError(part="hex of a log")
    return (log.address, list(log.topics), log.data) == tuple(parts.values())


def _place(log: _AnyLog) -> tuple[int, int]:
    return _number(log.block_number), _number(log.log_index)


def _number(text: str | None) -> int:
    """Return a block number or log index; 0 if the node sent none."""
    number = 0 if text is None else int(text, 16)
    if not 0 <= number <= _MOST_NUMBER:
        raise IllFormedError(part="block number or log index of a log")
    return number


def _is_sorted(places: Sequence[tuple[int, int]]) -> bool:
    return all(one <= other for one, other in itertools.pairwise(places))
