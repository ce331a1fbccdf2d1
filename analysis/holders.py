"""Who holds the token: the ten largest balances, and the creator's, asked in the first round.

The index, pools, owners and whoever issued the token say whom to ask; what counts is the balance
that the token itself tells at the pinned block. Where the index lacks old transfers somebody large
may be missing: the list then holds who is known, and is never filled up by guesses.
"""

from collections.abc import Iterable, Mapping, Sequence

import msgspec

from analysis.abi import call, code_at, decode_uint, read_code, read_reply
from analysis.gate import DELEGATION_BYTES, is_delegated_account
from analysis.knowledge import Known
from analysis.node import RpcAnswer
from analysis.rounds import Round
from config.burn import BURN_ADDRESSES
from config.primitives import ZERO_ADDRESS, Address, RawAmount
from sql.rows import HolderRow

_MOST_TOP = 10
"""Source: the specification, "Other constants"."""


class Holdings(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the token at one block."""

    top: tuple[HolderRow, ...]
    """At most ten, largest first, each verified; burn addresses, pools and the token too."""
    creator: Address | None
    """An account, never a contract. None: not known."""
    creator_balance_raw: RawAmount | None
    """None: no creator is known, or the token did not tell."""


class HolderQuestions:
    """The balances of everybody who may hold much, in one round, and what the answers mean."""

    def __init__(
        self,
        trip: Round,
        token: Address,
        known: Known,
        *,
        places: Iterable[Address],
        asked_already: Sequence[Address],
    ) -> None:
        """`places`: pools, owners and issuers; some may be promises of the round."""
        self._trip = trip
        self._creators = creators_named(known)
        indexed = (owner for owner, _ in known.holders)
        everybody = dict.fromkeys((*self._creators, token, *indexed, *places))
        self._asked = [one for one in everybody if one not in {*BURN_ADDRESSES, *asked_already}]
        self._balances = trip.ask(
            [call(token, "balanceOf(address)", one, block=trip.block) for one in self._asked]
        )
        self._codes = trip.ask(
            [code_at(one, block=trip.block) for one in self._creators],
            first_bytes=DELEGATION_BYTES,
        )

    def read(self, told: Mapping[Address, int]) -> Holdings:
        """`told`: balances at the same block that were asked beside these. Raises UpstreamError."""
        trip = self._trip
        balances = dict(told)
        for one, answer in zip(self._asked, trip[self._balances], strict=True):
            owner = trip.settled(one)
            amount = decode_uint(read_reply(answer))
            if owner not in (None, ZERO_ADDRESS) and amount is not None:
                balances[owner] = amount
        creator = _creator(self._creators, trip[self._codes])
        held = None if creator is None else balances.get(creator)
        return Holdings(
            top=rank(balances),
            creator=creator,
            creator_balance_raw=None if held is None else RawAmount(held),
        )


def rank(balances: Mapping[Address, int]) -> tuple[HolderRow, ...]:
    """The ten largest above zero; equal ones by address, so that answers do not change places."""
    held = sorted((-amount, owner) for owner, amount in balances.items() if amount > 0)
    return tuple(
        HolderRow(role="top", ordinal=ordinal, owner=owner, amount_raw=RawAmount(-negative))
        for ordinal, (negative, owner) in enumerate(held[:_MOST_TOP])
    )


def creators_named(known: Known) -> tuple[Address, ...]:
    """Whom the chain's past, else the launch events name as creator; some may be contracts."""
    if known.creator is not None:
        return (known.creator,)
    launched = (row.creator for row in known.launches if row.creator is not None)
    return tuple(one for one in dict.fromkeys(launched) if one not in BURN_ADDRESSES)


def _creator(named: Sequence[Address], codes: Sequence[RpcAnswer]) -> Address | None:
    """The one account among those named. None: there is none, or events contradict each other."""
    accounts = [
        one
        for one, answer in zip(named, codes, strict=True)
        if not (code := read_code(answer)) or is_delegated_account(code)
    ]
    return accounts[0] if len(accounts) == 1 else None
