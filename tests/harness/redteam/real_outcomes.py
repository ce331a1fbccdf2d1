"""Real outcomes of ordinary people with one trap. Everything is rolled back."""

import msgspec

from assay.demo.anvil import ETHER
from assay.demo.layout import World
from assay.demo.reads import read
from core.evm.primitives import Address
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.ordinary_trades import Deal, Market
from tests.harness.redteam.placed_traps import Placed, keeper_of
from tests.harness.redteam.trap_model import Act
from tests.harness.redteam.trap_transactions import ACT_GAS, ActWriter

RUINOUS_PCT = 50.0
"""A trade that loses as much is a trap's."""
_FEWEST = 6
_FEW_S = 240
_HOUR_S = 3_600
_DAY_S = 86_400
_LISTED = 6
"""Number of buyers that the people behind the trap list."""
_BLOCKS = 5
"""In each long wait: each costs the node as much as its whole state."""


class Truth(msgspec.Struct, frozen=True, kw_only=True):
    """One life."""

    first_buys: tuple[Deal, ...]
    """Buys before any act of accounts with powers."""
    first_sales: tuple[Deal, ...]
    """Sales of the same people, within minutes."""
    later_buys: dict[str, Deal]
    later_sales: dict[str, Deal]
    sent_on: bool
    """True if a wallet could send tokens to another, at the start."""
    is_stolen: bool
    """True if a thief took a holder's tokens."""
    is_minted: bool
    """A thief made tokens."""

    @property
    def sales(self) -> tuple[Deal, ...]:
        """All of them."""
        return (*self.first_sales, *self.later_sales.values())

    @property
    def hurts(self) -> bool:
        """True if an ordinary person loses.

        A sale refused or ruinous, a buy that brings nothing, tokens taken or made.
        """
        sale = any(not deal.went or deal.tax >= RUINOUS_PCT for deal in self.sales)
        buys = (*self.first_buys, *self.later_buys.values())
        buy = any(deal.mined and deal.tax >= RUINOUS_PCT for deal in buys)
        return sale or buy or self.is_stolen or self.is_minted

    @property
    def words(self) -> str:
        """Describe the outcome in a line."""
        parts = [f"first sales {_words(self.first_sales)}"]
        parts += [f"{when} {_words((deal,))}" for when, deal in self.later_sales.items()]
        bad = [when for when, deal in self.later_buys.items() if deal.tax >= RUINOUS_PCT]
        parts.append(f"first buys {_words(self.first_buys)}")
        if bad:
            parts.append("bad buys " + ", ".join(bad))
        parts += ["stolen"] * self.is_stolen + ["minted"] * self.is_minted
        return "; ".join(parts)


def _words(deals: tuple[Deal, ...]) -> str:
    return "/".join(f"{deal.tax:.0f}%" if deal.went else "refused" for deal in deals)


def live(people: People, world: World, placed: Placed) -> Truth:
    """A life of 35 days with this trap, rolled back."""
    node = people.node
    snapshot = node.snapshot()
    try:
        return _Life(people, world, placed).run()
    finally:
        node.revert(snapshot)


class _Life:
    def __init__(self, people: People, world: World, placed: Placed) -> None:
        self._people = people
        self._world = world
        self._placed = placed
        self._market = Market(people, world.venues, placed.token)
        self._keeper = keeper_of(people.node)
        self._stranger = people.person()
        self._writer = ActWriter(people, world, placed, self._market, stranger=self._stranger)
        self._later_buys: dict[str, Deal] = {}
        self._blocks = max(_BLOCKS, placed.trap.blocks)

    def run(self) -> Truth:
        market, people = self._market, self._people
        first_buys, first_sales, sent_on = self._today()
        crowd = self._crowd()
        self._do(self._placed.trap.acts, crowd[:_LISTED])
        victim, parts, twice, minutes, hours, days, month = crowd[:7]
        sales = {}
        people.wait(_FEW_S, blocks=self._blocks)
        sales["minutes"] = market.sell(minutes)
        sales["part"] = market.sell(parts, 0.1)
        people.wait(3 * _HOUR_S, blocks=self._blocks)
        sales["hours"] = market.sell(hours)
        people.wait(3 * _DAY_S, blocks=self._blocks)
        sales["days"] = market.sell(days)
        sales["rest"] = market.sell(parts)
        sales["second buyer"] = market.sell(twice)
        sales["half"] = market.sell(victim, 0.5)
        self._buy("days")
        people.wait(28 * _DAY_S, blocks=self._blocks)
        sales["month"] = market.sell(month)
        self._buy("month")
        stolen, minted = self._rob(victim)
        return Truth(
            first_buys=first_buys,
            first_sales=first_sales,
            later_buys=self._later_buys,
            later_sales=sales,
            sent_on=sent_on,
            is_stolen=stolen,
            is_minted=minted,
        )

    def _today(self) -> tuple[tuple[Deal, ...], tuple[Deal, ...], bool]:
        market, people = self._market, self._people
        spent = (ETHER // 20, ETHER // 80, ETHER // 6)
        traders = [people.person(extra_wei=wei + ETHER // 20) for wei in spent]
        buys = tuple(market.buy(who, wei) for who, wei in zip(traders, spent, strict=True))
        balances = [market.shown(who) for who in traders]
        sent_on = market.send_on(traders[2], people.person())
        sales = [market.sell(traders[0])] if balances[0] else []
        people.wait(_FEW_S, blocks=self._blocks)
        if balances[1]:
            sales += [market.sell(traders[1], 0.5), market.sell(traders[1])]
        return buys, tuple(sales), sent_on

    def _crowd(self) -> list[Address]:
        """Create the buyers; the third of them buys twice."""
        size = max(_FEWEST + 1, self._placed.trap.crowd + 1)
        crowd = []
        for number in range(size):
            wei = ETHER // 40 + number % 5 * ETHER // 30
            person = self._people.person(extra_wei=3 * wei + ETHER // 20)
            self._later_buys[f"buyer {number}"] = self._market.buy(person, wei)
            if number == 2:
                self._later_buys["second buy"] = self._market.buy(person, wei // 2)
                self._later_buys["third buy"] = self._market.buy(person, wei // 2)
            crowd.append(person)
        return crowd

    def _buy(self, when: str) -> None:
        wei = ETHER // 30
        person = self._people.person(extra_wei=wei + ETHER // 20)
        self._later_buys[when] = self._market.buy(person, wei)

    # --- those behind the trap ----------------------------------------------------------------

    def _do(self, acts: tuple[Act, ...], buyers: list[Address]) -> None:
        for act in acts:
            each = "buyer" in repr(act.given)
            for buyer in buyers if each else buyers[:1]:
                self._act(act, {"$buyer": buyer})

    def _rob(self, victim: Address) -> tuple[bool, bool]:
        trap = self._placed.trap
        attackers = (self._keeper, self._stranger, self._placed.courier)
        balances, loot = self._market.shown(victim), sum(map(self._market.shown, attackers))
        supply = self._supply()
        for act in trap.thefts:
            if act.wait_s:
                self._people.wait(act.wait_s, blocks=self._blocks)
            self._act(act, {"$victim": victim})
        if not trap.thefts:
            return False, False
        lost = balances - self._market.shown(victim)
        won = sum(map(self._market.shown, attackers)) - loot
        return lost > balances // 100, won > 2 * max(lost, 1) or self._supply() > supply

    def _supply(self) -> int:
        answer = read(self._people.node, self._placed.token.address, "totalSupply()")
        return int(str(answer[0]))

    def _act(self, act: Act, people: dict[str, object]) -> None:
        sender, call = self._writer.write(act, people)
        self._people.send(call, sender, gas=ACT_GAS)
