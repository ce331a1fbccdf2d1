"""Calls of contracts at the head, and decoding of their results. No I/O."""

from collections.abc import Sequence

import msgspec

from analysis.reads.eth_reads import decode_text
from assay.doctor.check import Asking, ProbeAnswer, ask, is_result, word_of
from assay.doctor.tracers import pinned
from core.evm.abi import call_data
from core.evm.primitives import Address, address_of
from core.rpc.headers import Header
from core.rpc.messages import RpcRequest


class ContractGetter(msgspec.Struct, frozen=True):
    """A call of a view function."""

    contract: Address
    signature: str
    arguments: tuple[object, ...] = ()

    def request(self, head: Header) -> RpcRequest:
        """Build the eth_call at the head."""
        data = call_data(self.signature, *self.arguments)
        return RpcRequest("eth_call", ({"to": self.contract, "data": data}, pinned(head)))


def read_all(
    head: Header, getters: Sequence[ContractGetter]
) -> Asking[dict[ContractGetter, ProbeAnswer]]:
    """Read each getter once; return the answers by getter."""
    unique = list(dict.fromkeys(getters))
    answers = yield ask(*(getter.request(head) for getter in unique))
    return dict(zip(unique, answers.all, strict=True))


def bytes_in(answer: ProbeAnswer) -> bytes:
    """Return the bytes that a call returned; empty if it failed."""
    if not is_result(answer):
        return b""
    try:
        return bytes.fromhex(msgspec.json.decode(answer, type=str).removeprefix("0x"))
    except ValueError:
        return b""


def address_in(answer: ProbeAnswer) -> Address | None:
    """Return the address that a call returned. None: it failed, or returned none."""
    word = word_of(answer)
    return None if word is None else address_of(word)


def text_in(answer: ProbeAnswer) -> str | None:
    """Return the text that a call returned. None: it failed, or returned none."""
    return decode_text(bytes_in(answer))
