"""Source verification of a token, and of the contract behind a proxy."""

import asyncio

import msgspec

from analysis.external.verified_sources import Sources
from core.evm.primitives import Address


class SourceFindings(msgspec.Struct, frozen=True, kw_only=True):
    """Findings on verified source. Definitions: the specification, "Static analysis"."""

    is_open_source: bool | None
    """None: no service is configured, or no answer decides."""
    has_open_source_implementation: bool | None
    """None also for a token that is no proxy."""


NOT_ASKED = SourceFindings(is_open_source=None, has_open_source_implementation=None)


async def find_openness(
    sources: Sources | None,
    *,
    chain_id: int,
    token: Address,
    implementation: Address | None,
    refresh: bool = False,
) -> SourceFindings:
    """Look up both contracts. Failures give None, never errors.

    `sources` None: no service is configured. `refresh`: ignore cached answers.
    """
    if sources is None:
        return NOT_ASKED
    contracts = [token] if implementation is None else [token, implementation]
    verified = await asyncio.gather(
        *(sources.is_verified(chain_id, contract, refresh=refresh) for contract in contracts)
    )
    return SourceFindings(
        is_open_source=verified[0],
        has_open_source_implementation=None if implementation is None else verified[1],
    )
