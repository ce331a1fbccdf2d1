"""Verbs of a test on the real chain: real transactions and their outcomes.

Independent of the service: its predictions are compared with these outcomes.
"""

from collections.abc import Iterator
from itertools import count

import msgspec

from assay.demo.anvil import ETHER, AnvilNode, quantity
from assay.demo.compile import Artifacts
from assay.demo.layout import World, ZooToken, named_account, native_worth
from assay.demo.reads import balance_of
from assay.demo.seeding import UNLIMITED
from assay.demo.trader import Call, approve_call, buy_call, pays_native, sell_call, spender_of
from assay.demo.transaction_pipeline import Pipeline
from assay.demo.world import Zoo
from assay.demo.zoo_token import Animal
from core.evm.abi import call_data, decode_values, topic_of
from core.evm.primitives import Address, Hash32

_GAS = 3_000_000
_NUMBERS = count()

_SWAP_V2 = topic_of("Swap(address,uint256,uint256,uint256,uint256,address)")
_SWAPS_V3: dict[str, str] = {
    topic_of(f"Swap(address,address,int256,int256,uint160,uint128,int24{rest})"): rest
    for rest in ("", ",uint128,uint128", ",uint24,uint24")
}
"""Swap events of Uniswap and Slipstream, of PancakeSwap, of Algebra Integral, by the fields behind
the tick."""
_SWAP_V4 = topic_of("Swap(bytes32,address,int128,int128,uint160,uint128,int24,uint24)")


class Log(msgspec.Struct, frozen=True, kw_only=True):
    """One log of a receipt."""

    address: Address
    topics: tuple[str, ...]
    data: str


class Sent(msgspec.Struct, frozen=True, kw_only=True):
    """Outcome of a mined transaction."""

    hash: Hash32
    success: bool
    block_number: int
    gas_used: int
    fee_wei: int
    revert_data: str | None
    """0x hex. None: it succeeded, or failed without data."""
    logs: tuple[Log, ...]


class Moved(msgspec.Struct, frozen=True, kw_only=True):
    """A mined transfer or trade, and the balances round it, in smallest units."""

    sent: Sent
    token_before: int
    """The sender's or trader's."""
    token_after: int
    other_before: int
    """Balance of the other side before.

    Of a transfer: the receiver's tokens. Of a trade: the trader's quote coins, gas put back.
    """
    other_after: int
    pool_out: int = 0
    """Tokens that left the pool, by its own event."""
    pool_in: int = 0
    """Tokens that reached the pool, by its own event."""
    pool_quote_out: int = 0
    """Quote coins that left the pool, by its own event."""
    pool_quote_in: int = 0
    """Quote coins that reached the pool, by its own event."""

    @property
    def success(self) -> bool:
        """True if the transaction succeeded, even if nothing moved."""
        return self.sent.success


class Chain:
    """Verbs on a node that holds the demo's world."""

    def __init__(self, node: AnvilNode, world: World, artifacts: Artifacts) -> None:
        self.node = node
        self.world = world
        self.artifacts = artifacts

    # --- accounts and contracts -------------------------------------------------------------

    def fresh_account(self, *, native_wei: int = 100 * ETHER) -> Address:
        """An address that never did anything, with coins for gas and trades and no code."""
        account = named_account(f"fresh {next(_NUMBERS)}")
        self.node.set_balance(account, native_wei)
        return account

    def deploy(self, name: str, *values: object, sender: Address | None = None) -> Address:
        """Create a contract of `assay/demo/contracts` or of the exchanges' packages."""
        pipeline = Pipeline(self.node, self.artifacts)
        made = pipeline.deploy(name, *values, sender=sender or self.world.owner)
        pipeline.flush()
        return made

    def place(self, animal: Animal) -> ZooToken:
        """Deploy one more token of the zoo, in its kind of pool."""
        zoo = Zoo(Pipeline(self.node, self.artifacts), self.world.venues, self.world.owner)
        return zoo.place(self.node, animal, opener=self.world.launcher)

    def balance(self, token: Address, account: Address) -> int:
        """Smallest units."""
        return balance_of(self.node, token, account)

    # --- transactions -----------------------------------------------------------------------

    def send(
        self,
        account: Address,
        to: Address,
        signature: str,
        *values: object,
        value_wei: int = 0,
    ) -> Sent:
        """Call a contract from any account, mined immediately."""
        return self.call(
            account, Call(to=to, data=call_data(signature, *values), value_wei=value_wei)
        )

    def call(self, account: Address, call: Call) -> Sent:
        """Send a call from any account, mined immediately."""
        return self._send(call, account)

    def approve(
        self, token: Address, account: Address, spender: Address, amount_raw: int = UNLIMITED
    ) -> Sent:
        """Allow a spender this much."""
        return self._send(approve_call(token, spender, amount_raw), account)

    def transfer(
        self, token: Address, sender: Address, receiver: Address, amount_raw: int
    ) -> Moved:
        """Send tokens from wallet to wallet."""
        before = self.balance(token, sender), self.balance(token, receiver)
        sent = self.send(sender, token, "transfer(address,uint256)", receiver, amount_raw)
        return Moved(
            sent=sent,
            token_before=before[0],
            token_after=self.balance(token, sender),
            other_before=before[1],
            other_after=self.balance(token, receiver),
        )

    def fund_quote(self, token: ZooToken, account: Address, quote_raw: int) -> None:
        """Give an account the stable of the token's pool, and the router its allowance."""
        if pays_native(self.world.venues, token.pool):
            return
        quote = token.pool.quote
        if quote == self.world.venues.wrapped_native.address:
            given = self.send(account, quote, "deposit()", value_wei=quote_raw)
        else:
            deployer = self.world.deployer
            given = self.send(deployer, quote, "transfer(address,uint256)", account, quote_raw)
        allowed = self.approve(quote, account, spender_of(self.world.venues, token.pool), quote_raw)
        assert given.success
        assert allowed.success

    def quote_worth(self, token: ZooToken, usd: int) -> int:
        """Smallest units of the pool's quote side worth this many dollars."""
        for stable in self.world.venues.stables:
            if stable.address == token.pool.quote:
                return usd * int(10**stable.decimals)
        return native_worth(usd)

    def buy(self, token: ZooToken, account: Address, quote_raw: int | None = None) -> Moved:
        """Buy in the token's pool through the venue's router; None: for 30 dollars."""
        amount_raw = self.quote_worth(token, 30) if quote_raw is None else quote_raw
        self.fund_quote(token, account, amount_raw)
        call = buy_call(self.world.venues, token, trader=account, quote_raw=amount_raw)
        return self._trade(token, account, call)

    def sell(self, token: ZooToken, account: Address, token_raw: int | None = None) -> Moved:
        """Sell in the token's pool, after approving its router; None: all the account has."""
        amount_raw = self.balance(token.address, account) if token_raw is None else token_raw
        self.approve(token.address, account, spender_of(self.world.venues, token.pool), amount_raw)
        call = sell_call(self.world.venues, token, trader=account, token_raw=amount_raw)
        return self._trade(token, account, call)

    # --- blocks -----------------------------------------------------------------------------

    def mine(self, blocks: int = 1) -> None:
        """Mine blocks, each one second after the last."""
        self.node.mine(blocks)

    def wait(self, seconds: int, *, blocks: int | None = None) -> None:
        """Let time pass on the chain, with the blocks that belong to it.

        `blocks`: fewer, as the node hashes all of its state for each.
        """
        if blocks is None:
            self.node.mine(seconds)
            return
        until_s = self.node.head_time() + seconds
        self.node.mine(blocks - 1)
        self.node.set_time(until_s)

    def reorg(self, depth: int) -> None:
        """Replace the newest blocks by as many empty ones."""
        self.node.reorg(depth)

    # --- inside -----------------------------------------------------------------------------

    def _trade(self, token: ZooToken, account: Address, call: Call) -> Moved:
        token_before = self.balance(token.address, account)
        quote_before = self._quote_balance(token, account)
        sent = self._send(call, account)
        flows = list(_flows(token, sent))
        fee_wei = sent.fee_wei if pays_native(self.world.venues, token.pool) else 0
        return Moved(
            sent=sent,
            token_before=token_before,
            token_after=self.balance(token.address, account),
            other_before=quote_before,
            other_after=self._quote_balance(token, account) + fee_wei,
            pool_out=sum(max(-mine, 0) for mine, _ in flows),
            pool_in=sum(max(mine, 0) for mine, _ in flows),
            pool_quote_out=sum(max(-other, 0) for _, other in flows),
            pool_quote_in=sum(max(other, 0) for _, other in flows),
        )

    def _quote_balance(self, token: ZooToken, account: Address) -> int:
        """Native and wrapped coins count as one."""
        venues = self.world.venues
        if not pays_native(venues, token.pool):
            return self.balance(token.pool.quote, account)
        native = quantity(self.node.rpc("eth_getBalance", account, "latest"))
        return native + self.balance(venues.wrapped_native.address, account)

    def _send(self, call: Call, sender: Address) -> Sent:
        # With an explicit gas limit the node does not try first and refuse a reverting call.
        receipt = self.node.execute(call.sent_by(sender, gas=_GAS))
        transaction = Hash32(str(receipt["transactionHash"]))
        success = receipt["status"] == "0x1"
        gas_used = quantity(receipt["gasUsed"])
        return Sent(
            hash=transaction,
            success=success,
            block_number=quantity(receipt["blockNumber"]),
            gas_used=gas_used,
            fee_wei=gas_used * quantity(receipt["effectiveGasPrice"]),
            revert_data=None if success else self._revert_data(transaction),
            logs=msgspec.convert(receipt["logs"], tuple[Log, ...]),
        )

    def _revert_data(self, transaction: Hash32) -> str | None:
        trace = self.node.rpc("debug_traceTransaction", transaction, {"tracer": "callTracer"})
        assert isinstance(trace, dict)
        output = trace.get("output")
        return str(output) if output not in (None, "0x") else None


def revert_reason(sent: Sent) -> str | None:
    """Return the text of `Error(string)`. None: no revert, or another reason."""
    if sent.revert_data is None or not sent.revert_data.startswith("0x08c379a0"):
        return None
    return str(decode_values("(string)", sent.revert_data[10:])[0])


def _flows(token: ZooToken, sent: Sent) -> Iterator[tuple[int, int]]:
    """Yield (token, quote) into the pool, negative out of it, for each swap in the token's pool.

    Trades of the token for itself, paid to its owner, are not the trader's.
    """
    pool = token.pool
    token_first = token.address < pool.quote
    for log in sent.logs:
        if log.address != pool.address:
            continue
        for amounts in _amounts(token, log):
            yield amounts if token_first else amounts[::-1]


def _amounts(token: ZooToken, log: Log) -> tuple[tuple[int, int], ...]:
    """Return the amounts of both coins that went into the pool. Empty: not a swap in this pool."""
    if log.topics[0] == _SWAP_V2:
        if int(log.topics[2], 16) == int(token.owner, 16):
            return ()
        in0, in1, out0, out1 = _integers("(uint256,uint256,uint256,uint256)", log)
        return (in0, in1), (-out0, -out1)
    if log.topics[0] in _SWAPS_V3:
        rest = _SWAPS_V3[log.topics[0]]
        first, second, *_ = _integers(f"(int256,int256,uint160,uint128,int24{rest})", log)
        return ((first, second),)
    if log.topics[0] == _SWAP_V4 and log.topics[1] == token.pool.pool_id:
        # Signed from the trader's side, unlike V3.
        first, second, *_ = _integers("(int128,int128,uint160,uint128,int24,uint24)", log)
        return ((-first, -second),)
    return ()


def _integers(types: str, log: Log) -> tuple[int, ...]:
    return tuple(int(str(value)) for value in decode_values(types, log.data))
