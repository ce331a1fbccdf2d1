"""Admission check. Raises TokenRefusedError for an address without a token."""

import msgspec

from analysis.reads.read_batch import ReadBatch
from analysis.token.metadata import Metadata, MetadataReads
from config.burn import BURN_ADDRESSES
from core.errors import TokenRefusedError
from core.evm.primitives import Address, parse_address

_DELEGATION_PREFIX = bytes.fromhex("ef0100")
_DELEGATION_LENGTH = 23
"""EIP-7702: the prefix and the address an account borrows its code from."""

DELEGATION_BYTES = _DELEGATION_LENGTH + 1
"""Bytes of code that distinguish an account (none, or a delegation) from a contract."""


class Admitted(msgspec.Struct, frozen=True, kw_only=True):
    """Code and metadata of an admitted token."""

    code: bytes
    """Runtime code at the token's own address."""
    metadata: Metadata


def admit_address(text: str) -> Address:
    """Parse the address in a caller's text.

    Raises TokenRefusedError: `invalid_address`, or `burn_address` for one of the five.
    """
    address = parse_address(text)
    if address in BURN_ADDRESSES:
        raise TokenRefusedError(
            code="burn_address", reason=f"{address} is a burn address, not a token"
        )
    return address


class AdmissionReads:
    """Reads of the code and the four ERC-20 getters."""

    def __init__(self, batch: ReadBatch, token: Address) -> None:
        self._batch = batch
        self.code = batch.code(token)
        self._metadata = MetadataReads(batch, token)

    def read(self) -> Admitted:
        """Return the token, or raise its refusal.

        Code of any form is admitted, also a precompile's short marker: the ERC-20 reads decide.
        Raises TokenRefusedError: `not_a_contract`, `not_a_token`, `invalid_token_data`. Raises
        UpstreamError.
        """
        code = self._batch[self.code]
        if not code:
            raise TokenRefusedError(
                code="not_a_contract", reason="There is no code at this address on this chain"
            )
        if is_delegated_account(code):
            raise TokenRefusedError(
                code="not_a_contract", reason="This is an account that borrows code (EIP-7702)"
            )
        return Admitted(code=code, metadata=self._metadata.read())


def is_delegated_account(code: bytes) -> bool:
    """True if the code is only an account's delegation. Source: EIP-7702."""
    return len(code) == _DELEGATION_LENGTH and code.startswith(_DELEGATION_PREFIX)
