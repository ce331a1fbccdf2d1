"""A week of many launches together: people buy, makers act, thieves rob, people try to sell.

Everything stays on the chain, to be indexed and analysed.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from assay.demo.anvil import ETHER
from assay.demo.layout import World
from assay.demo.swaps import Call
from core.evm.primitives import Address
from tests.harness.redteam.launches.launch_market import LaunchMarket, Order
from tests.harness.redteam.launches.launch_truth import Attempt, LaunchTruth
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.ordinary_trades import Market
from tests.harness.redteam.placed_traps import Placed
from tests.harness.redteam.trap_model import Act
from tests.harness.redteam.trap_transactions import ACT_GAS, ActWriter

LEAST_BUYERS: Final = 8
_VICTIM: Final = 4
_TWICE: Final = 2
"""Index of the person that buys twice."""
_LISTED: Final = slice(2, 8)
"""Buyers that those behind a trap bother to list: the first two may sell before."""
_BLOCK_S: Final = 12
_HOUR_BLOCKS: Final = 150
"""Half an hour of them: conditions on blocks come true within the hour."""
_DAY_S: Final = 86_400


class _Launch(msgspec.Struct):
    placed: Placed
    writer: ActWriter
    people: list[Address]
    bought: list[int]
    """Balances shown to each buyer after the purchase."""
    paid: list[int]
    """Wei that each spent."""
    attempts: list[Attempt]
    stolen_s: int | None = None


class LaunchLife:
    """One week of launches."""

    def __init__(self, people: People, world: World, placed: Sequence[Placed]) -> None:
        self._people = people
        self._market = LaunchMarket(people, world.venues)
        stranger = people.person(extra_wei=ETHER)
        self._launches = [
            _Launch(
                placed=one,
                writer=ActWriter(
                    people, world, one, Market(people, world.venues, one.token), stranger=stranger
                ),
                people=[
                    people.person(extra_wei=ETHER)
                    for _ in range(max(LEAST_BUYERS, one.trap.crowd + 1))
                ],
                bought=[],
                paid=[],
                attempts=[],
            )
            for one in placed
        ]

    def run(self) -> list[LaunchTruth]:
        """Return the outcome for everybody."""
        start_s = self._people.node.head_time()
        self._buy_all()
        self._sell(0)
        self._sell(1, 0.5)
        self._do(lambda one: one.placed.trap.acts, "buyer")
        self._sell(2, 0.1)
        self._sell(3)
        self._people.wait(_HOUR_BLOCKS * _BLOCK_S, blocks=_HOUR_BLOCKS)
        self._rob(is_waiting=False)
        self._sell(_VICTIM)
        self._sell(5)
        self._until(start_s + 3 * 3_600, blocks=80)
        self._sell(6)
        self._until(start_s + 3 * _DAY_S, blocks=10)
        self._rob(is_waiting=True)
        self._sell(7)
        self._sell(2)
        self._until(start_s + 8 * _DAY_S, blocks=3)
        return [
            LaunchTruth(
                token=one.placed.token.address,
                label=one.placed.trap.label,
                axis=one.placed.trap.axis,
                is_honest=one.placed.trap.is_honest,
                attempts=tuple(one.attempts),
                stolen_s=one.stolen_s,
            )
            for one in self._launches
        ]

    def _until(self, time_s: int, *, blocks: int) -> None:
        left_s = time_s - self._people.node.head_time()
        if left_s > 0:
            self._people.wait(left_s, blocks=blocks)

    def _buy_all(self) -> None:
        most = max(len(one.people) for one in self._launches)
        for number in range(most):
            buyers = [one for one in self._launches if number < len(one.people)]
            wei = ETHER // 40 + number % 5 * ETHER // 30
            self._buy(buyers, number, wei)
            for one, order in zip(buyers, self._orders(buyers, number), strict=True):
                one.bought.append(order.amount_raw)
                one.paid.append(wei)
            if number == _TWICE:
                self._buy(buyers, number, wei // 2)
                for one, order in zip(buyers, self._orders(buyers, number), strict=True):
                    one.bought[number] = order.amount_raw
                    one.paid[number] += wei // 2

    def _buy(self, launches: Sequence[_Launch], number: int, wei: int) -> None:
        orders = [
            Order(placed=one.placed, person=one.people[number], amount_raw=wei) for one in launches
        ]
        deals = self._market.buy(orders)
        time_s = self._people.node.head_time()
        for one, order, deal in zip(launches, orders, deals, strict=True):
            one.attempts.append(Attempt(time_s=time_s, person=order.person, is_buy=True, deal=deal))

    def _sell(self, number: int, share: float = 1) -> None:
        """Sell a share.

        A person with a balance of nothing tries the bought amount; one that never had any does not.
        """
        sell_orders = self._orders(self._launches, number)
        launches, orders = [], []
        for one, order in zip(self._launches, sell_orders, strict=True):
            amount_raw = int(order.amount_raw * share) if share < 1 else order.amount_raw
            amount_raw = amount_raw or one.bought[number]
            if amount_raw:
                launches.append(one)
                orders.append(msgspec.structs.replace(order, amount_raw=amount_raw))
        deals = self._market.sell(orders)
        time_s = self._people.node.head_time()
        for one, order, (deal, wei) in zip(launches, orders, deals, strict=True):
            cost = one.paid[number] * order.amount_raw / max(1, one.bought[number])
            one.attempts.append(
                Attempt(
                    time_s=time_s,
                    person=order.person,
                    is_buy=False,
                    deal=deal,
                    paid_share=wei / max(1.0, cost),
                )
            )

    def _orders(self, launches: Sequence[_Launch], number: int) -> list[Order]:
        """All that one buyer of each is shown."""
        orders = [
            Order(placed=one.placed, person=one.people[number], amount_raw=0) for one in launches
        ]
        shown = self._market.shown(orders)
        return [
            msgspec.structs.replace(order, amount_raw=amount_raw)
            for order, amount_raw in zip(orders, shown, strict=True)
        ]

    # --- those behind the traps ---------------------------------------------------------------

    def _do(self, acts_of: Callable[[_Launch], Sequence[Act]], role: str) -> None:
        """The first act of each launch, then the second of each, and so on."""
        waiting = []
        for one in self._launches:
            todo: list[tuple[Act, dict[str, object]]] = []
            for act in acts_of(one):
                whom = one.people[_LISTED] if role == "buyer" else [one.people[_VICTIM]]
                each = whom if role in repr(act.given) else whom[:1]
                todo += [(act, {f"${role}": person}) for person in each]
            waiting.append((one.writer, todo[::-1]))
        while any(todo for _, todo in waiting):
            now = [(writer, *todo.pop()) for writer, todo in waiting if todo]
            wait_s = max(act.wait_s for _, act, _ in now)
            if wait_s:
                self._people.wait(wait_s, blocks=1)
            calls: list[tuple[Call, Address]] = []
            for writer, act, people in now:
                sender, call = writer.write(act, people)
                calls.append((call, sender))
            self._people.send_all(calls, gas=ACT_GAS)

    def _rob(self, *, is_waiting: bool) -> None:
        def thefts(one: _Launch) -> Sequence[Act]:
            acts = one.placed.trap.thefts
            return acts if any(act.wait_s for act in acts) is is_waiting else ()

        robbed = [one for one in self._launches if thefts(one)]
        before = [order.amount_raw for order in self._orders(robbed, _VICTIM)]
        self._do(thefts, "victim")
        after = [order.amount_raw for order in self._orders(robbed, _VICTIM)]
        time_s = self._people.node.head_time()
        for one, held_before, left in zip(robbed, before, after, strict=True):
            if held_before - left > held_before // 100:
                one.stolen_s = time_s
