"""Checks that a token's events explain the balances and allowances that its creation left behind.

A balance needs a Transfer event and an allowance an Approval event of the creation. A constructor
is not in the runtime code, so what it gave unseen is found nowhere else.
"""

import asyncio
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from itertools import pairwise, permutations
from typing import Final

import msgspec

from analysis.reads.block_reader import BlockReader
from analysis.reads.node import Node
from analysis.token.creation_findings import CreationFindings, HiddenAmount, UnexplainedWord
from analysis.token.creation_keys import Entry, NamedWords, SearchSpace, name_words
from analysis.token.creation_state import (
    TRANSFER,
    CreationState,
    EventLog,
    read_approvers,
    read_preimages,
    read_with_words,
)
from config.burn import BURN_ADDRESSES
from core.errors import UpstreamError
from core.evm.abi import call_data, topic_of
from core.evm.primitives import ZERO_ADDRESS, Address, BlockRef, Hash32, low_address, to_hash32

_APPROVAL: Final = topic_of("Approval(address,address,uint256)")
_PARTIES: Final = 2
_WORD_CHARS: Final = 64
_MOST_ASKED: Final = 256
"""Accounts, and pairs of accounts, that getters are called with."""
_MOST_TRIALS: Final = 4
_BALANCE_BITS: Final = (256, 248, 240, 224, 208, 192, 176, 160, 128, 112, 104, 96)
"""Sizes of a balance at the low end of a word, the largest first."""
_ROUNDING: Final = 1_000_000
"""A difference of a millionth is rounding, and an amount of a millionth of the supply is none."""
_MOST_PAYERS: Final = 64
"""Rounds in which payers without tokens are found."""


class _Events(msgspec.Struct, frozen=True, kw_only=True):
    credited: Mapping[Address, int]
    """Amounts by account: what the events give, less what they take. What a payer moved that never
    had as much counts for nothing."""
    named: Mapping[Address, int]
    """The same, from any payer."""
    minted: int
    """Sum of the mint events."""
    approved: Mapping[tuple[Address, Address], int]


class Surroundings(msgspec.Struct, frozen=True, kw_only=True):
    """Facts of the present, which the creation is compared with."""

    supply_raw: int
    """Present supply: what the creation burnt or left out of the supply makes no amount small."""
    pools: frozenset[Address]
    venues: frozenset[Address]
    """Contracts that spend only the tokens of their caller or signer, such as routers."""


class _Questions(msgspec.Struct, frozen=True, kw_only=True):
    """Getters to call on the words of the creation."""

    balances: tuple[tuple[Address, Hash32 | None], ...]
    allowances: tuple[tuple[Address, Address, Hash32 | None], ...]


async def check_creation(
    node: Node,
    token: Address,
    state: CreationState,
    space: SearchSpace,
    around: Surroundings,
    *,
    reader: BlockReader,
    block: BlockRef,
) -> CreationFindings | None:
    """Explain every word of the creation. None: the node failed."""
    named = await asyncio.to_thread(name_words, state.words, space)
    if named.unknown:
        hashed = await read_preimages(node, state)
        named = name_words(state.words, space, hashed) if hashed else named
    events = _read_events(state.logs)
    least = _least(named.entries, state, events, around)
    questions = _questions(named, state, events, least)
    if questions is None or state.is_cut:
        return _cut(state)
    try:
        answers = _Answers(supply=around.supply_raw, balances={}, allowances={})
        held_raw = sum(_held(events.credited))
        if questions.balances or questions.allowances or held_raw > around.supply_raw:
            answers = await _ask(node, token, state, questions, block=block)
        allowances = _hidden_allowances(
            questions, answers, events, owners=await _approvers(node, token, state, events, around)
        )
        allowances = await _without_own(reader, token, state, around, allowances)
        trials = _trials(named.entries, state, events, answers, least)
        veiled = await _veiled_slots(node, token, state, trials, block=block)
    except (UpstreamError, msgspec.DecodeError):
        return None
    unexplained = [slot for slot in named.unknown if state.words[slot] >= max(1, least)]
    holders = {*around.pools, *events.credited} - {token, state.sender}
    unexplained += _consents(named.entries, state, answers, holders)
    return _findings(
        state,
        events,
        answers,
        around,
        balances=_hidden_balances(questions, answers, events, around),
        allowances=allowances,
        open_slots=[*unexplained, *veiled],
    )


# --- events ------------------------------------------------------------------------------------


def parties_of(logs: Sequence[EventLog]) -> tuple[Address, ...]:
    """Return the accounts that transfers and approvals name, each once."""
    moves = (move for log in logs if (move := _read_move(log)) is not None)
    return tuple(dict.fromkeys(each for _, one, other, _ in moves for each in (one, other)))


def _read_move(log: EventLog) -> tuple[str, Address, Address, int] | None:
    """Return topic, both accounts and amount, indexed or not. None: another event."""
    if log.topics[:1] not in ((TRANSFER,), (_APPROVAL,)):
        return None
    data = log.data.removeprefix("0x")
    parts = [topic.removeprefix("0x") for topic in log.topics[1:]]
    parts += [data[at : at + _WORD_CHARS] for at in range(0, len(data), _WORD_CHARS)]
    if len(parts) != _PARTIES + 1:
        return None
    one, other, amount = (int(part, 16) for part in parts)
    return log.topics[0], low_address(one), low_address(other), amount


def _read_events(logs: Sequence[EventLog]) -> _Events:
    approved: dict[tuple[Address, Address], int] = {}
    moves: list[tuple[Address, Address, int]] = []
    for topic, one, other, amount in filter(None, map(_read_move, logs)):
        if topic == _APPROVAL:
            approved[one, other] = amount
        else:
            moves.append((one, other, amount))
    return _Events(
        credited=_of_able(moves),
        named=_sums(moves),
        minted=sum(amount for one, _, amount in moves if one == ZERO_ADDRESS),
        approved=approved,
    )


def _of_able(moves: Sequence[tuple[Address, Address, int]]) -> dict[Address, int]:
    """Return the sums without what payers moved that in all moved more than they were given."""
    able = list(moves)
    for _ in range(_MOST_PAYERS):
        sums = _sums(able)
        over = {payer for payer, _, _ in able if sums.get(payer, 0) < 0}
        if not over:
            return sums
        able = [move for move in able if move[0] not in over]
    return _sums([move for move in moves if move[0] == ZERO_ADDRESS])


def _sums(moves: Iterable[tuple[Address, Address, int]]) -> dict[Address, int]:
    sums: dict[Address, int] = {}
    for one, other, amount in moves:
        sums[one] = sums.get(one, 0) - amount
        sums[other] = sums.get(other, 0) + amount
    sums.pop(ZERO_ADDRESS, None)
    return sums


# --- questions ---------------------------------------------------------------------------------


def _questions(
    named: NamedWords, state: CreationState, events: _Events, least: int
) -> _Questions | None:
    """Return the getters to call: words that equal what the events give need none.

    Words below `least` are left out only where there are too many. Accounts that the events credit
    and no such word belongs to are among them. None: there are too many.
    """
    allowances: dict[tuple[Address, Address], Hash32 | None] = {}
    for entry in named.entries:
        if len(entry.accounts) > 1:
            for one, other in pairwise(entry.accounts):
                allowances.setdefault((one, other), entry.slot)
                allowances.setdefault((other, one), entry.slot)
    allowances |= {pair: None for pair in events.approved if pair not in allowances}
    for smallest in (1, least):
        balances = _asked_balances(named, state, events, smallest)
        if len(balances) + len(allowances) <= _MOST_ASKED:
            return _Questions(
                balances=tuple(balances.items()),
                allowances=tuple((*pair, slot) for pair, slot in allowances.items()),
            )
    return None


def _asked_balances(
    named: NamedWords, state: CreationState, events: _Events, least: int
) -> dict[Address, Hash32 | None]:
    balances: dict[Address, Hash32 | None] = {}
    given: set[Address] = set()
    for entry in named.entries:
        word, accounts = state.words[entry.slot], entry.accounts
        if len(accounts) == 1 and events.credited.get(accounts[0]) == word:
            given.update(accounts)
        elif word >= least:
            balances |= {who: entry.slot for who in accounts if balances.get(who) is None}
    for account in {**events.credited, **events.named}:
        if (
            account not in given
            and max(events.credited.get(account, 0), events.named.get(account, 0)) > 0
        ):
            balances.setdefault(account, None)
    return {who: slot for who, slot in balances.items() if who not in BURN_ADDRESSES}


def _least(
    entries: Sequence[Entry], state: CreationState, events: _Events, around: Surroundings
) -> int:
    """Return the smallest word that matters as an amount: words are amounts as they are, if one
    equals what the events give."""
    given = (
        state.words[entry.slot]
        for entry in entries
        if len(entry.accounts) == 1
        and entry.accounts[0] not in BURN_ADDRESSES
        and events.credited.get(entry.accounts[0]) == state.words[entry.slot]
    )
    return _rounding(max(given, default=0), around)


class _Answers(msgspec.Struct, frozen=True, kw_only=True):
    supply: int | None
    balances: Mapping[Address, int]
    allowances: Mapping[tuple[Address, Address], int]


async def _ask(
    node: Node, token: Address, state: CreationState, questions: _Questions, *, block: BlockRef
) -> _Answers:
    """Call the getters on the words of the creation. Raises UpstreamError, DecodeError."""
    calls = [call_data("totalSupply()")]
    calls += [call_data("balanceOf(address)", who) for who, _ in questions.balances]
    calls += [
        call_data("allowance(address,address)", who, spender)
        for who, spender, _ in questions.allowances
    ]
    words = await read_with_words(node, token, [(state.words, call) for call in calls], block=block)
    supply = words.pop(0)
    balances = words[: len(questions.balances)]
    allowances = words[len(questions.balances) :]
    return _Answers(
        supply=supply,
        balances={
            who: amount or 0 for (who, _), amount in zip(questions.balances, balances, strict=True)
        },
        allowances={
            (who, spender): amount or 0
            for (who, spender, _), amount in zip(questions.allowances, allowances, strict=True)
        },
    )


# --- findings ----------------------------------------------------------------------------------


def _hidden_balances(
    questions: _Questions, answers: _Answers, events: _Events, around: Surroundings
) -> list[HiddenAmount]:
    """Return the balances above what the events give, without dust."""
    credits = (amount for who, amount in events.credited.items() if who not in BURN_ADDRESSES)
    dust_raw = _rounding(max(credits, default=0), around)
    return [
        HiddenAmount(
            kind="balance",
            account=who,
            slot=slot,
            amount_raw=str(answers.balances[who]),
            of_events_raw=str(given),
        )
        for who, slot in questions.balances
        if answers.balances[who]
        > max(dust_raw, (given := max(0, events.credited.get(who, 0))) + _rounding(given, around))
    ]


def _rounding(amount_raw: int, around: Surroundings) -> int:
    return min(amount_raw, around.supply_raw) // _ROUNDING


def _hidden_allowances(
    questions: _Questions, answers: _Answers, events: _Events, *, owners: Set[Address]
) -> list[HiddenAmount]:
    """Return the allowances above what the events of these owners give."""
    hidden: list[HiddenAmount] = []
    for who, spender, slot in questions.allowances:
        of_events = events.approved.get((who, spender), 0)
        allowed = answers.allowances[who, spender]
        if allowed > (of_events if who in owners else 0):
            hidden.append(
                HiddenAmount(
                    kind="allowance",
                    account=who,
                    spender=spender,
                    slot=slot,
                    amount_raw=str(allowed),
                    of_events_raw=str(of_events),
                )
            )
    return hidden


def _consents(
    entries: Sequence[Entry], state: CreationState, answers: _Answers, holders: Set[Address]
) -> list[Hash32]:
    """Return the words of a holder and another account that no allowance shows: of operators, as in
    ERC-777."""
    return [
        entry.slot
        for entry in entries
        if len(entry.keys) == len(entry.accounts) == _PARTIES
        and state.words[entry.slot]
        and entry.accounts[0] in holders
        and not any(map(answers.allowances.get, permutations(entry.accounts, 2)))
    ]


async def _approvers(
    node: Node, token: Address, state: CreationState, events: _Events, around: Surroundings
) -> set[Address]:
    """Return the accounts that may have approved in the creation: the sender, the token, and
    callers of the token's `approve`. Raises UpstreamError."""
    owners = {token, state.sender}
    if any(one not in owners for one, _ in events.approved):
        called = await read_approvers(node, token, state)
        owners |= called if called is not None else {*filter(None, [state.target])}
    return owners - around.pools


async def _without_own(
    reader: BlockReader,
    token: Address,
    state: CreationState,
    around: Surroundings,
    hidden: Sequence[HiddenAmount],
) -> list[HiddenAmount]:
    """Leave out allowances of known routers, and those that the token or its creator gives to a
    contract.

    Raises UpstreamError.
    """
    hidden = [one for one in hidden if one.spender not in around.venues]
    own = [one for one in hidden if one.spender and one.account in (token, state.sender)]
    if not own:
        return hidden
    batch = reader.batch()
    codes = {one: batch.code(one.spender) for one in own if one.spender}
    await reader.send(batch)
    return [one for one in hidden if one not in codes or not batch[codes[one]]]


class _Trial(msgspec.Struct, frozen=True, kw_only=True):
    """A word that is a balance if the getter returns another one without it."""

    account: Address
    slot: Hash32
    amount: int
    """As the getter returns it."""
    is_scaled: bool
    """True if half of the word has to be half of the balance."""
    less: tuple[Hash32, ...] = ()
    """Words of the same mapping for which the getter returns too little."""


def _trials(
    entries: Sequence[Entry],
    state: CreationState,
    events: _Events,
    answers: _Answers,
    least: int,
) -> list[_Trial]:
    """Return at most `_MOST_TRIALS`, for mappings whose words and balances do not agree."""
    amounts = {**events.credited, **answers.balances}
    groups: dict[bytes, dict[Address, Entry]] = {}
    for entry in entries:
        if entry.mapping is not None and len(entry.accounts) == 1:
            groups.setdefault(entry.mapping, {})[entry.accounts[0]] = entry
    trials: list[_Trial] = []
    for group in groups.values():
        words = {account: state.words[entry.slot] for account, entry in group.items()}
        holders = [account for account in group if amounts.get(account, 0) > 0]
        if not holders:
            continue
        shown, largest = max(holders, key=amounts.__getitem__), max(holders, key=words.__getitem__)
        mask = _field({words[account]: amounts[account] for account in holders})
        meant = {
            account: word & mask if mask else word * amounts[shown] // words[shown]
            for account, word in words.items()
        }
        less = tuple(
            group[account].slot
            for account, amount in meant.items()
            if account not in BURN_ADDRESSES
            and words[account] >= least
            and amount > (given := amounts.get(account, 0)) + given // _ROUNDING
        )
        if less:
            trials.append(_trial(group[shown], amounts[shown], less=less))
        if mask is None:
            trials.append(_trial(group[largest], amounts[largest], is_scaled=True))
    return trials[:_MOST_TRIALS]


def _trial(
    entry: Entry, amount: int, *, less: tuple[Hash32, ...] = (), is_scaled: bool = False
) -> _Trial:
    (account,) = entry.accounts
    return _Trial(account=account, slot=entry.slot, amount=amount, is_scaled=is_scaled, less=less)


def _field(balances: Mapping[int, int]) -> int | None:
    """Return the mask of the low field that holds the balance in each word. None: there is none."""
    masks = (2**bits - 1 for bits in _BALANCE_BITS)
    return next(
        (mask for mask in masks if all(word & mask == own for word, own in balances.items())), None
    )


async def _veiled_slots(
    node: Node, token: Address, state: CreationState, trials: Sequence[_Trial], *, block: BlockRef
) -> list[Hash32]:
    """Return the words that are larger balances than the getter returns.

    Raises UpstreamError, DecodeError.
    """
    if not trials:
        return []
    calls = [
        ({**state.words, trial.slot: word}, call_data("balanceOf(address)", trial.account))
        for trial in trials
        for word in (0, state.words[trial.slot] // 2)
    ]
    answers = await read_with_words(node, token, calls, block=block)
    found: list[Hash32] = []
    for trial, without, half in zip(trials, answers[::2], answers[1::2], strict=True):
        if without != trial.amount:
            found += trial.less
            if trial.is_scaled and abs(2 * (half or 0) - trial.amount) > trial.amount // 1_000 + 2:
                found.append(trial.slot)
    return found


def _is_moved(balances: Sequence[HiddenAmount], events: _Events, answers: _Answers) -> bool:
    """True if other accounts lack what these have: the events name the wrong ones."""
    hidden_raw = sum(int(one.amount_raw) - int(one.of_events_raw) for one in balances)
    missing_raw = sum(
        given - answers.balances.get(who, given)
        for who, given in events.credited.items()
        if given > answers.balances.get(who, given)
    )
    return hidden_raw <= missing_raw + missing_raw // _ROUNDING


def _cut(state: CreationState) -> CreationFindings:
    """Return the findings on a creation that is too large to be explained."""
    return CreationFindings(
        block_number=state.block_number,
        tx_hash=state.tx_hash,
        sender=state.sender,
        words=len(state.words),
        is_cut=True,
    )


def _held(amounts: Mapping[Address, int]) -> Iterator[int]:
    """Yield the amounts of holders, without what is burnt."""
    for holder, amount in amounts.items():
        if amount > 0 and holder not in BURN_ADDRESSES:
            yield amount


def _findings(
    state: CreationState,
    events: _Events,
    answers: _Answers,
    around: Surroundings,
    *,
    balances: Sequence[HiddenAmount],
    allowances: Sequence[HiddenAmount],
    open_slots: list[Hash32],
) -> CreationFindings:
    known = {**events.credited, **answers.balances}
    held_raw = sum(_held(known))
    is_counted = answers.supply is not None and held_raw <= answers.supply + _rounding(
        answers.supply, around
    )
    hidden = [*balances, *allowances]
    if balances and is_counted and (events.minted == 0 or _is_moved(balances, events, answers)):
        hidden = list(allowances)
        # Old tokens give their whole supply to one account without an event.
        unnamed = [
            one for one in balances if int(one.amount_raw) > events.named.get(one.account, 0)
        ]
        if events.minted or len(unnamed) > 1:
            open_slots = [*open_slots, *(one.slot for one in unnamed if one.slot is not None)]
    is_over = answers.supply is not None and not is_counted and not balances
    return CreationFindings(
        block_number=state.block_number,
        tx_hash=state.tx_hash,
        sender=state.sender,
        words=len(state.words),
        supply_raw=str(around.supply_raw),
        hidden=tuple(hidden),
        unexplained=tuple(
            UnexplainedWord(slot=slot, value=to_hash32(state.words[slot]))
            for slot in dict.fromkeys(open_slots)
        ),
        overcounted_raw=str(held_raw) if is_over else None,
    )
