"""A week of many launches: people trade in the same blocks, makers act, thieves rob.

Everything stays on the chain, to be indexed and analysed.
"""

from collections.abc import Callable, Sequence
from typing import Final

import msgspec

from assay.demo.anvil import ETHER, NodeRefusedError, quantity
from assay.demo.layout import Venues, World, router_of
from assay.demo.seeding import UNLIMITED
from assay.demo.trader import Call, approve_call, buy_call, sell_call, spender_of
from core.evm.abi import call_data, decode_values
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest
from tests.harness.redteam.launches.launch_truth import Attempt, LaunchTruth
from tests.harness.redteam.ordinary_people import People, Receipt
from tests.harness.redteam.ordinary_trades import Deal, Market, deal_of_flows, lost_share
from tests.harness.redteam.placed_traps import Placed
from tests.harness.redteam.trap_model import Act
from tests.harness.redteam.trap_transactions import ACT_GAS, ActWriter

_AMOUNTS_OUT = "getAmountsOut(uint256,address[])"
_PAUSE_S = 12


class Order(msgspec.Struct, frozen=True, kw_only=True):
    """Trade of one person in one launch, yet to be sent."""

    placed: Placed
    person: Address
    amount_raw: int
    """Wei of a purchase, smallest units of the token of a sale."""


class LaunchMarket:
    """Trades of everybody, one order per token at a time, as prices are read before."""

    def __init__(self, people: People, venues: Venues) -> None:
        self._people = people
        self._venues = venues

    def pause(self, seconds: int = _PAUSE_S) -> None:
        """Let the next block be so much later than the head."""
        until_s = self._people.node.head_time() + seconds
        self._people.node.rpc("evm_setNextBlockTimestamp", until_s)

    def shown(self, orders: Sequence[Order]) -> list[int]:
        """Return the balance that each token shows to the person. A refusal is 0."""
        calls = [
            {
                "from": one.person,
                "to": one.placed.token.address,
                "data": call_data("balanceOf(address)", one.person),
            }
            for one in orders
        ]
        answers = self._people.node.try_batch(
            [RpcRequest("eth_call", (call, "latest")) for call in calls]
        )
        return [
            0
            if isinstance(answer, NodeRefusedError)
            else int(str(decode_values("(uint256)", str(answer))[0]))
            for answer in answers
        ]

    def buy(self, orders: Sequence[Order]) -> list[Deal]:
        """Buy with coins."""
        before = self.shown(orders)
        expected = self._expected(orders, is_buy=True)
        calls = [
            (
                buy_call(
                    self._venues,
                    one.placed.token,
                    trader=one.person,
                    quote_raw=one.amount_raw,
                ),
                one.person,
            )
            for one in orders
        ]
        self.pause()
        receipts = self._people.send_all(calls)
        gained = [now - then for now, then in zip(self.shown(orders), before, strict=True)]
        return [
            _deal(receipt, got, plain, None)
            for receipt, got, plain in zip(receipts, gained, expected, strict=True)
        ]

    def sell(self, orders: Sequence[Order]) -> list[tuple[Deal, int]]:
        """Approve, wait two blocks, sell; return the wei received.

        A sale that takes most of the rest, too, is taxed by all of it.
        """
        venues = self._venues
        before = self.shown(orders)
        approvals = [
            (
                approve_call(
                    one.placed.token.address, spender_of(venues, one.placed.token.pool), UNLIMITED
                ),
                one.person,
            )
            for one in orders
        ]
        self.pause()
        self._people.send_all(approvals)
        expected = self._expected(orders, is_buy=False)
        coins = self._coins(orders)
        calls = [
            (
                sell_call(venues, one.placed.token, trader=one.person, token_raw=one.amount_raw),
                one.person,
            )
            for one in orders
        ]
        self.pause(2 * _PAUSE_S)
        receipts = self._people.send_all(calls)
        gained = [
            now + receipt.fee_wei - then
            for now, then, receipt in zip(self._coins(orders), coins, receipts, strict=True)
        ]
        kept = [
            2 * left >= held_before - one.amount_raw
            for one, held_before, left in zip(orders, before, self.shown(orders), strict=True)
        ]
        deals = [
            _deal(receipt, got, plain, one.amount_raw)
            for one, receipt, got, plain in zip(orders, receipts, gained, expected, strict=True)
        ]
        return [
            (deal if is_kept else msgspec.structs.replace(deal, tax=100.0), got)
            for deal, is_kept, got in zip(deals, kept, gained, strict=True)
        ]

    def _coins(self, orders: Sequence[Order]) -> list[int]:
        requests = [RpcRequest("eth_getBalance", (one.person, "latest")) for one in orders]
        return [quantity(one) for one in self._people.node.rpc_batch(requests)]

    def _expected(self, orders: Sequence[Order], *, is_buy: bool) -> list[int | None]:
        """Return the amounts that each pair would give of a plain token. None: no pair."""
        requests = []
        for one in orders:
            path = [one.placed.token.pool.quote, one.placed.token.address]
            data = call_data(_AMOUNTS_OUT, one.amount_raw, path if is_buy else path[::-1])
            call = {"to": router_of(self._venues.v2), "data": data}
            requests.append(RpcRequest("eth_call", (call, "latest")))
        answers = self._people.node.try_batch(requests)
        return [
            _last_amount(answer) if one.placed.token.pool.kind == "AmmV2" else None
            for one, answer in zip(orders, answers, strict=True)
        ]


def _last_amount(answer: object) -> int:
    if isinstance(answer, NodeRefusedError):
        return 1
    (amounts,) = decode_values("(uint256[])", str(answer))
    return int(amounts[-1])  # type: ignore[index] # a tuple as in the signature


def _deal(receipt: Receipt, got: int, expected: int | None, sold_raw: int | None) -> Deal:
    """`expected` None: by the pool's own event; `sold_raw` None: a purchase."""
    if not receipt.success or got <= 0:
        return Deal(went=False, mined=receipt.success, tax=100)
    if expected is None:
        return deal_of_flows(receipt, got, sold_raw)
    return Deal(went=True, mined=True, tax=lost_share(expected - got, expected))


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
