"""Crowd of buyers: the opening that the simulations of later sales share.

Twelve accounts buy different sizes in three blocks, one of them twice. The opening is first
simulated separately, because a sale's calldata needs the amount that each buy brought. The
simulations that build on it repeat it, so each account has the same balance again. Sends no
request.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final, Literal

import msgspec

from analysis.scenarios.trade.account_calls import account_calls
from analysis.scenarios.trade.buy import part_of_reserve
from analysis.scenarios.trade.token_calls import balance_call
from analysis.scenarios.trade.trade_setup import TradeSetup, build_simulation
from analysis.scenarios.trade.trade_steps import write_unread_buy
from analysis.simulation.block_schedule import SimulatedBlock
from analysis.simulation.simulate_v1 import (
    CallHandle,
    NotSimulated,
    Simulation,
    SimulationResult,
)
from analysis.simulation.simulation_builder import CallWriter, SimulationBuilder
from core.evm.primitives import Address, RawAmount

MOMENTS: Final = ("next block", "+5 minutes", "+1 hour", "+1 day", "+30 days")
"""Moments of sales. Each has two sellers, an ordinary and a small one."""

Role = Literal["seller", "small seller", "second buyer", "sender"]

_SHARES: Final[dict[Role, int]] = {
    "seller": 170,
    "small seller": 2_700,
    "second buyer": 450,
    "sender": 310,
}
"""Divisors of the pool's quote reserve. None of the drawn amounts is a round share."""

BLOCKS: Final = 4
"""Number of blocks of the opening, with the one in which balances are read."""


class CrowdMember(msgspec.Struct, frozen=True):
    """One account of the crowd."""

    role: Role
    moment: str = ""
    """Moment of its sale. Empty: not one of the sellers of a moment."""

    @property
    def name(self) -> str:
        """Name in the evidence, from which the address is derived, too."""
        return f"{self.role} {self.moment}".rstrip()


TWICE: Final = CrowdMember("second buyer")
SENDER: Final = CrowdMember("sender")
MEMBERS: Final = (
    *(CrowdMember(role, moment) for moment in MOMENTS for role in ("seller", "small seller")),
    TWICE,
    SENDER,
)


class CrowdHoldings(msgspec.Struct, frozen=True, kw_only=True):
    """Balances of the crowd after the opening."""

    balances: Mapping[CrowdMember, RawAmount]
    """Nearly all of each balance above zero."""


class CrowdOpening(msgspec.Struct, frozen=True, kw_only=True):
    """One simulation of the opening by itself."""

    simulation: Simulation
    balances: tuple[tuple[CrowdMember, CallHandle], ...]
    """Balance of each account."""


def trader(setup: TradeSetup, member: CrowdMember) -> Address:
    """Return the account of a member."""
    return setup.trader(member.name)


def paid(setup: TradeSetup, role: Role) -> RawAmount:
    """Return the amount that an account pays in for one buy."""
    return part_of_reserve(setup, _SHARES[role])


def payments(setup: TradeSetup) -> dict[Address, RawAmount]:
    """Return the amount that each account needs for all its buys."""
    return {
        trader(setup, each): RawAmount(paid(setup, each.role) * (2 if each == TWICE else 1))
        for each in MEMBERS
    }


def builder_of(blocks: Iterable[SimulatedBlock]) -> SimulationBuilder:
    """Return a builder of these blocks."""
    return SimulationBuilder((block.number, block.time_s) for block in blocks)


def write_buys(builder: SimulationBuilder, setup: TradeSetup) -> tuple[CallHandle, ...]:
    """Write the first buy of every member, in the first three blocks; return the buys."""
    groups = (MEMBERS[:4], MEMBERS[4:8], MEMBERS[8:])
    return tuple(
        write_unread_buy(
            account_calls(builder[at], each.name),
            setup,
            trader(setup, each),
            paid(setup, each.role),
        )
        for at, group in enumerate(groups)
        for each in group
    )


def write_second_buy(calls: CallWriter, setup: TradeSetup) -> None:
    """Write the second buy of one account."""
    own = account_calls(calls, TWICE.name).named("again ")
    write_unread_buy(own, setup, trader(setup, TWICE), paid(setup, TWICE.role))


def write_opening(setup: TradeSetup, blocks: Sequence[SimulatedBlock]) -> CrowdOpening:
    """Return a simulation of the buys, then the second buy and a read of every balance."""
    token = setup.candidate.token
    builder = builder_of(blocks[:BLOCKS])
    write_buys(builder, setup)
    last = builder[BLOCKS - 1]
    write_second_buy(last, setup)
    balances = tuple(
        (each, last.add(balance_call(token, trader(setup, each), f"{each.name}: held")))
        for each in MEMBERS
    )
    simulation = build_simulation(setup, builder.blocks(), payers=payments(setup))
    return CrowdOpening(simulation=simulation, balances=balances)


def read_opening(
    opening: CrowdOpening, result: SimulationResult | NotSimulated
) -> CrowdHoldings | None:
    """Return the balances. None: the node did not simulate, or no account could buy."""
    if isinstance(result, NotSimulated):
        return None
    words = {member: result.word(handle) for member, handle in opening.balances}
    balances = {member: nearly_all(word) for member, word in words.items() if word}
    return CrowdHoldings(balances=balances) if balances else None


def nearly_all(balance: int) -> RawAmount:
    """Return the amount to sell of a balance: some wallets may not be emptied."""
    return RawAmount(max(1, balance - balance // 33))
