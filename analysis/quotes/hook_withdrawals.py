"""Whether liquidity can leave a pool with a hook: simulated withdrawals by those who hold it.

A hook is asked before liquidity is removed, and can answer by who removes it, or by when. So each
of the largest holders withdraws now and a day later, and the largest also hands the positions to a
fresh account that then withdraws them: nothing about that account can be known to a hook.
"""

from collections.abc import Collection, Sequence
from typing import Final

import msgspec

from analysis.liquidity.find_ownership import OwnedPool, TokenParties, find_ownership
from analysis.liquidity.holdings import LiquidityHolding
from analysis.market.pool_ranking import ValuedPool
from analysis.pipeline.chain_context import ChainContext
from analysis.pipeline.first_round import FirstRound
from analysis.pipeline.trade_rounds import simulation_job
from analysis.scenarios.withdrawal import (
    MOST_POSITIONS,
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


_LEAST_SHARE: Final = 0.5
_WHOLE_SHARE: Final = 0.99
"""Parts of a position's worth: below the first it is kept, from the second on all arrived."""


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


class _Written(msgspec.Struct, frozen=True, kw_only=True):
    """One withdrawal, ready to be simulated."""

    pool: ValuedPool
    worth_raw: float | None
    """What the positions are worth at the pool's price, in smallest units of the quote token. None:
    only some of them are withdrawn."""
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
        _write_pool(context, first_round, pool, one, names)
        for pool, one, names in zip(pools, owned, controllers, strict=True)
    ]
    jobs = [
        simulation_job(each.pool.candidate, each.simulation)
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
    context: ChainContext,
    first_round: FirstRound,
    pool: ValuedPool,
    owned: OwnedPool,
    names: Collection[Address],
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
                trial = _trial(holder, share, names, by_stranger=by_stranger, wait_s=wait_s)
                one = _write(context, first_round, pool, trial, held[holder])
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
    pool: ValuedPool,
    trial: TriedWithdrawal,
    holding: LiquidityHolding,
) -> _Written | None:
    """Return one withdrawal. None: how it is done is not known."""
    candidate, parts = pool.candidate, holding.parts
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
        pool=pool,
        worth_raw=holding.weight if len(parts) <= MOST_POSITIONS else None,
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
    token, quote, price = withdrawn.token_raw, withdrawn.quote_raw, written.pool.state.price
    if token is None or quote is None or not written.worth_raw or not price:
        return None
    return round((quote + token * price) / written.worth_raw, 6)


def _is_whole(one: TriedWithdrawal) -> bool:
    """True if all that the positions are worth is known to have arrived."""
    share = one.brought_share
    return isinstance(one.withdrawn.outcome, Passed) and share is not None and share >= _WHOLE_SHARE
