"""Attempts to take a wallet's tokens: their simulations and results.

An attempt is a sequence of transactions that an attacker sends to the token against one wallet.
Many attempts share one simulation. A reverted one changes nothing, and each has a separate wallet
where wallets can be funded by state override, so that none affects another. Only the wallet's
balance counts: neither logs nor return values are trusted.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Literal

import msgspec

from analysis.reads.revert_reason import decode_revert
from analysis.scenarios.theft.attack_setup import AttackCall, AttackSetup
from analysis.scenarios.theft.victim_purchase import VictimPurchase
from analysis.scenarios.trade.transfer import Wallet
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    CallHandle,
    NotSimulated,
    SimCall,
    SimResult,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.abi import call_data
from core.evm.primitives import Address, Hash32, RawAmount
from core.report.report import EvidenceRow

VERSION = 1

_ATTEMPT_GAS = 600_000
"""Gas of one call, above READ_GAS. Nodes bound the gas of one simulation, 50 million at Geth."""

MOST_ATTEMPTS = 50
"""Most attempts of one simulation. With their reads, even attempts that burn all their gas stay
under that bound."""

_CLEARLY_PCT = 99
"""Percent of the balance that a loss in proportion to the bystander's leaves. Below it, the wallet
was robbed."""

_CODE = "0x00"
"""Runtime code of an attacker that must be a contract."""


class TheftAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to lower a wallet's balance."""

    attacker: Address
    wallet: Wallet
    acts: tuple[AttackCall, ...]
    what: str
    """A short description for the evidence."""
    stash_raw: RawAmount = RawAmount(0)
    """Token balance given to the attacker, where its balance slot is known."""
    has_code: bool = False
    """True if the attacker is a contract."""
    given_raw: RawAmount = RawAmount(0)
    """Tokens that the wallet itself sends or approves: a loss of no more is no theft."""


class TheftOutcome(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of one attempt."""

    attacker: Address
    wallet: Address
    what: str
    before_raw: int | None
    """None: balanceOf did not answer."""
    after_raw: int | None
    has_moved: bool | None
    """True if tokens have left the wallet. None: not determined, because the wallet was not set up
    as required, or because a bystander that no attempt names lost as large a share."""
    has_grown: bool
    """True if the wallet holds more than before without an explanation.

    A larger supply, or a smaller balance of the attacker or the token, explains it.
    """
    reason: str
    """Revert reason of the last act; empty when it succeeded."""
    is_named: bool | None = None
    """True if the attacker is named by code or storage, or is an owner, pool or router.

    False: a fresh account, so anybody can do the same. None: not compared yet.
    """


Quantity = Literal["wallet", "bystander", "thief", "token", "supply"]
"""A balance, or the supply."""

Watched = tuple[Quantity, ...]
"""Reads before and after each attempt."""


class AttemptSteps(msgspec.Struct, frozen=True, kw_only=True):
    """The calls of one attempt."""

    gift: CallHandle | None
    """Transfer of tokens to the wallet. None: funded by state override, or a real holder."""
    before: Mapping[Quantity, CallHandle]
    acts: tuple[CallHandle, ...]
    """In the order of `TheftAttempt.acts`."""
    after: Mapping[Quantity, CallHandle]

    @property
    def calls(self) -> tuple[CallHandle, ...]:
        """All calls."""
        gift = () if self.gift is None else (self.gift,)
        return (*gift, *self.before.values(), *self.acts, *self.after.values())


class AttackSimulation(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of several attempts."""

    attempts: tuple[TheftAttempt, ...]
    steps: tuple[AttemptSteps, ...]
    """One for each attempt."""
    simulation: Simulation


def write_cases(
    attack: AttackSetup, attempts: Sequence[TheftAttempt], *, watched: Watched
) -> tuple[AttackSimulation, ...]:
    """Return the attempts in as few simulations as they fit in. Attempts on a real holder share its
    balance."""
    starts = range(0, len(attempts), MOST_ATTEMPTS)
    return tuple(_case(attack, attempts[at : at + MOST_ATTEMPTS], watched) for at in starts)


def read_case(
    case: AttackSimulation, result: SimulationResult | NotSimulated
) -> tuple[TheftOutcome, ...]:
    """Return the outcome of each attempt. Empty when the node did not simulate."""
    if isinstance(result, NotSimulated):
        return ()
    return tuple(
        _read_attempt(attempt, result, steps)
        for attempt, steps in zip(case.attempts, case.steps, strict=True)
    )


def case_evidence(
    key: str,
    cases: Sequence[AttackSimulation],
    results: Sequence[SimulationResult | NotSimulated],
    *,
    suspects: Collection[Address],
) -> list[EvidenceRow]:
    """Return one evidence row per simulation of a question.

    Its outcome lists every attempt, its calls only those of attempts that changed the wallet's
    balance. `suspects`: attackers that are named.
    """
    rows: list[EvidenceRow] = []
    for case, result in zip(cases, results, strict=True):
        if isinstance(result, NotSimulated):
            continue
        seen = tuple(
            msgspec.structs.replace(each, is_named=each.attacker in suspects)
            for each in read_case(case, result)
        )
        shown = {
            handle
            for steps, each in zip(case.steps, seen, strict=True)
            if each.has_moved or each.has_grown
            for handle in steps.calls
        }
        name = f"{key}#{len(rows)}" if rows else key
        rows.append(simulation_evidence(name, VERSION, case.simulation, result, seen, shown=shown))
    return rows


# --- writing -----------------------------------------------------------------------------------


def _case(
    attack: AttackSetup, attempts: Sequence[TheftAttempt], watched: Watched
) -> AttackSimulation:
    bystander = _bystander(attack) if "bystander" in watched else None
    reader = attack.account("asker")
    builder, now, late = _blocks(attack, attempts)
    steps = tuple(
        _write_attempt(
            attack,
            attempt,
            (now.named(f"{at} "), late.named(f"{at} ")),
            _reads(attack, attempt, bystander, watched),
            reader=reader,
        )
        for at, attempt in enumerate(attempts)
    )
    givers = () if attack.giver is None else (attack.giver,)
    senders = (act.sender for attempt in attempts for act in attempt.acts)
    # In a fixed order: a set's would make the request differ from run to run.
    people = dict.fromkeys((reader, *senders, *givers))
    simulation = Simulation(
        pin=attack.pin,
        disguise=attack.disguise,
        blocks=builder.blocks(),
        purses={person: attack.disguise.purse(person) for person in people},
        storage=_funds(attack, attempts, bystander),
        code={each.attacker: _CODE for each in attempts if each.has_code},
    )
    return AttackSimulation(
        attempts=tuple(attempts), steps=steps, simulation=_after(attack.prologue, simulation)
    )


def _blocks(
    attack: AttackSetup, attempts: Sequence[TheftAttempt]
) -> tuple[SimulationBuilder, CallWriter, CallWriter]:
    """Return a builder with the victim's purchase, and writers of the attempts and of late acts.

    Both writers are of one block if nothing is late.
    """
    first, second, third = attack.blocks()
    has_late = any(act.is_late for attempt in attempts for act in attempt.acts)
    prologue = attack.prologue
    times = [*((first,) if prologue is None else (first, second)), *((third,) if has_late else ())]
    builder = SimulationBuilder(times)
    at = 0 if prologue is None else 1
    if prologue is not None:
        for call in prologue.buying:
            builder[0].add(call)
        builder[at].add(prologue.approving)
    return builder, builder[at], builder[at + 1] if has_late else builder[at]


def _write_attempt(
    attack: AttackSetup,
    attempt: TheftAttempt,
    blocks: tuple[CallWriter, CallWriter],
    reads: Mapping[Quantity, tuple[Address, str]],
    *,
    reader: Address,
) -> AttemptSteps:
    """Write one attempt, with the `reads` before and after it. `blocks`: of the attempts, and of
    late acts."""
    now, late = blocks
    # Other attempts may drain the same wallet in between, so the balances of a late attempt are
    # read in the late block.
    reading = late if any(act.is_late for act in attempt.acts) else now
    gift = _write_gift(now, attack, attempt.wallet)
    before = _write_reads(reading, reader, reads, "before")
    acts = {
        step: _write_act(late if act.is_late else now, attack, act, step)
        for step, act in sorted(enumerate(attempt.acts), key=lambda each: each[1].is_late)
    }
    after = _write_reads(reading, reader, reads, "after")
    return AttemptSteps(
        gift=gift,
        before=before,
        acts=tuple(acts[step] for step in range(len(attempt.acts))),
        after=after,
    )


def _funds(
    attack: AttackSetup, attempts: Sequence[TheftAttempt], bystander: Wallet | None
) -> dict[Address, dict[Hash32, Hash32]]:
    """Return the storage overrides that fund wallets, by contract."""
    if attack.slot_index is None:
        return {}
    balances = {attempt.wallet.address: attempt.wallet.balance_raw for attempt in attempts}
    balances |= {each.attacker: each.stash_raw for each in attempts if each.stash_raw}
    if bystander is not None:
        balances[bystander.address] = bystander.balance_raw
    slots: dict[Hash32, Hash32] = {}
    for account, amount in balances.items():
        slots |= balance_override(account, amount, index=attack.slot_index)
    return {attack.token: slots} if slots else {}


def _after(prologue: VictimPurchase | None, simulation: Simulation) -> Simulation:
    """Return the simulation with the coins, slots and code that the prologue needs."""
    if prologue is None:
        return simulation
    before = prologue.overrides
    return msgspec.structs.replace(
        simulation,
        purses={**simulation.purses, **before.purses},
        storage={**simulation.storage, **before.storage},
        code={**simulation.code, **before.code},
    )


def _bystander(attack: AttackSetup) -> Wallet | None:
    """Return a wallet that no attempt names: a loss that it shares is no theft but a rebase. None:
    there is no such wallet."""
    if attack.slot_index is not None:
        return next(attack.wallets("bystander"))
    others = attack.holders if attack.has_fresh_wallets else attack.holders[1:]
    return others[0] if others else None


def _reads(
    attack: AttackSetup, attempt: TheftAttempt, bystander: Wallet | None, watched: Watched
) -> dict[Quantity, tuple[Address, str]]:
    """Return address and calldata of each watched read."""

    def balance(account: Address) -> tuple[Address, str]:
        return attack.token, call_data("balanceOf(address)", account)

    every: dict[Quantity, tuple[Address, str]] = {
        "wallet": balance(attempt.wallet.address),
        "thief": balance(attempt.attacker),
        "token": balance(attack.token),
        "supply": (attack.token, call_data("totalSupply()")),
    }
    if bystander is not None:
        every["bystander"] = balance(bystander.address)
    return {name: read for name, read in every.items() if name in watched}


def _write_reads(
    calls: CallWriter, reader: Address, reads: Mapping[Quantity, tuple[Address, str]], when: str
) -> dict[Quantity, CallHandle]:
    return {
        name: calls.add(
            SimCall(label=f"{name} {when}", sender=reader, to=to, data=data, gas=READ_GAS)
        )
        for name, (to, data) in reads.items()
    }


def _write_gift(calls: CallWriter, attack: AttackSetup, wallet: Wallet) -> CallHandle | None:
    """Write a transfer from the pool to the wallet, like a purchase. None: its balance slot is
    known, or there is no pool."""
    if attack.slot_index is not None or attack.giver is None:
        return None
    data = call_data("transfer(address,uint256)", wallet.address, wallet.balance_raw)
    return calls.add(
        SimCall(label="gift", sender=attack.giver, to=attack.token, data=data, gas=_ATTEMPT_GAS)
    )


def _write_act(calls: CallWriter, attack: AttackSetup, act: AttackCall, step: int) -> CallHandle:
    return calls.add(
        SimCall(
            label=f"act {step}",
            sender=act.sender,
            to=attack.token,
            data=act.data,
            value=act.value_wei,
            gas=_ATTEMPT_GAS,
        )
    )


# --- reading -----------------------------------------------------------------------------------


def _read_attempt(
    attempt: TheftAttempt, result: SimulationResult, steps: AttemptSteps
) -> TheftOutcome:
    def values(what: Quantity) -> tuple[int, int] | None:
        """Return the value before and after. None: not read, or no answer."""
        before, after = result.word(steps.before.get(what)), result.word(steps.after.get(what))
        return None if before is None or after is None else (before, after)

    def change(what: Quantity) -> int:
        before, after = values(what) or (0, 0)
        return after - before

    wallet = values("wallet")
    results = [result[act] for act in steps.acts]
    is_fair = wallet is not None and _is_set_up(attempt, results, wallet[0])
    explained = max(0, -change("thief"), -change("token"), change("supply"))
    return TheftOutcome(
        attacker=attempt.attacker,
        wallet=attempt.wallet.address,
        what=attempt.what,
        before_raw=wallet[0] if wallet else None,
        after_raw=wallet[1] if wallet else None,
        has_moved=_has_moved(attempt, wallet, values("bystander")) if wallet and is_fair else None,
        has_grown=is_fair and change("wallet") > explained,
        reason="" if results[-1].ok else decode_revert(results[-1].data, results[-1].message),
    )


def _has_moved(
    attempt: TheftAttempt, wallet: tuple[int, int], bystander: tuple[int, int] | None
) -> bool | None:
    """True if the wallet lost tokens that it did not give, and clearly a larger share than the
    bystander did. None: the loss is not clearly larger."""
    before, after = wallet
    if after + attempt.given_raw >= before:
        return False
    if bystander is None or bystander[1] >= bystander[0]:
        return True
    is_clear = after * bystander[0] * 100 < bystander[1] * before * _CLEARLY_PCT
    return True if is_clear else None


def _is_set_up(attempt: TheftAttempt, results: Sequence[SimResult], before: int) -> bool:
    """True if the wallet is funded as planned, and every act with `must_pass` succeeded."""
    wallet = attempt.wallet
    is_funded = before == wallet.balance_raw if wallet.slot_index is not None else before > 0
    return is_funded and all(
        result.ok for act, result in zip(attempt.acts, results, strict=True) if act.must_pass
    )
