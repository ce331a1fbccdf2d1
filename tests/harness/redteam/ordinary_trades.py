"""Proceeds of ordinary buys and sales: real transactions through the real routers."""

from collections.abc import Iterator

import msgspec

from assay.demo.anvil import ETHER, NodeRefusedError
from assay.demo.layout import Venues, ZooToken, router_of
from assay.demo.reads import read
from assay.demo.seeding import UNLIMITED
from assay.demo.trader import Call, approve_call, buy_call, sell_call, spender_of
from core.evm.abi import call_data, decode_values, topic_of
from core.evm.primitives import Address
from tests.harness.redteam.ordinary_people import People, Receipt

_SWAP_V4 = topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")
_OPEN_FEE = 3_000
"""Fee of the traps' V4 pools, in hundredths of a basis point; more is a tax."""


class Deal(msgspec.Struct, frozen=True, kw_only=True):
    """One attempt to trade."""

    went: bool
    """True if the transaction succeeded and brought something."""
    mined: bool
    """True if the transaction succeeded."""
    tax: float
    """Percentage of the plain token's amount that is missing; 100 where nothing came."""


class Market:
    """Buys and sales of one token by ordinary people."""

    def __init__(self, people: People, venues: Venues, token: ZooToken) -> None:
        self._people = people
        self._venues = venues
        self._token = token

    def shown(self, account: Address) -> int:
        """Return the balance that the token shows to the account itself. A refusal is 0."""
        call = {
            "from": account,
            "to": self._token.address,
            "data": call_data("balanceOf(address)", account),
        }
        try:
            answer = str(self._people.node.rpc("eth_call", call, "latest"))
        except NodeRefusedError:
            return 0
        return int(str(decode_values("(uint256)", answer)[0]))

    def buyer(self, wei: int) -> Address:
        """Create a person that bought for an amount."""
        person = self._people.person(extra_wei=wei + ETHER // 20)
        self.buy(person, wei)
        return person

    def buy(self, person: Address, wei: int) -> Deal:
        """Buy with coins, in a separate block."""
        before = self.shown(person)
        expected = self._expected(wei, is_buy=True)
        call = buy_call(self._venues, self._token, trader=person, quote_raw=wei)
        receipt = self._people.send(call, person)
        got = self.shown(person) - before
        if not receipt.success or got <= 0:
            return Deal(went=False, mined=receipt.success, tax=100)
        if expected is None:
            return deal_of_flows(receipt, got, None)
        return Deal(went=True, mined=True, tax=lost_share(expected - got, expected))

    def sell(self, person: Address, share: float = 1) -> Deal:
        """Approve in a separate block, wait a little, sell a share of the shown balance."""
        spender = spender_of(self._venues, self._token.pool)
        approval = approve_call(self._token.address, spender, UNLIMITED)
        self._people.send(approval, person)
        self._people.wait(24, blocks=1)
        amount_raw = self.shown(person)
        if share < 1:
            amount_raw = int(amount_raw * share)
        if amount_raw == 0:
            return Deal(went=False, mined=False, tax=100)
        expected = self._expected(amount_raw, is_buy=False)
        coins = self._people.coins(person)
        call = sell_call(self._venues, self._token, trader=person, token_raw=amount_raw)
        receipt = self._people.send(call, person)
        got = self._people.coins(person) + receipt.fee_wei - coins
        if not receipt.success or got <= 0:
            return Deal(went=False, mined=receipt.success, tax=100)
        if expected is not None:
            return Deal(went=True, mined=True, tax=lost_share(expected - got, expected))
        return deal_of_flows(receipt, got, amount_raw)

    def send_on(self, person: Address, friend: Address) -> bool:
        """Give a third to a friend; whether he has it."""
        amount_raw = self.shown(person) // 3
        data = call_data("transfer(address,uint256)", friend, amount_raw)
        receipt = self._people.send(Call(to=self._token.address, data=data), person)
        return receipt.success and self.shown(friend) > 0

    def _expected(self, amount_raw: int, *, is_buy: bool) -> int | None:
        """Return the amount that the pair would give of a plain token. None: no pair."""
        if self._token.pool.kind != "AmmV2":
            return None
        path = [self._token.pool.quote, self._token.address]
        try:
            (amounts,) = read(
                self._people.node,
                router_of(self._venues.v2),
                "getAmountsOut(uint256,address[])",
                amount_raw,
                path if is_buy else path[::-1],
                returns="(uint256[])",
            )
        except NodeRefusedError:
            return 1
        return int(amounts[-1])  # type: ignore[index] # a tuple as in `returns`


def deal_of_flows(receipt: Receipt, got: int, sold_raw: int | None) -> Deal:
    """A mined trade in a V4 pool, by the pool's own event. `sold_raw` None: a purchase."""
    flows = list(_flows(receipt))
    if sold_raw is None:
        expected = sum(out for _, out, _ in flows)
        return Deal(went=True, mined=True, tax=lost_share(expected - got, expected))
    ((given, out, fee),) = flows
    kept = min(1.0, given / sold_raw) * min(1.0, got / out)
    kept *= (10**6 - fee) / (10**6 - _OPEN_FEE)
    return Deal(went=True, mined=True, tax=max(0.0, 100 - 100 * kept))


def lost_share(lost: int, whole: int) -> float:
    """Percent; 100 of nothing."""
    return max(0.0, 100 * lost / whole) if whole else 100.0


def _flows(receipt: Receipt) -> Iterator[tuple[int, int, int]]:
    """(in, out, fee) of each swap in a V4 pool."""
    for log in receipt.logs:
        topics = log["topics"]
        if not isinstance(topics, list) or topics[0] != _SWAP_V4:
            continue
        types = "(int128,int128,uint160,uint128,int24,uint24)"
        first, second, *_, fee = (int(str(x)) for x in decode_values(types, str(log["data"])))
        yield max(-first, -second), max(first, second), fee
