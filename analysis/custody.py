"""Who but the holder can reach a holder's tokens: everything that is played to find out. Pure, but
for `play_custody` and `read_stored`."""

from collections.abc import Sequence

import msgspec

from analysis.abi import read_word, word_at
from analysis.call_stage import Turn
from analysis.code.leads import Leads, StoredAddress
from analysis.node import Node
from analysis.perform import perform
from analysis.powers import Powers
from analysis.scenarios import bypass, drain, owner_balance
from analysis.scenarios.theft import Case, Crime, Seen, case_evidence, read_case, write_cases
from analysis.stage import NotRun, Played
from analysis.suspects import stored_addresses
from config.jsonrpc import RpcFault
from config.primitives import Address, Hash32
from sql.rows import EvidenceRow


class Custody(msgspec.Struct, frozen=True, kw_only=True):
    """The answers. Definitions: the specification, "Simulation"."""

    allowance_bypass: bool | None
    privileged_spenders: tuple[Address, ...]
    funds_can_be_drained: bool | None
    owner_can_change_balance: bool | None
    """None: not assessed."""
    evidence: tuple[EvidenceRow, ...]


class Plays(msgspec.Struct, frozen=True, kw_only=True):
    """What is to be played, by the question it settles."""

    bypass: tuple[Case, ...]
    drain: tuple[Case, ...]
    owner: tuple[Case, ...]

    @property
    def cases(self) -> tuple[Case, ...]:
        """All, in the order that `read_plays` wants their results in."""
        return (*self.bypass, *self.drain, *self.owner)


class Inquiry(msgspec.Struct, frozen=True, kw_only=True):
    """Whom and what to try on one token."""

    crime: Crime
    leads: Leads
    suspects: tuple[Address, ...]
    """From `suspects.suspects`."""
    owners: tuple[Address, ...] | None
    """Live ones. None: what owners can do is not asked."""
    is_owner_known: bool
    """Whether anything told who the owner is, be it nobody."""


def write_plays(inquiry: Inquiry) -> Plays:
    """Independent plays. None at all where no wallet is at hand."""
    crime, movers, suspects = inquiry.crime, inquiry.leads.movers, inquiry.suspects
    bypasses = write_cases(crime, bypass.write_attempts(crime, suspects), watched=("wallet",))
    if crime.has_fresh_wallets and crime.holders:
        # A token may know its real holders from wallets that have never received anything.
        on_holder = msgspec.structs.replace(crime, slot_index=None, giver=None)
        attempts = bypass.write_attempts(on_holder, suspects)
        bypasses += write_cases(on_holder, attempts, watched=("wallet",))
    drains = drain.write_attempts(crime, movers, suspects)
    by_owner = owner_balance.write_attempts(crime, movers, inquiry.owners or ())
    return Plays(
        bypass=bypasses,
        drain=write_cases(crime, drains, watched=("wallet", "bystander")),
        owner=write_cases(
            crime, by_owner, watched=("wallet", "bystander", "thief", "token", "supply")
        ),
    )


def read_plays(inquiry: Inquiry, plays: Plays, results: Sequence[Played | NotRun]) -> Custody:
    """Judge. A play that the node did not play settles nothing to the good."""
    rest = iter(results)
    groups = [
        ("allowance_bypass", plays.bypass, [next(rest) for _ in plays.bypass]),
        ("funds_can_be_drained", plays.drain, [next(rest) for _ in plays.drain]),
        ("owner_can_change_balance", plays.owner, [next(rest) for _ in plays.owner]),
    ]
    by_bypass, by_drain, by_owner = (_seen(cases, played) for _, cases, played in groups)
    bypassed = bypass.judge(by_bypass, inquiry.suspects)
    if bypassed.value is False and _has_failed(groups[0][2]):
        bypassed = bypass.Bypass(value=None)
    owners = inquiry.owners
    return Custody(
        allowance_bypass=bypassed.value,
        privileged_spenders=bypassed.spenders,
        funds_can_be_drained=drain.judge(
            by_drain,
            bypass=bypassed.value,
            is_untried=_has_failed(groups[1][2]),
            skips_allowance=inquiry.leads.skips_allowance,
        ),
        owner_can_change_balance=None
        if owners is None
        else owner_balance.judge(
            by_owner,
            is_helpless=inquiry.is_owner_known and not (owners and inquiry.leads.movers),
        ),
        evidence=tuple(
            row for key, cases, played in groups for row in case_evidence(key, cases, played)
        ),
    )


async def play_custody(
    node: Node, powers: Powers, inquiry: Inquiry, *, codes: Sequence[bytes] = ()
) -> Custody:
    """All plays in one round trip, where the node simulates. `codes` as in `perform`.

    Raises UpstreamError.
    """
    plays = write_plays(inquiry)
    turns = [Turn(play=case.play) for case in plays.cases]
    return read_plays(inquiry, plays, await perform(node, powers, turns, codes=codes))


async def read_stored(
    node: Node, token: Address, stored: Sequence[StoredAddress], *, block: Hash32
) -> tuple[Address, ...]:
    """Who is in the places that the code compares people with. Raises UpstreamError."""
    asked = [word_at(token, place.slot, block=block) for place in stored]
    answers = await node.batch(asked) if asked else []
    words = [None if isinstance(answer, RpcFault) else read_word(answer) for answer in answers]
    return stored_addresses(stored, words)


def _seen(cases: Sequence[Case], played: Sequence[Played | NotRun]) -> list[Seen]:
    return [
        seen for case, result in zip(cases, played, strict=True) for seen in read_case(case, result)
    ]


def _has_failed(played: Sequence[Played | NotRun]) -> bool:
    return any(isinstance(result, NotRun) for result in played)
