"""Token metadata by the four ERC-20 reads that every token must answer."""

import msgspec

from analysis.reads.eth_reads import NoAnswer, Reply, decode_text, decode_uint
from analysis.reads.read_batch import ReadBatch
from core.errors import TokenRefusedError
from core.evm.primitives import Address, RawAmount

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


class MetadataReads:
    """Calls of the four getters."""

    def __init__(self, batch: ReadBatch, token: Address) -> None:
        self._batch = batch
        self._getters = {getter: batch.call(token, getter) for getter in GETTERS}

    def read(self) -> Metadata:
        """Decode the four answers.

        Raises TokenRefusedError: `not_a_token` where a getter does not answer, `invalid_token_data`
        where its answer is no valid value. Raises UpstreamError.
        """
        name, symbol, decimals, supply = (
            _answered(getter, self._batch[reply]) for getter, reply in self._getters.items()
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
