"""Top holders: the ten largest balances, and the creator's, read in the first round.

Candidates come from the index, pools, owners and issuers; their amounts are the token's balances at
the pinned block. Where the index lacks old transfers a large holder may be missing: the list is
then under-approximated, never filled up by guesses. A whole history also gives the rest's balance.
"""

from collections.abc import Container, Iterable, Mapping

import msgspec

from analysis.reads.chain_reads import AnswerAddress
from analysis.reads.eth_reads import decode_uint
from analysis.reads.indexed_facts import IndexedFacts, TransferHistory
from analysis.reads.read_batch import ReadBatch
from analysis.token.admission import DELEGATION_BYTES, is_delegated_account
from config.burn import BURN_ADDRESSES
from core.evm.primitives import ZERO_ADDRESS, Address, RawAmount
from core.report.report import EvidenceRow, HolderRow

_MOST_TOP = 10
"""Source: the specification, "Other constants"."""


class TopHolders(msgspec.Struct, frozen=True, kw_only=True):
    """Holders of the token at one block."""

    top: tuple[HolderRow, ...]
    """At most ten, largest first, each read from the token; burn addresses, pools and the token
    too."""
    creator: Address | None
    """An account, never a contract. None: not known."""
    creator_balance_raw: RawAmount | None
    """None: no creator is known, or the token did not answer."""
    others_raw: RawAmount | None
    """Balance of all unlisted holders, by a whole history of transfers. None: the history is not
    whole."""
    evidence: EvidenceRow
    """Extent of the indexed transfers, and number of balances read."""


class HolderReads:
    """Reads of the balances of possible large holders, in one round, and their evaluation."""

    def __init__(
        self,
        batch: ReadBatch,
        token: Address,
        known: IndexedFacts,
        *,
        places: Iterable[Address | AnswerAddress],
        already_read: Iterable[Address],
    ) -> None:
        """`places`: pools, owners and issuers."""
        self._batch = batch
        self._known = known
        creators = creators_named(known)
        indexed = (owner for owner, _ in known.holders)
        possible = dict.fromkeys((*creators, token, *indexed, *places))
        left_out = {*BURN_ADDRESSES, *already_read}
        self._balances = {
            one: batch.call(token, "balanceOf(address)", one, returns=decode_uint)
            for one in possible
            if one not in left_out
        }
        self._codes = {one: batch.code(one, first_bytes=DELEGATION_BYTES) for one in creators}

    def read(self, known_balances: Mapping[Address, int], *, supply_raw: RawAmount) -> TopHolders:
        """Return the holders. Raises UpstreamError.

        `known_balances`: balances at the same block from other reads.
        """
        batch = self._batch
        balances = dict(known_balances)
        for one, balance in self._balances.items():
            owner = batch.resolve(one)
            amount = batch[balance]
            if owner is not None and owner != ZERO_ADDRESS and amount is not None:
                balances[owner] = amount
        creator = _only_account({one: batch[code] for one, code in self._codes.items()})
        creator_balance = None if creator is None else balances.get(creator)
        top = rank(balances)
        return TopHolders(
            top=top,
            creator=creator,
            creator_balance_raw=None if creator_balance is None else RawAmount(creator_balance),
            others_raw=left_for_others(
                self._known, balances, listed={row.owner for row in top}, supply_raw=supply_raw
            ),
            evidence=_evidence(self._known.past, count=len(balances)),
        )


def rank(balances: Mapping[Address, int]) -> tuple[HolderRow, ...]:
    """Return the ten largest above zero; equal ones by address, so that the order is stable."""
    ranked = sorted((-amount, owner) for owner, amount in balances.items() if amount > 0)
    return tuple(
        HolderRow(role="top", ordinal=ordinal, owner=owner, amount_raw=RawAmount(-negative))
        for ordinal, (negative, owner) in enumerate(ranked[:_MOST_TOP])
    )


def left_for_others(
    known: IndexedFacts,
    balances: Mapping[Address, int],
    *,
    listed: Container[Address],
    supply_raw: int,
) -> RawAmount | None:
    """Return the balance of holders that are neither listed nor burn addresses.

    Read balances count, else sums of transfers. None: the history of transfers is not whole. Where
    transfers leave more than the supply, some amounts are false: the excess is subtracted.
    """
    held_raw = known.past.held_raw
    if held_raw is None:
        return None
    summed = {owner: raw for owner, raw in known.holders if owner != ZERO_ADDRESS}
    unlisted = [one for one in summed if one not in listed and one not in BURN_ADDRESSES]
    others_raw = held_raw - sum(summed.values()) + sum(balances.get(one, 0) for one in unlisted)
    untrue_raw = max(0, held_raw - supply_raw)
    return RawAmount(max(0, others_raw - untrue_raw))


def _evidence(past: TransferHistory, *, count: int) -> EvidenceRow:
    body = {
        "transfers_known": past.extent,
        "transfers_from_block": past.from_block,
        "balances_asked": count,
    }
    return EvidenceRow(key="top_holders", body=msgspec.json.encode(body).decode())


def creators_named(known: IndexedFacts) -> tuple[Address, ...]:
    """Return the creator found from the chain's past, else those of launch events; some may be
    contracts."""
    if known.creator is not None:
        return (known.creator,)
    launched = (row.creator for row in known.launches if row.creator is not None)
    return tuple(one for one in dict.fromkeys(launched) if one not in BURN_ADDRESSES)


def _only_account(codes: Mapping[Address, bytes]) -> Address | None:
    """Return the only account among the named creators, by their code. None: there is none, or
    events contradict each other."""
    accounts = [one for one, code in codes.items() if not code or is_delegated_account(code)]
    return accounts[0] if len(accounts) == 1 else None
