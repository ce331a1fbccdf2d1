"""Writes the transactions of those behind a trap, with people and figures put in."""

from eth_abi.abi import encode
from eth_utils.crypto import keccak

from assay.demo.anvil import ETHER
from assay.demo.layout import World, router_of
from assay.demo.reads import balance_of, read, read_address
from assay.demo.seeding import UNLIMITED
from assay.demo.trader import Call
from core.evm.abi import call_data
from core.evm.primitives import Address
from tests.harness.redteam.ordinary_people import People
from tests.harness.redteam.ordinary_trades import Market
from tests.harness.redteam.placed_traps import Placed, keeper_of
from tests.harness.redteam.trap_model import Act

ACT_GAS = 1_500_000


class ActWriter:
    """The acts of one trap."""

    def __init__(
        self, people: People, world: World, placed: Placed, market: Market, *, stranger: Address
    ) -> None:
        self._people = people
        self._world = world
        self._placed = placed
        self._market = market
        self._keeper = keeper_of(people.node)
        self._stranger = stranger

    def write(self, act: Act, people: dict[str, object]) -> tuple[Address, Call]:
        """Return sender and call. `people`: values of `$buyer` and `$victim`."""
        senders = {
            "maker": self._world.owner,
            "keeper": self._keeper,
            "stranger": self._stranger,
            "victim": people.get("$victim"),
        }
        sender = Address(str(senders[act.by]))
        known = people | self._known()
        known["$caller"] = self._placed.courier if act.through_courier else sender
        if act.sign:
            known |= self._signed(act, known)
        target = self._target(act.to)
        data = call_data(act.signature, *(self._meant(one, known) for one in act.given))
        tail = str(self._meant(act.tail, known)) if act.tail else ""
        data += tail.removeprefix("0x")
        if act.through_courier:
            carried = bytes.fromhex(data[2:])
            data = call_data("carry(address,bytes)", target, carried)
            target = self._placed.courier
        if self._people.coins(sender) < ETHER:
            self._people.node.set_balance(sender, 5 * ETHER)
        return sender, Call(to=target, data=data)

    def _known(self) -> dict[str, object]:
        token, venues = self._placed.token, self._world.venues
        return {
            "$keeper": self._keeper,
            "$maker": self._world.owner,
            "$zero": bytes(32),
            "$unlimited": UNLIMITED,
            "$pool": token.pool.address,
            "$token": token.address,
            "$weth": venues.wrapped_native.address,
            "$router": router_of(venues.v2),
        }

    def _target(self, to: str) -> Address:
        if to == "$shelf":
            return read_address(self._people.node, self._placed.home, "shelf()")
        if to == "$home":
            return self._placed.home
        return Address(str(self._known()[to]))

    def _token(self) -> Address:
        return self._placed.token.address

    def _meant(self, word: object, known: dict[str, object]) -> object:
        if isinstance(word, tuple):
            return [self._meant(one, known) for one in word]
        if not isinstance(word, str) or not word.startswith("$"):
            return word
        if word in known:
            return known[word]
        name, _, rest = word.partition(":")
        if name in ("$amount", "$magic", "$tenth"):
            balance = self._market.shown(Address(str(known["$victim"])))
            amount = balance // (10 if name == "$tenth" else 3)
            return amount // 10**9 * 10**9 - 10**9 + int(rest) if rest else amount
        return self._figure(name, rest, known)

    def _figure(self, name: str, rest: str, known: dict[str, object]) -> object:
        if name == "$liquidity":
            pool = self._placed.token.pool.address
            is_kept = self._placed.trap.liquidity == "kept"
            holder = self._world.owner if is_kept else self._keeper
            return balance_of(self._people.node, pool, holder)
        buyer = str(known["$buyer"])
        if name == "$slot_of_buyer":
            return int(buyer, 16) * 3 + int(rest)
        if name == "$key_of_buyer":
            return keccak(encode(["uint256", "address"], [3, buyer]))
        raise KeyError(name)

    def _signed(self, act: Act, known: dict[str, object]) -> dict[str, object]:
        given = [self._meant(one, known) for one in act.sign_given]
        (digest,) = read(self._people.node, self._token(), act.sign, *given, returns="(bytes32)")
        assert isinstance(digest, bytes)
        answer = self._people.node.rpc("eth_sign", self._keeper, "0x" + digest.hex())
        signature = bytes.fromhex(str(answer)[2:])
        return {"$r": signature[:32], "$s": signature[32:64], "$v": signature[64] % 27 + 27}
