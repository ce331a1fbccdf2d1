"""Burned supply of a token: the sum of the balances of the five burn addresses."""

from collections.abc import Sequence

import msgspec

from analysis.reads.eth_reads import call, decode_uint, read_reply
from config.burn import BURN_ADDRESSES
from core.primitives import Address, Hash32, RawAmount
from core.report import HolderRow
from core.rpc.messages import RpcAnswer, RpcRequest

_ASKED = tuple(sorted(BURN_ADDRESSES))
_MOST = 2**256 - 1


class Burned(msgspec.Struct, frozen=True, kw_only=True):
    """Balances of the burn addresses at one block."""

    burned_raw: RawAmount
    """Their sum, at most 2**256 - 1; a token can report more than its supply."""
    holders: tuple[HolderRow, ...]
    """Those with a balance above zero, largest first."""


def requests(token: Address, *, block: Hash32) -> tuple[RpcRequest, ...]:
    """Return the reads of every burn address's balance."""
    return tuple(call(token, "balanceOf(address)", owner, block=block) for owner in _ASKED)


def read(answers: Sequence[RpcAnswer]) -> Burned:
    """Sum the balances; one that the token does not return counts as zero. Raises UpstreamError."""
    balances = [
        (decode_uint(read_reply(answer)) or 0, owner)
        for owner, answer in zip(_ASKED, answers, strict=True)
    ]
    held = sorted(((-amount, owner) for amount, owner in balances if amount))
    return Burned(
        burned_raw=RawAmount(min(_MOST, sum(amount for amount, _ in balances))),
        holders=tuple(
            HolderRow(role="burn", ordinal=ordinal, owner=owner, amount_raw=RawAmount(-negative))
            for ordinal, (negative, owner) in enumerate(held)
        ),
    )
