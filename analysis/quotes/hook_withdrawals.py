"""Simulated withdrawals from pools with a hook, by the holders of their liquidity.

The manager calls the hook before liquidity is removed, and the hook can decide by account or time.
So each of the largest holders withdraws now and a day later, and the largest also transfers the
positions to a fresh account, unknown to the hook, that then withdraws them.
"""

import asyncio
from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, find_ownership
from analysis.liquidity.holdings import LiquidityHolding
from analysis.liquidity.liquidity_shares import TokenParties
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
"""Shares of a position's value: below the first it is kept, from the second on all arrived."""


class TriedWithdrawal(msgspec.Struct, frozen=True, kw_only=True):
    """One simulated withdrawal."""

    holder: Address
    """Holder of the withdrawn positions."""
    share: float
    """Part of the pool's liquidity that the holder has, 0 to 1."""
    by_stranger: bool
    """True if the positions were transferred to a fresh account, which withdrew them."""
    wait_s: int
    """Wait, one of WAITS_S."""
    block: SimulatedBlock
    """Block of the withdrawal."""
    withdrawn: Withdrawn
    is_controller: bool = False
    """True if the holder controls the hook or the token."""
    brought_share: float | None = None
    """Received share of the positions' value at the pool's price, plus fees that they earned. None:
    it did not pass, or is not known."""


class LiquidityExit(msgspec.Struct, frozen=True, kw_only=True):
    """The withdrawals of one pool."""

    tried: tuple[TriedWithdrawal, ...] = ()
    """Largest holder first."""
    reason: str = ""
    """Reason why none was tried. Empty: one was."""

    @property
    def is_refused(self) -> bool | None:
        """True if a withdrawal was refused, or brought less than half of its value.

        False if all of them, one by a fresh account, brought it, now and later. This covers these
        positions only. None: not known, or blocks were left out before a later one: a rule by block
        number may have been skipped.
        """
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
    """Plan of one withdrawal: account, positions and time."""

    pool: ValuedPool
    holding: LiquidityHolding
    share: float
    by_stranger: bool
    wait_s: int

    @property
    def worth_raw(self) -> float | None:
        """Value of the positions at the pool's price, in smallest units of the quote token.

        None: only some of them are withdrawn.
        """
        taken = withdrawn_parts(self.pool.candidate, self.holding)
        return self.holding.weight if len(taken) == len(self.holding.parts) else None


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    """One withdrawal, ready to be simulated."""

    plan: _Plan
    trial: TriedWithdrawal
    """Record without an outcome."""
    simulation: Simulation
    withdrawal: Withdrawal
    handed: tuple[CallHandle, ...]
    """Calls that transfer the positions; the withdrawal is in the next block."""


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

    async def withdraw(pool: ValuedPool, owned_pool: OwnedPool) -> LiquidityExit:
        written = _write_pool(context, first_round, pool, owned_pool)
        if isinstance(written, str):
            return LiquidityExit(reason=written)
        jobs = [simulation_job(pool.candidate, each.simulation) for each in written]
        results = await perform_in_time(context, first_round, jobs, until_s=until_s)
        tried = dict(enumerate(map(_read, written, results)))
        # Those a day later are run again, at the true block numbers of their times.
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
    """Return the withdrawals, marked where their holder controls the hook or the token."""
    tried = (msgspec.structs.replace(one, is_controller=one.holder in names) for one in found.tried)
    return msgspec.structs.replace(found, tried=tuple(tried))


def _write_pool(
    context: ChainContext,
    first_round: FirstRound,
    pool: ValuedPool,
    owned: OwnedPool,
) -> list[_Written] | str:
    """Return the withdrawals of one pool, or why there are none."""
    holdings = {holding.holder: holding for holding in owned.holdings.holdings}
    holders = [
        (one.account, one.share)
        for one in owned.ownership.withdrawers
        if one.account in holdings and one.account not in owned.contracts
    ][:MOST_HOLDERS]
    found: list[_Written] = []
    for at, (holder, share) in enumerate(holders):
        # One attempt by a stranger suffices: the origin of the positions makes no difference.
        for by_stranger in (False, True) if at == 0 else (False,):
            for wait_s in WAITS_S:
                plan = _Plan(
                    pool=pool,
                    holding=holdings[holder],
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
    """Return one withdrawal. None: its calls are not known. `is_bounded`: see `blocks_after`."""
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
    """Return the received share of the positions' value; see TriedWithdrawal."""
    plan = written.plan
    token, quote, price = withdrawn.token_raw, withdrawn.quote_raw, plan.pool.state.price
    if token is None or quote is None or not plan.worth_raw or not price:
        return None
    return round((quote + token * price) / plan.worth_raw, 6)


def _is_whole(one: TriedWithdrawal) -> bool:
    """True if the whole value of the positions is known to have arrived."""
    share = one.brought_share
    return isinstance(one.withdrawn.outcome, Passed) and share is not None and share >= _WHOLE_SHARE
