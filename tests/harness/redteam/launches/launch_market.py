"""Concurrent trades of many launches, a transaction each in the same blocks."""

from collections.abc import Sequence

import msgspec

from assay.demo.anvil import NodeRefusedError, quantity
from assay.demo.layout import Venues, router_of
from assay.demo.seeding import UNLIMITED
from assay.demo.swaps import approve_call, buy_call, sell_call, spender_of
from core.evm.abi import call_data, decode_values
from core.evm.primitives import Address
from core.rpc.messages import RpcRequest
from tests.harness.redteam.ordinary_people import People, Receipt
from tests.harness.redteam.ordinary_trades import Deal, deal_of_flows, lost_share
from tests.harness.redteam.placed_traps import Placed

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
