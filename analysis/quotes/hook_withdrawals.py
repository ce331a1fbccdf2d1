"""Whether liquidity can leave a pool with a hook: simulated withdrawals by those who hold it.

A hook is asked before liquidity is removed, and can answer by who removes it, or by when. So each
of the largest holders withdraws now and a day later, and the largest also hands the positions to a
fresh account that then withdraws them: nothing about that account can be known to a hook.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, TokenParties, find_ownership
from analysis.liquidity.holdings import LiquidityHolding
from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.trade_rounds import simulation_job
from analysis.quotes.timed_simulation import LATE, perform_in_time, trace_in_time
from analysis.scenarios.trade.withdrawal import (
    Withdrawal,
    Withdrawn,
    read_withdrawal,
    write_withdrawal,
)
from analysis.scenarios.trade.withdrawal_calls import handing_over, withdrawn_parts
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
from core.evm.primitives import Address

MOST_HOLDERS: Final = 3
"""Holders whose withdrawal is simulated, largest first."""

WAITS_S: Final = (0, 86_400)
"""Seconds after the next block."""


_LEAST_SHARE: Final = 0.5
_WHOLE_SHARE: Final = 0.99
"""Parts of a position's worth: below the first it is kept, from the second on all arrived."""


class TriedWithdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated withdrawal."""

    holder: Address
    """Whose positions were withdrawn."""
    share: float
    """Part of the pool's liquidity that the holder has, 0 to 1."""
    by_stranger: bool
    """The positions were handed to a fresh account first, which withdrew them."""
    wait_s: int
    """Of WAITS_S."""
    block: SimulatedBlock
    """Block of the withdrawal."""
    withdrawn: Withdrawn
    is_controller: bool = False
    """The holder is named as somebody who controls the hook or the token."""
    brought_share: float | None = None
    """What arrived, as a part of what the positions are worth at the pool's price; fees that they
    earned come on top. None: it did not pass, or is not known."""


class LiquidityExit(msgspec.Struct, frozen=True, kw_only=True):
    """The withdrawals of one pool."""

    tried: tuple[TriedWithdrawal, ...] = ()
    """Largest holder first."""
    reason: str = ""
    """Why none was tried. Empty: one was."""

    @property
    def is_refused(self) -> bool | None:
        """True if a withdrawal was refused, or brought less than half of its worth. False if a
        fresh account's and all others brought it, now and later: of these positions, not of all
        that there are or will be. None: not known, or blocks were left out before a later one:
        what goes by the number of a block may have been passed over."""
        if any(
            isinstance(one.withdrawn.outcome, Refused)
            or (one.brought_share is not None and one.brought_share < _LEAST_SHARE)
            for one in self.tried
        ):
            return True
        is_open = any(one.by_stranger for one in self.tried)
        is_passed_over = any(one.block.left_out for one in self.tried)
        is_learnt = is_open and not is_passed_over and all(map(_is_whole, self.tried))
        return False if is_learnt else None


class _Plan(msgspec.Struct, frozen=True, kw_only=True):
    """Who withdraws what, and when."""

    pool: ValuedPool
    holding: LiquidityHolding
    share: float
    by_stranger: bool
    wait_s: int

    @property
    def worth_raw(self) -> float | None:
        """Return what the positions are worth at the pool's price, in smallest units of the quote
        token. None: only some of them are withdrawn."""
        taken = withdrawn_parts(self.pool.candidate, self.holding)
        return self.holding.weight if len(taken) == len(self.holding.parts) else None


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    """One withdrawal, ready to be simulated."""

    plan: _Plan
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
    until_s: float | None = None,
) -> list[LiquidityExit]:
    """Return the withdrawals of each pool, in the order of the pools.

    `created`: block of a pool's creation, by Candidate.key, where it is known. `until_s`: as of
    `perform_in_time`. Raises UpstreamError.
    """
    try:
        async with asyncio.timeout_at(until_s):
            owned = await find_ownership(
                context.chain,
                [(pool.candidate, pool.state) for pool in pools],
                TokenParties(creator=None, owner=next(iter(first_round.owners), None)),
                created=created,
                block=first_round.pin,
                node=context.node,
                capabilities=context.capabilities,
                index=context.index,
            )
    except TimeoutError:
        return [LiquidityExit(reason=LATE)] * len(pools)

    async def withdraw(pool: ValuedPool, held: OwnedPool) -> LiquidityExit:
        written = _write_pool(context, first_round, pool, held)
        if isinstance(written, str):
            return LiquidityExit(reason=written)
        jobs = [simulation_job(pool.candidate, each.simulation) for each in written]
        results = await perform_in_time(context, first_round, jobs, until_s=until_s)
        tried = dict(enumerate(map(_read, written, results)))
        # Those a day later once more, at the numbers that their times would have.
        distant = {
            at: again
            for at, one in enumerate(written)
            if one.trial.block.left_out
            and (again := _write(context, first_round, one.plan, is_bounded=False)) is not None
        }
        simulations = [each.simulation for each in distant.values()]
        traced = await trace_in_time(context, simulations, until_s=until_s)
        for (at, each), result in zip(distant.items(), traced, strict=True):
            if result is not None:
                tried[at] = _read(each, result)
        return LiquidityExit(tried=tuple(tried.values()))

    return await asyncio.gather(*map(withdraw, pools, owned))


def name_controllers(found: LiquidityExit, names: Collection[Address]) -> LiquidityExit:
    """Return the withdrawals with those named who control the hook or the token."""
    tried = (msgspec.structs.replace(one, is_controller=one.holder in names) for one in found.tried)
    return msgspec.structs.replace(found, tried=tuple(tried))


def _write_pool(
    context: ChainContext,
    first_round: FirstRound,
    pool: ValuedPool,
    owned: OwnedPool,
) -> list[_Written] | str:
    """Return the withdrawals of one pool, or why there are none."""
    held = {holding.holder: holding for holding in owned.holdings.holdings}
    holders = [
        (one.account, one.share)
        for one in owned.ownership.withdrawers
        if one.account in held and one.account not in owned.contracts
    ][:MOST_HOLDERS]
    found: list[_Written] = []
    for at, (holder, share) in enumerate(holders):
        # A stranger's attempt is needed once: whose positions they were is the same to all.
        for by_stranger in (False, True) if at == 0 else (False,):
            for wait_s in WAITS_S:
                plan = _Plan(
                    pool=pool,
                    holding=held[holder],
                    share=share,
                    by_stranger=by_stranger,
                    wait_s=wait_s,
                )
                one = _write(context, first_round, plan, is_bounded=True)
                if one is not None:
                    found.append(one)
    if found:
        return found
    if not holders:
        return owned.ownership.gap or "no account is known that can withdraw it at once"
    return "how this liquidity is withdrawn is not known"


_NOT_TRIED: Final = Withdrawn(outcome=NotSimulated(missing="NODE", reason="not tried"))


def _write(
    context: ChainContext, first_round: FirstRound, plan: _Plan, *, is_bounded: bool
) -> _Written | None:
    """Return one withdrawal. None: how it is done is not known. `is_bounded`: as of
    `blocks_after`."""
    candidate, holder = plan.pool.candidate, plan.holding.holder
    disguise = first_round.disguise
    actor = disguise.account(f"{candidate.key}:withdraws") if plan.by_stranger else holder
    withdrawal = write_withdrawal(candidate, actor, plan.holding, disguise)
    given = handing_over(candidate, plan.holding, actor) if plan.by_stranger else ()
    if withdrawal is None or (plan.by_stranger and not given):
        return None
    blocks = blocks_after(
        first_round.pin,
        block_time_s=context.chain.block_time_s,
        now_s=int(context.now_s()),
        waits_s=(plan.wait_s,) if plan.wait_s or given else (),
        is_bounded=is_bounded,
    )
    builder = SimulationBuilder((block.number, block.time_s) for block in blocks)
    handed = _add_all(builder, 0, given)
    _add_all(builder, len(builder) - 1, withdrawal.calls)
    return _Written(
        plan=plan,
        trial=TriedWithdrawal(
            holder=holder,
            share=plan.share,
            by_stranger=plan.by_stranger,
            wait_s=plan.wait_s,
            block=blocks[-1],
            withdrawn=_NOT_TRIED,
        ),
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
    if isinstance(result, SimulationResult) and not all(
        result[handle].ok for handle in written.handed
    ):
        reason = "the positions cannot be handed over"
        withdrawn = Withdrawn(outcome=NotSimulated(missing="HOLDER", reason=reason))
    return msgspec.structs.replace(
        written.trial, withdrawn=withdrawn, brought_share=_brought_share(written, withdrawn)
    )


def _brought_share(written: _Written, withdrawn: Withdrawn) -> float | None:
    """Return what arrived as a part of the positions' worth; see TriedWithdrawal."""
    plan = written.plan
    token, quote, price = withdrawn.token_raw, withdrawn.quote_raw, plan.pool.state.price
    if token is None or quote is None or not plan.worth_raw or not price:
        return None
    return round((quote + token * price) / plan.worth_raw, 6)


def _is_whole(one: TriedWithdrawal) -> bool:
    """True if all that the positions are worth is known to have arrived."""
    share = one.brought_share
    return isinstance(one.withdrawn.outcome, Passed) and share is not None and share >= _WHOLE_SHARE
