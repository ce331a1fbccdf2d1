"""The gate: is there a token at this address? If not, one of the specification's refusals."""

from collections.abc import Sequence

import msgspec

from analysis.reads.eth_reads import code_at, read_code
from analysis.token import metadata
from analysis.token.metadata import Metadata
from config.burn import BURN_ADDRESSES
from config.errors import TokenRefusedError
from config.jsonrpc import RpcAnswer, RpcRequest
from config.primitives import Address, Hash32, parse_address

_DELEGATION_PREFIX = bytes.fromhex("ef0100")
_DELEGATION_LENGTH = 23
"""EIP-7702: the prefix and the address an account borrows its code from."""

DELEGATION_BYTES = _DELEGATION_LENGTH + 1
"""So much of a code tells an account (none, or a delegation) from a contract."""


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """A token, as far as the gate looks."""

    code: bytes
    """Runtime code at the token's own address."""
    metadata: Metadata


def admit_address(text: str) -> Address:
    """The address in a caller's text.

    Raises TokenRefusedError: `invalid_address`, or `burn_address` for one of the five.
    """
    address = parse_address(text)
    if address in BURN_ADDRESSES:
        raise TokenRefusedError(
            code="burn_address", reason=f"{address} is a burn address, not a token"
        )
    return address


def requests(token: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Code and the four ERC-20 reads."""
    return (code_at(token, block=block), *metadata.requests(token, block=block))


def read(answers: Sequence[RpcAnswer]) -> Admitted:
    """Admit or refuse.

    Code of any form will do, also a precompile's short marker: the ERC-20 reads decide.
    Raises TokenRefusedError: `not_a_contract`, `not_a_token`, `invalid_token_data`.
    Raises UpstreamError.
    """
    code = read_code(answers[0])
    if not code:
        raise TokenRefusedError(
            code="not_a_contract", reason="There is no code at this address on this chain"
        )
    if is_delegated_account(code):
        raise TokenRefusedError(
            code="not_a_contract", reason="This is an account that borrows code (EIP-7702)"
        )
    return Admitted(code=code, metadata=metadata.read(answers[1:]))


def is_delegated_account(code: bytes) -> bool:
    """Whether the code only says whose code an account borrows. Source: EIP-7702."""
    return len(code) == _DELEGATION_LENGTH and code.startswith(_DELEGATION_PREFIX)
