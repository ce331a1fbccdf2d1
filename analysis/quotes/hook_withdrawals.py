"""Whether liquidity can leave a pool with a hook: simulated withdrawals by those who hold it.

A hook is asked before liquidity is removed, and can answer by who removes it, or by when. So each
of the largest holders withdraws now and a day later, and the largest also hands the positions to a
fresh account that then withdraws them: nothing about that account can be known to a hook.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, TokenParties, find_ownership
from analysis.liquidity.holdings import Part
from analysis.market.pool_ranking import ValuedPool
from analysis.market.venues.pool import Candidate
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.trade_rounds import simulation_job
from analysis.scenarios.withdrawal import (
    Withdrawal,
    Withdrawn,
    handing_over,
    read_withdrawal,
    write_withdrawal,
)
from analysis.simulation.backends import perform
from analysis.simulation.block_schedule import SimulatedBlock, blocks_after
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Passed,
    Refused,
    SimCall,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import SimulationBuilder
from core.primitives import Address

MOST_HOLDERS: Final = 3
"""Holders whose withdrawal is simulated, largest first."""

WAITS_S: Final = (0, 86_400)
"""Seconds after the next block."""


class TriedWithdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated withdrawal."""

    holder: Address
    """Whose positions were withdrawn."""
    share: float
    """Part of the pool's liquidity that the holder has, 0 to 1."""
    is_controller: bool
    """The holder is named as somebody who controls the hook or the token."""
    by_stranger: bool
    """The positions were handed to a fresh account first, which withdrew them."""
    wait_s: int
    """Of WAITS_S."""
    block: SimulatedBlock
    """Block of the withdrawal."""
    withdrawn: Withdrawn


class LiquidityExit(msgspec.Struct, frozen=True, kw_only=True):
    """The withdrawals of one pool."""

    tried: tuple[TriedWithdrawal, ...] = ()
    """Largest holder first."""
    reason: str = ""
    """Why none was tried. Empty: one was."""

    @property
    def is_refused(self) -> bool | None:
        """True if a withdrawal was refused. False if a fresh account's and all others passed, now
        and later: of liquidity added like theirs, not of all that was or will be added. None: not
        known."""
        outcomes = [one.withdrawn.outcome for one in self.tried]
        if any(isinstance(outcome, Refused) for outcome in outcomes):
            return True
        is_open = any(one.by_stranger for one in self.tried)
        return False if is_open and all(isinstance(each, Passed) for each in outcomes) else None


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    """One withdrawal, ready to be simulated."""

    candidate: Candidate
    trial: TriedWithdrawal
    """Without an outcome yet."""
    simulation: Simulation
    withdrawal: Withdrawal
    handed: tuple[CallHandle, ...]
    """Calls that hand the positions over; the withdrawal is in the block after theirs."""


async def try_withdrawals(
    context: ChainContext,
    first_round: FirstRound,
    pools: Sequence[ValuedPool],
    *,
    created: dict[str, int],
    controllers: Sequence[Collection[Address]],
) -> list[LiquidityExit]:
    """Return the withdrawals of each pool, in the order of the pools.

    `created`: block of a pool's creation, by Candidate.key, where it is known. `controllers`: who
    controls the hook of each pool, or the token. Raises UpstreamError.
    """
    owned = await find_ownership(
        context.chain,
        [(pool.candidate, pool.state) for pool in pools],
        TokenParties(creator=None, owner=next(iter(first_round.owners), None)),
        created=created,
        block=first_round.pin,
        node=context.node,
        capabilities=context.capabilities,
    )
    written = [
        _write_pool(context, first_round, one, names)
        for one, names in zip(owned, controllers, strict=True)
    ]
    jobs = [
        simulation_job(each.candidate, each.simulation)
        for of_pool in written
        if not isinstance(of_pool, str)
        for each in of_pool
    ]
    results = iter(
        await perform(context.node, context.capabilities, jobs, codes=first_round.codes)
        if jobs
        else ()
    )
    return [
        LiquidityExit(reason=of_pool)
        if isinstance(of_pool, str)
        else LiquidityExit(tried=tuple(_read(each, next(results)) for each in of_pool))
        for of_pool in written
    ]


def _write_pool(
    context: ChainContext, first_round: FirstRound, owned: OwnedPool, names: Collection[Address]
) -> list[_Written] | str:
    """Return the withdrawals of one pool, or why there are none."""
    parts = {holding.holder: holding.parts for holding in owned.holdings.holdings}
    holders = [
        (one.account, one.share)
        for one in owned.ownership.withdrawers
        if one.account in parts and one.account not in owned.contracts
    ][:MOST_HOLDERS]
    found: list[_Written] = []
    for at, (holder, share) in enumerate(holders):
        if holder is None:
            continue
        # A stranger's attempt is needed once: whose positions they were is the same to all.
        for by_stranger in (False, True) if at == 0 else (False,):
            for wait_s in WAITS_S:
                trial = _trial(holder, share, names, by_stranger=by_stranger, wait_s=wait_s)
                one = _write(context, first_round, owned.candidate, trial, parts[holder])
                if one is not None:
                    found.append(one)
    if found:
        return found
    if not holders:
        return owned.ownership.gap or "no account is known that can withdraw it at once"
    return "how this liquidity is withdrawn is not known"


def _trial(
    holder: Address, share: float, names: Collection[Address], *, by_stranger: bool, wait_s: int
) -> TriedWithdrawal:
    return TriedWithdrawal(
        holder=holder,
        share=share,
        is_controller=holder in names,
        by_stranger=by_stranger,
        wait_s=wait_s,
        block=SimulatedBlock(number=0, time_s=0, left_out=0),
        withdrawn=_NOT_TRIED,
    )


_NOT_TRIED: Final = Withdrawn(outcome=NotSimulated(missing="NODE", reason="not tried"))


def _write(
    context: ChainContext,
    first_round: FirstRound,
    candidate: Candidate,
    trial: TriedWithdrawal,
    parts: Sequence[Part],
) -> _Written | None:
    """Return one withdrawal. None: how it is done is not known."""
    disguise, holder = first_round.disguise, trial.holder
    actor = disguise.account(f"{candidate.key}:withdraws") if trial.by_stranger else holder
    withdrawal = write_withdrawal(candidate, actor, parts, disguise)
    given = handing_over(candidate, holder, parts, actor) if trial.by_stranger else ()
    if withdrawal is None or (trial.by_stranger and not given):
        return None
    blocks = blocks_after(
        first_round.pin,
        block_time_s=context.chain.block_time_s,
        now_s=int(context.now_s()),
        waits_s=(trial.wait_s,) if trial.wait_s or given else (),
    )
    builder = SimulationBuilder((block.number, block.time_s) for block in blocks)
    handed = _add_all(builder, 0, given)
    _add_all(builder, len(builder) - 1, withdrawal.calls)
    return _Written(
        candidate=candidate,
        trial=msgspec.structs.replace(trial, block=blocks[-1]),
        simulation=Simulation(
            pin=first_round.pin,
            disguise=disguise,
            blocks=builder.blocks(),
            purses={account: disguise.purse(account) for account in (holder, actor)},
            storage={},
            code=withdrawal.code,
            is_validated=disguise.is_validated,
        ),
        withdrawal=withdrawal,
        handed=handed,
    )


def _add_all(
    builder: SimulationBuilder, block: int, calls: Sequence[SimCall]
) -> tuple[CallHandle, ...]:
    return tuple(builder[block].add(call) for call in calls)


def _read(written: _Written, result: SimulationResult | NotSimulated) -> TriedWithdrawal:
    last = len(written.simulation.blocks) - 1
    withdrawn = read_withdrawal(written.withdrawal, result, block=last)
    if isinstance(result, SimulationResult):
        if not all(result[handle].ok for handle in written.handed):
            reason = "the positions cannot be handed over"
            withdrawn = Withdrawn(outcome=NotSimulated(missing="HOLDER", reason=reason))
        elif isinstance(withdrawn.outcome, Passed) and not _brought_anything(withdrawn):
            # That it does not revert says nothing where everything stays with the hook.
            withdrawn = msgspec.structs.replace(withdrawn, outcome=_brought(withdrawn))
    return msgspec.structs.replace(written.trial, withdrawn=withdrawn)


def _brought_anything(withdrawn: Withdrawn) -> bool:
    return bool(withdrawn.token_raw or withdrawn.quote_raw)


def _brought(withdrawn: Withdrawn) -> Refused | NotSimulated:
    if None in (withdrawn.token_raw, withdrawn.quote_raw):
        return NotSimulated(missing="NODE", reason="what it brings is not visible")
    return Refused(reason="the withdrawal goes through and brings nothing")
