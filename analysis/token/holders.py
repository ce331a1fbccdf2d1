"""Who holds the token: the ten largest balances, and the creator's, asked in the first round.

The index, pools, owners and whoever issued the token say whom to ask; what counts is the balance
that the token itself tells at the pinned block. Where the index lacks old transfers somebody large
may be missing: the list then holds who is known, and is never filled up by guesses. Where it has
all of them, they also say what is left for everybody else.
"""

from collections.abc import Container, Iterable, Mapping, Sequence

import msgspec

from analysis.reads.eth_reads import call, code_at, decode_uint, read_code, read_reply
from analysis.reads.indexed_facts import IndexedFacts, TransferHistory
from analysis.reads.read_batch import ReadBatch
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from config.burn import BURN_ADDRESSES
from config.jsonrpc import RpcAnswer
from config.primitives import ZERO_ADDRESS, Address, RawAmount
from sql.rows import EvidenceRow, HolderRow

_MOST_TOP = 10
"""Source: the specification, "Other constants"."""


class TopHolders(msgspec.Struct, frozen=True, kw_only=True):
    """Who holds the token at one block."""

    top: tuple[HolderRow, ...]
    """At most ten, largest first, each verified; burn addresses, pools and the token too."""
    creator: Address | None
    """An account, never a contract. None: not known."""
    creator_balance_raw: RawAmount | None
    """None: no creator is known, or the token did not tell."""
    others_raw: RawAmount | None
    """What a whole history of transfers leaves with those who are not listed. None: it is not."""
    evidence: EvidenceRow
    """Who was asked, and why them."""


class HolderQuestions:
    """The balances of everybody who may hold much, in one round, and what the answers mean."""

    def __init__(
        self,
        trip: ReadBatch,
        token: Address,
        known: IndexedFacts,
        *,
        places: Iterable[Address],
        asked_already: Sequence[Address],
    ) -> None:
        """`places`: pools, owners and issuers; some may be promises of the round."""
        self._trip = trip
        self._known = known
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

    def read(self, told: Mapping[Address, int], *, supply_raw: RawAmount) -> TopHolders:
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
        top = rank(balances)
        return TopHolders(
            top=top,
            creator=creator,
            creator_balance_raw=None if held is None else RawAmount(held),
            others_raw=left_for_others(
                self._known, balances, listed={row.owner for row in top}, supply_raw=supply_raw
            ),
            evidence=_evidence(self._known.past, asked=len(balances)),
        )


def rank(balances: Mapping[Address, int]) -> tuple[HolderRow, ...]:
    """The ten largest above zero; equal ones by address, so that answers do not change places."""
    held = sorted((-amount, owner) for owner, amount in balances.items() if amount > 0)
    return tuple(
        HolderRow(role="top", ordinal=ordinal, owner=owner, amount_raw=RawAmount(-negative))
        for ordinal, (negative, owner) in enumerate(held[:_MOST_TOP])
    )


def left_for_others(
    known: IndexedFacts,
    balances: Mapping[Address, int],
    *,
    listed: Container[Address],
    supply_raw: int,
) -> RawAmount | None:
    """What holders that are neither listed nor burn addresses have, by a whole history: balances
    where they were asked, else sums of transfers. None: the history is not whole.

    Where transfers leave more than there is, some of it is not true of somebody: that much less.
    """
    held_raw = known.past.held_raw
    if held_raw is None:
        return None
    summed = {owner: raw for owner, raw in known.holders if owner != ZERO_ADDRESS}
    unlisted = [one for one in summed if one not in listed and one not in BURN_ADDRESSES]
    others_raw = held_raw - sum(summed.values()) + sum(balances.get(one, 0) for one in unlisted)
    untrue_raw = max(0, held_raw - supply_raw)
    return RawAmount(max(0, others_raw - untrue_raw))


def _evidence(past: TransferHistory, *, asked: int) -> EvidenceRow:
    body = {
        "transfers_known": past.extent,
        "transfers_from_block": past.from_block,
        "balances_asked": asked,
    }
    return EvidenceRow(key="top_holders", body=msgspec.json.encode(body).decode())


def creators_named(known: IndexedFacts) -> tuple[Address, ...]:
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
