"""A chain with all its branches and their events, which the tables are compared with."""

import hashlib
from array import array
from collections.abc import Callable, Sequence
from functools import cache
from random import Random

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Hash32
from tests.harness.built_in_chains import BUILT_IN_CHAINS
from tests.harness.replay.block_encoding import encode_block
from tests.harness.replay.block_maker import ReplayBlock, draw_amount
from tests.harness.replay.block_spool import BlockSpool, SpooledBlock
from tests.harness.replay.chain_events import (
    TRANSFER,
    ChainEvent,
    EventLog,
    Launched,
    Malformed,
    OddTransfer,
    PoolMade,
    ReplayPool,
    Sent,
    Swapped,
    Unrelated,
    address_word,
    dirty_word,
    encode_event,
)
from tests.harness.replay.log_formats import LogFormatName
from tests.harness.replay.population import Population

_FIRST_TIME_S = 1_700_000_000
_TOKENS, _WALLETS, _POOLS = 12, 6, 9
_LAUNCHED = 9
"""The token that comes from a launch platform."""
_DEXES = ("Uniswap V2", "Uniswap V3", "Uniswap V4")


class World(msgspec.Struct, frozen=True):
    """Accounts, exchanges and launch platforms of a chain."""

    chain: Chain
    people: Population
    pools: tuple[ReplayPool, ...]


@cache
def world_of(number: int) -> World:
    """One of a few worlds: making one takes longer than a whole history."""
    ethereum = next(chain for chain in BUILT_IN_CHAINS if chain.slug == "ethereum")
    chain = msgspec.structs.replace(
        ethereum,
        block_time_s=1.0,
        dexes=tuple(dex for dex in ethereum.dexes if dex.name in _DEXES),
        launchpads=tuple(pad for pad in ethereum.launchpads if pad.event)[:2],
    )
    people = Population(chain, seed=number, tokens=_TOKENS, wallets=_WALLETS)
    dice = Random(number)  # noqa: S311 - chance, not secrecy
    pools = [token.pool for token in people.tokens if token.pool is not None][:_POOLS]
    pools += [people.make_pool(dice, people.tokens[at].address, f"more {at}") for at in range(3)]
    return World(chain, people, tuple(pools))


class ModelBlock(msgspec.Struct, frozen=True, kw_only=True):
    """A block of any branch."""

    made: ReplayBlock
    spooled: SpooledBlock
    order: int
    """Number of earlier blocks, on any branch."""
    pools: frozenset[str]
    """Keys of the pools that there are after it, on its branch."""

    @property
    def number(self) -> int:
        """Its height."""
        return self.made.number

    @property
    def hash(self) -> Hash32:
        """Its hash."""
        return self.made.hash


class ModelChain:
    """Blocks in a tree, one branch canonical."""

    def __init__(
        self, world: World, chain: Chain, dice: Random, log_format: LogFormatName, spool: BlockSpool
    ) -> None:
        self.chain = chain
        self.spool = spool
        self.dice = dice
        self.highest = 0
        """Highest of all heads so far, without those of refused branches."""
        self.left_out: set[str] = set()
        """Blocks whose logs some node left out once."""
        self.cuts_logs = False
        """True if nodes leave out a part of a block's logs, which only a second read shows."""
        self.cut: set[str] = set()
        """Blocks of which some node left out a part of the logs."""
        self._format = log_format
        self._draw = _Drawing(world, dice)
        self._by_hash: dict[str, ModelBlock] = {}
        self._root = Hash32("0x" + hashlib.blake2b(b"root", digest_size=32).hexdigest())
        self.canonical: tuple[ModelBlock, ...] = ()
        self.set_canonical([self.make(None, busy=False)])

    @property
    def head(self) -> ModelBlock:
        """The newest block."""
        return self.canonical[-1]

    @property
    def made(self) -> int:
        """Return the number of blocks on all branches."""
        return len(self._by_hash)

    def find(self, block_hash: str) -> ModelBlock | None:
        """A block of any branch."""
        return self._by_hash.get(block_hash)

    def branch_to(self, block_hash: str) -> tuple[ModelBlock, ...]:
        """The branch that ends with a block; empty if there is no such block."""
        branch: list[ModelBlock] = []
        block = self.find(block_hash)
        while block is not None:
            branch.append(block)
            block = self.find(block.made.parent_hash)
        return tuple(reversed(branch))

    def grow(self, blocks: int, *, busy: float = 1.0) -> None:
        """Mine; `busy`: share of blocks in which anything happens."""
        self.set_canonical(self._branch(self.canonical, blocks, busy=busy))

    def fork(self, kept: int, blocks: int) -> list[ModelBlock]:
        """A branch that leaves the canonical one behind its first `kept` blocks."""
        return self._branch(self.canonical[:kept], blocks, busy=1.0)

    def set_canonical(self, blocks: Sequence[ModelBlock], *, counts: bool = True) -> None:
        """Another branch is canonical. Not `counts`: it is one that must be refused."""
        self.canonical = tuple(blocks)
        if counts:
            self.highest = max(self.highest, self.head.number)

    def make(self, parent: ModelBlock | None, *, busy: bool) -> ModelBlock:
        """Make a child of a block, with random content."""
        number = 0 if parent is None else parent.number + 1
        parent_hash = self._root if parent is None else parent.hash
        before = frozenset() if parent is None else parent.pools
        events = self._draw.events(before) if busy else ()
        name = f"{parent_hash}:{len(self._by_hash)}".encode()
        made = ReplayBlock(
            number=number,
            hash=Hash32("0x" + hashlib.blake2b(name, digest_size=32).hexdigest()),
            parent_hash=parent_hash,
            time_s=_FIRST_TIME_S + number,
            events=events,
            transactions=array("L", [at // 2 for at in range(len(events))]),
        )
        block = ModelBlock(
            made=made,
            spooled=self.spool.add(encode_block(made, self._format, has_transactions=False)),
            order=len(self._by_hash),
            pools=before | {event.pool.key for event in events if isinstance(event, PoolMade)},
        )
        self._by_hash[block.hash] = block
        return block

    def _branch(self, stem: Sequence[ModelBlock], blocks: int, *, busy: float) -> list[ModelBlock]:
        branch = list(stem)
        for _ in range(blocks):
            branch.append(self.make(branch[-1], busy=self.dice.random() < busy))
        return branch


class _Drawing:
    """Random content of a block."""

    def __init__(self, world: World, dice: Random) -> None:
        self._world = world
        self._dice = dice
        self._tokens = [token.address for token in world.people.tokens]
        self._kinds: tuple[tuple[float, Callable[[frozenset[str]], ChainEvent]], ...] = (
            (0.50, self._transfer),
            (0.64, self._pool),
            (0.80, self._swap),
            (0.86, self._launch),
            (0.93, self._odd),
            (0.96, self._malformed),
            (1.00, self._nft),
        )

    def events(self, pools: frozenset[str]) -> tuple[ChainEvent, ...]:
        """Those of one block; `pools` are there before it."""
        found: list[ChainEvent] = []
        for _ in range(self._dice.randrange(6)):
            drawn = self._dice.random()
            event = next(make for upto, make in self._kinds if drawn < upto)(pools)
            if isinstance(event, PoolMade):
                pools |= {event.pool.key}
            found.append(event)
        return tuple(found)

    def _transfer(self, _: frozenset[str]) -> Sent:
        wallets = self._world.people.wallets
        # A few tokens have most transfers, so that owners meet again.
        token = self._tokens[min(self._dice.randrange(_TOKENS), self._dice.randrange(_TOKENS))]
        sender, recipient = (self._dice.choice(wallets) for _ in range(2))
        return Sent(token, sender, recipient, draw_amount(self._dice))

    def _pool(self, _: frozenset[str]) -> PoolMade:
        return PoolMade(self._dice.choice(self._world.pools), self._dice.randrange(1, 1 << 32))

    def _swap(self, pools: frozenset[str]) -> ChainEvent:
        there = [pool for pool in self._world.pools if pool.key in pools]
        if not there:
            return self._pool(pools)
        trader = self._dice.choice(self._world.people.wallets)
        amounts = (self._dice.getrandbits(80), -self._dice.getrandbits(70))
        one, other = amounts if self._dice.random() < 0.5 else amounts[::-1]
        return Swapped(self._dice.choice(there), trader, one, other)

    def _launch(self, _: frozenset[str]) -> Launched:
        platform = self._dice.choice(self._world.people.platforms)
        token = self._tokens[self._dice.choice((_LAUNCHED, 4))]
        creator = self._dice.choice(self._world.people.wallets)
        return Launched(platform.slug, platform.emitter, platform.event, token, creator)

    def _odd(self, pools: frozenset[str]) -> OddTransfer:
        plain = encode_event(self._transfer(pools))
        shapes: tuple[tuple[tuple[str, ...], str], ...] = (
            (plain.topics[:1], plain.data),
            ((*plain.topics, plain.data), "0x"),
            (plain.topics, plain.data + "0" * 64),
            ((plain.topics[0], dirty_word(plain.address), plain.topics[2]), plain.data),
        )
        return OddTransfer(EventLog(plain.address, *self._dice.choice(shapes)))

    def _malformed(self, pools: frozenset[str]) -> Malformed:
        log = encode_event(self._pool(pools))
        return Malformed(EventLog(log.address, log.topics, log.data + "0" * 64))

    def _nft(self, _: frozenset[str]) -> Unrelated:
        people = self._world.people
        sides = (address_word(self._dice.choice(people.wallets)) for _ in range(2))
        topics = (TRANSFER, *sides, f"0x{self._dice.randrange(10_000):064x}")
        return Unrelated(EventLog(self._dice.choice(people.nfts), topics, "0x"))
