"""Token metadata by the four ERC-20 reads that every token must answer."""

from collections.abc import Sequence

import msgspec

from analysis.reads.eth_reads import NoAnswer, Reply, call, decode_text, decode_uint, read_reply
from core.errors import TokenRefusedError
from core.primitives import Address, Hash32, RawAmount
from core.rpc.messages import RpcAnswer, RpcRequest

GETTERS = ("name()", "symbol()", "decimals()", "totalSupply()")

_MOST_DECIMALS = 255
"""ERC-20 declares a uint8."""


class Metadata(msgspec.Struct, frozen=True, kw_only=True):
    """Metadata as the token returns it."""

    name: str
    """At most 256 characters; may be empty."""
    symbol: str
    decimals: int
    supply_raw: RawAmount


def requests(token: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Return the four reads."""
    return tuple(call(token, getter, block=block) for getter in GETTERS)


def read(answers: Sequence[RpcAnswer]) -> Metadata:
    """Decode the four answers.

    Raises TokenRefusedError: `not_a_token` where a getter does not answer, `invalid_token_data`
    where its answer is no valid value. Raises UpstreamError.
    """
    name, symbol, decimals, supply = (
        _answered(getter, read_reply(answer))
        for getter, answer in zip(GETTERS, answers, strict=True)
    )
    return Metadata(
        name=_text("name()", name),
        symbol=_text("symbol()", symbol),
        decimals=_decimals(decimals),
        supply_raw=RawAmount(int.from_bytes(supply[:32])),
    )


def _answered(getter: str, reply: Reply) -> bytes:
    if isinstance(reply, NoAnswer):
        raise TokenRefusedError(
            code="not_a_token", reason=f"The contract does not answer {getter}: {reply.reason}"
        )
    if decode_uint(reply) is None:
        raise TokenRefusedError(
            code="not_a_token",
            reason=f"The contract does not answer {getter}: it returned {len(reply)} bytes",
        )
    return reply


def _text(getter: str, data: bytes) -> str:
    text = decode_text(data)
    if text is None:
        raise TokenRefusedError(
            code="invalid_token_data", reason=f"{getter} returned neither a string nor a bytes32"
        )
    return text


def _decimals(data: bytes) -> int:
    decimals = int.from_bytes(data[:32])
    if decimals > _MOST_DECIMALS:
        raise TokenRefusedError(
            code="invalid_token_data", reason="decimals() returned more than 255"
        )
    return decimals
