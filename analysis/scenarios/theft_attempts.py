"""Theft attempts: how attempts to take a wallet's tokens are written, simulated and read.

An attempt is a sequence of transactions that an attacker sends to the token against one wallet.
Many attempts share one simulation. A reverted one changes nothing, and each has a wallet of its own
where wallets can be funded by state override, so that none affects another. Only the wallet's
balance counts: neither logs nor return values are trusted.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import msgspec

from analysis.reads.revert_reason import decode_revert
from analysis.scenarios.attack_setup import AttackSetup
from analysis.scenarios.transfer import Wallet
from analysis.scenarios.victim_purchase import Prologue
from analysis.simulation.balance_slot import balance_override
from analysis.simulation.evidence import simulation_evidence
from analysis.simulation.simulate_v1 import (
    READ_GAS,
    NotSimulated,
    SimBlock,
    SimCall,
    SimResult,
    Simulation,
    SimulationResult,
)
from core.abi import call_data
from core.primitives import Address, Hash32, RawAmount
from core.report import EvidenceRow

VERSION = 1

_ATTEMPT_GAS = 600_000
"""Gas of one call, above READ_GAS. Nodes bound the gas of one simulation, 50 million at Geth."""

ATTEMPTS_A_PLAY = 50
"""Most attempts of one simulation. With their reads, even attempts that burn all their gas stay
under that bound."""

_CLEARLY_PCT = 99
"""Percent of the balance left by a loss in proportion to the bystander's: below it a wallet was
robbed."""

_CODE = "0x00"
"""Runtime code of an attacker that must be a contract."""


class Act(msgspec.Struct, frozen=True, kw_only=True):
    """One transaction to the token."""

    sender: Address
    data: str
    must_pass: bool = False
    """True if the attempt proves nothing unless this transaction succeeds."""
    value_wei: int = 0
    is_late: bool = False
    """True if it is sent hours after the others."""


class TheftAttempt(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to lower a wallet's balance."""

    attacker: Address
    wallet: Wallet
    acts: tuple[Act, ...]
    what: str
    """A short description for the evidence."""
    stash_raw: RawAmount = RawAmount(0)
    """Token balance given to the attacker, where its balance slot is known."""
    has_code: bool = False
    """True if the attacker is a contract."""


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
    """True if the wallet holds more than before, and neither a larger supply nor a smaller balance
    of the attacker or the token explains it."""
    reason: str
    """Revert reason of the last act; empty when it succeeded."""


Watched = tuple[Literal["wallet", "bystander", "thief", "token", "supply"], ...]
"""Balances, and the supply, that are read before and after each attempt."""


class Case(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of several attempts."""

    attempts: tuple[TheftAttempt, ...]
    play: Simulation


def write_cases(
    attack: AttackSetup, attempts: Sequence[TheftAttempt], *, watched: Watched
) -> tuple[Case, ...]:
    """Return the attempts in as few simulations as they fit in. Attempts on a real holder share its
    balance."""
    starts = range(0, len(attempts), ATTEMPTS_A_PLAY)
    return tuple(_case(attack, attempts[at : at + ATTEMPTS_A_PLAY], watched) for at in starts)


def read_case(case: Case, played: SimulationResult | NotSimulated) -> tuple[TheftOutcome, ...]:
    """Return the outcome of each attempt. Empty when the node did not simulate."""
    if isinstance(played, NotSimulated):
        return ()
    return tuple(_seen(attempt, f"{at} ", played) for at, attempt in enumerate(case.attempts))


def case_evidence(
    key: str, cases: Sequence[Case], played: Sequence[SimulationResult | NotSimulated]
) -> list[EvidenceRow]:
    """Return one evidence row per simulation of a question. Its outcome lists every attempt, its
    calls only those of attempts that changed the wallet's balance."""
    rows: list[EvidenceRow] = []
    for case, result in zip(cases, played, strict=True):
        if isinstance(result, NotSimulated):
            continue
        seen = read_case(case, result)
        told = {f"{at} " for at, each in enumerate(seen) if each.has_moved or each.has_grown}
        labels = (call.label for block in case.play.blocks for call in block.calls)
        shown = {label for label in labels if label[: label.index(" ") + 1] in told}
        name = f"{key}#{len(rows)}" if rows else key
        rows.append(simulation_evidence(name, VERSION, case.play, result, seen, shown=shown))
    return rows


def transfer_from(attacker: Address, wallet: Address, recipient: Address, amount: int) -> Act:
    """Return the `transferFrom` call, which needs an allowance."""
    data = call_data("transferFrom(address,address,uint256)", wallet, recipient, amount)
    return Act(sender=attacker, data=data)


# --- writing -----------------------------------------------------------------------------------


def _case(attack: AttackSetup, attempts: Sequence[TheftAttempt], watched: Watched) -> Case:
    bystander = _bystander(attack) if "bystander" in watched else None
    asker = attack.account("asker")
    calls: list[SimCall] = []
    late: list[SimCall] = []
    for at, attempt in enumerate(attempts):
        reads = _reads(attack, attempt, bystander, watched)
        calls += _given(attack, attempt.wallet, f"{at} ")
        # Other attempts may drain the same wallet in between, so the balances of a late attempt are
        # read in the late block.
        here = late if any(act.is_late for act in attempt.acts) else calls
        here += _asked(asker, reads, f"{at} ", "before")
        calls += _acted(attack, attempt, f"{at} ", is_late=False)
        here += _acted(attack, attempt, f"{at} ", is_late=True)
        here += _asked(asker, reads, f"{at} ", "after")
    people = {asker, *(act.sender for attempt in attempts for act in attempt.acts)}
    if attack.giver is not None:
        people.add(attack.giver)
    play = Simulation(
        pin=attack.pin,
        disguise=attack.disguise,
        blocks=_blocks(attack, calls, late),
        purses={person: attack.disguise.purse(person) for person in people},
        storage=_funds(attack, attempts, bystander),
        code={each.attacker: _CODE for each in attempts if each.has_code},
    )
    return Case(attempts=tuple(attempts), play=_after(attack.prologue, play))


def _blocks(
    attack: AttackSetup, calls: Sequence[SimCall], late: Sequence[SimCall]
) -> tuple[SimBlock, ...]:
    """Return the blocks of the attempts, with one for the victim's purchase before them and one for
    late acts after them, where there are any."""
    first, second, third = attack.blocks()
    prologue = attack.prologue
    if prologue is None:
        found = [(first, tuple(calls))]
    else:
        found = [(first, prologue.buying), (second, (*prologue.approving, *calls))]
    if late:
        found.append((third, tuple(late)))
    return tuple(
        SimBlock(number=number, time_s=time_s, calls=each) for (number, time_s), each in found
    )


def _funds(
    attack: AttackSetup, attempts: Sequence[TheftAttempt], bystander: Wallet | None
) -> dict[Address, dict[Hash32, Hash32]]:
    """Return the storage overrides that fund wallets, by contract."""
    if attack.slot_index is None:
        return {}
    held = {attempt.wallet.address: attempt.wallet.balance_raw for attempt in attempts}
    held |= {each.attacker: each.stash_raw for each in attempts if each.stash_raw}
    if bystander is not None:
        held[bystander.address] = bystander.balance_raw
    slots: dict[Hash32, Hash32] = {}
    for account, amount in held.items():
        slots |= balance_override(account, amount, index=attack.slot_index)
    return {attack.token: slots} if slots else {}


def _after(prologue: Prologue | None, play: Simulation) -> Simulation:
    """Return the simulation with the coins, slots and code that the prologue needs."""
    if prologue is None:
        return play
    before = prologue.play
    return msgspec.structs.replace(
        play,
        purses={**play.purses, **before.purses},
        storage={**play.storage, **before.storage},
        code={**play.code, **before.code},
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
) -> dict[str, tuple[Address, str]]:
    """Return address and calldata of each watched read, by name."""

    def balance(account: Address) -> tuple[Address, str]:
        return attack.token, call_data("balanceOf(address)", account)

    every = {
        "wallet": balance(attempt.wallet.address),
        "thief": balance(attempt.attacker),
        "token": balance(attack.token),
        "supply": (attack.token, call_data("totalSupply()")),
    }
    if bystander is not None:
        every["bystander"] = balance(bystander.address)
    return {name: read for name, read in every.items() if name in watched}


def _asked(
    asker: Address, reads: Mapping[str, tuple[Address, str]], label: str, when: str
) -> Iterator[SimCall]:
    for name, (to, data) in reads.items():
        yield SimCall(label=f"{label}{name} {when}", sender=asker, to=to, data=data, gas=READ_GAS)


def _given(attack: AttackSetup, wallet: Wallet, label: str) -> Iterator[SimCall]:
    """Yield a transfer of tokens from the pool to the wallet, as if it had bought, where no balance
    slot is known."""
    if attack.slot_index is None and attack.giver is not None:
        data = call_data("transfer(address,uint256)", wallet.address, wallet.balance_raw)
        yield SimCall(
            label=f"{label}gift", sender=attack.giver, to=attack.token, data=data, gas=_ATTEMPT_GAS
        )


def _acted(
    attack: AttackSetup, attempt: TheftAttempt, label: str, *, is_late: bool
) -> Iterator[SimCall]:
    for step, act in enumerate(attempt.acts):
        if act.is_late is is_late:
            yield SimCall(
                label=f"{label}act {step}",
                sender=act.sender,
                to=attack.token,
                data=act.data,
                value=act.value_wei,
                gas=_ATTEMPT_GAS,
            )


# --- reading -----------------------------------------------------------------------------------


def _seen(attempt: TheftAttempt, label: str, played: SimulationResult) -> TheftOutcome:
    def told(what: str) -> tuple[int, int] | None:
        """Return the value before and after. None: not read, or no answer."""
        pair = [played.by_label.get(f"{label}{what} {when}") for when in ("before", "after")]
        words = [result.word for result in pair if result is not None]
        before, after = words or (None, None)
        return None if before is None or after is None else (before, after)

    def change(what: str) -> int:
        before, after = told(what) or (0, 0)
        return after - before

    wallet = told("wallet")
    results = [played[f"{label}act {step}"] for step in range(len(attempt.acts))]
    is_fair = wallet is not None and _is_set_up(attempt, results, wallet[0])
    explained = max(0, -change("thief"), -change("token"), change("supply"))
    return TheftOutcome(
        attacker=attempt.attacker,
        wallet=attempt.wallet.address,
        what=attempt.what,
        before_raw=wallet[0] if wallet else None,
        after_raw=wallet[1] if wallet else None,
        has_moved=_has_moved(wallet, told("bystander")) if wallet and is_fair else None,
        has_grown=is_fair and change("wallet") > explained,
        reason="" if results[-1].ok else decode_revert(results[-1].data, results[-1].message),
    )


def _has_moved(wallet: tuple[int, int], bystander: tuple[int, int] | None) -> bool | None:
    """True if the wallet lost tokens, and clearly a larger share of them than the bystander did.
    None: the loss is not clearly larger."""
    before, after = wallet
    if after >= before:
        return False
    if bystander is None or bystander[1] >= bystander[0]:
        return True
    is_clear = after * bystander[0] * 100 < bystander[1] * before * _CLEARLY_PCT
    return True if is_clear else None


def _is_set_up(attempt: TheftAttempt, results: Sequence[SimResult], before: int) -> bool:
    """True if the wallet holds what it was given, and every act with `must_pass` succeeded."""
    wallet = attempt.wallet
    is_funded = before == wallet.balance_raw if wallet.slot_index is not None else before > 0
    return is_funded and all(
        result.ok for act, result in zip(attempt.acts, results, strict=True) if act.must_pass
    )
