"""Deterministic blocks: their content follows from seed, branch and height."""

import hashlib
from array import array
from collections.abc import Callable
from random import Random

import msgspec

from config.facts.chain import Chain
from core.evm.primitives import Hash32
from tests.harness.replay.chain_events import (
    APPROVAL,
    TRANSFER,
    ChainEvent,
    EventLog,
    Launched,
    Malformed,
    OddTransfer,
    PoolMade,
    Sent,
    Swapped,
    Unrelated,
    address_word,
    dirty_word,
    encode_event,
)
from tests.harness.replay.log_formats import LogFormatName
from tests.harness.replay.population import Population

_EMPTY_EVERY = 50
"""Interval of blocks without logs other than those of new tokens."""
_SAME_TRANSACTION = 0.6
"""Chance that a log comes from the same transaction as the one before."""
_MORE_THAN_ALL = 1 << 255


class ReplaySpec(msgspec.Struct, frozen=True, kw_only=True):
    """Settings of a replayed chain."""

    chain: Chain
    """Its exchanges and launch platforms emit the events."""
    seed: int = 1
    blocks: int = 2_000
    """Blocks in which all tokens get their pools; a live chain goes on behind them."""
    first_block: int = 21_000_000
    """Lower ones do not exist."""
    logs_per_block: int = 200
    """On average."""
    tokens: int = 2_000
    wallets: int = 20_000
    first_time_s: int = 1_700_000_000
    """Unix time of the first block."""
    block_time_s: float | None = None
    """Seconds between blocks. None: the chain file's."""
    log_format: LogFormatName = "geth"
    has_transactions: bool = False
    """True if blocks list the hashes of the transactions that emitted logs."""

    @property
    def last_block(self) -> int:
        """The head of a chain that does not grow."""
        return self.first_block + self.blocks - 1


class ReplayBlock(msgspec.Struct, frozen=True, kw_only=True):
    """One block and all that happened in it."""

    number: int
    hash: Hash32
    parent_hash: Hash32
    time_s: int
    events: tuple[ChainEvent, ...]
    """In the order of their logs; the index of a log is its position."""
    transactions: "array[int]"
    """Index of the transaction that emitted each log, ascending."""

    def transaction_hash(self, index: int) -> Hash32:
        """Return the hash of the transaction at an index."""
        return Hash32("0x" + _digest(f"{self.hash}:{index}"))


class BlockMaker:
    """Maker of a chain's blocks. Blocks may be made in any order, on any branch."""

    def __init__(self, spec: ReplaySpec) -> None:
        self.spec = spec
        self.people = Population(
            spec.chain, seed=spec.seed, tokens=spec.tokens, wallets=spec.wallets
        )
        self._others: tuple[tuple[float, Callable[[Random, int], ChainEvent]], ...] = (
            (0.870, self._transfer),
            (0.920, self._swap),
            (0.945, self._more_pool),
            (0.970, self._nft),
            (0.992, self._approval),
            (0.996, self._odd_transfer),
            (0.998, self._malformed),
            (1.000, self._stranger),
        )
        """Kinds of log, each with the sum of the shares up to it."""

    def make(
        self, number: int, *, parent_hash: Hash32, branch: int = 0, logs: int | None = None
    ) -> ReplayBlock:
        """Make the block at a height on a branch.

        `logs`: their number in addition to due pools and launches. None: by the spec.
        """
        spec = self.spec
        name = f"{spec.seed}:{spec.chain.id}:{branch}:{number}"
        dice = Random(name)  # noqa: S311 - chance, not secrecy
        if logs is None:
            usual = spec.logs_per_block
            logs = 0 if number % _EMPTY_EVERY == 0 else dice.randint(usual // 2, usual * 3 // 2)
        before, born = self._born(number - 1), self._born(number)
        events = [self._birth(dice, at) for at in range(before, born)]
        events += [self._any(dice, born) for _ in range(logs)]
        interval_s = spec.block_time_s or spec.chain.block_time_s
        return ReplayBlock(
            number=number,
            hash=Hash32("0x" + _digest(f"{name}:{parent_hash}")),
            parent_hash=parent_hash,
            time_s=int(spec.first_time_s + (number - spec.first_block) * interval_s),
            events=tuple(events),
            transactions=_transactions(dice, len(events)),
        )

    @property
    def root_hash(self) -> Hash32:
        """The parent's hash of the first block."""
        return Hash32("0x" + _digest(f"{self.spec.seed}:{self.spec.chain.id}:root"))

    def _born(self, number: int) -> int:
        """Return the number of tokens with a first pool or a launch by the end of this block."""
        return self.people.born((number - self.spec.first_block + 1) / self.spec.blocks)

    def _birth(self, dice: Random, at: int) -> ChainEvent:
        token = self.people.tokens[at]
        if token.pool is not None:
            return PoolMade(token.pool, at)
        platform = self.people.platforms[at % len(self.people.platforms)]
        creator = dice.choice(self.people.wallets)
        return Launched(platform.slug, platform.emitter, platform.event, token.address, creator)

    def _any(self, dice: Random, born: int) -> ChainEvent:
        drawn = dice.random()
        return next(make for upto, make in self._others if drawn < upto)(dice, born)

    # --- kinds of log -------------------------------------------------------------------------

    def _transfer(self, dice: Random, _: int) -> Sent:
        token = self.people.tokens[self.people.choose(dice)]
        wallets = self.people.wallets
        sender, recipient = (wallets[int(dice.random() * len(wallets))] for _side in range(2))
        if dice.random() < 0.5:
            if dice.random() < 0.5:
                sender = token.counterparty
            else:
                recipient = token.counterparty
        return Sent(token.address, sender, recipient, draw_amount(dice))

    def _swap(self, dice: Random, born: int) -> ChainEvent:
        at = self.people.choose(dice)
        pool = self.people.tokens[at].pool
        if pool is None or at >= born:
            return self._transfer(dice, born)
        trader = dice.choice(self.people.wallets)
        paid_in, paid_out = dice.getrandbits(80), dice.getrandbits(70)
        amounts = (paid_in, -paid_out) if dice.random() < 0.5 else (-paid_out, paid_in)
        return Swapped(pool, trader, *amounts)

    def _more_pool(self, dice: Random, _: int) -> PoolMade:
        token = self.people.tokens[self.people.choose(dice)]
        number = dice.getrandbits(48)
        return PoolMade(self.people.make_pool(dice, token.address, f"{number} more"), number)

    def _nft(self, dice: Random, _: int) -> Unrelated:
        sides = (address_word(dice.choice(self.people.wallets)) for _ in range(2))
        topics = (TRANSFER, *sides, f"0x{dice.randrange(10_000):064x}")
        return Unrelated(EventLog(dice.choice(self.people.nfts), topics, "0x"))

    def _approval(self, dice: Random, _: int) -> Unrelated:
        sides = (address_word(dice.choice(self.people.wallets)) for _ in range(2))
        token = self.people.tokens[self.people.choose(dice)]
        return Unrelated(EventLog(token.address, (APPROVAL, *sides), "0x" + "f" * 64))

    def _odd_transfer(self, dice: Random, born: int) -> OddTransfer:
        token = self.people.tokens[self.people.choose(dice)].address
        plain = encode_event(self._transfer(dice, born))
        bare = "".join(topic[2:] for topic in plain.topics[1:])
        shapes: tuple[tuple[tuple[str, ...], str], ...] = (
            (plain.topics[:1], "0x" + bare + plain.data[2:]),
            ((*plain.topics, plain.data), "0x"),
            (plain.topics, plain.data + "0" * 64),
            ((plain.topics[0], dirty_word(token), plain.topics[2]), plain.data),
            (plain.topics, plain.data[:-2]),
        )
        return OddTransfer(EventLog(token, *dice.choice(shapes)))

    def _malformed(self, dice: Random, born: int) -> Malformed:
        log = encode_event(self._more_pool(dice, born))
        return Malformed(EventLog(log.address, log.topics, log.data + "0" * 64))

    def _stranger(self, dice: Random, born: int) -> Unrelated:
        emitter = self.people.address(f"stranger {dice.randrange(100)}")
        if dice.random() < 0.5:
            return Unrelated(EventLog(emitter, (), "0x" + "ab" * dice.randrange(70)))
        make = dice.choice((self._more_pool, self._swap))
        log = encode_event(make(dice, born))
        return Unrelated(EventLog(emitter, log.topics, log.data))


def draw_amount(dice: Random) -> int:
    """Draw an amount: half fill 64 bits, three in ten have more, few are 0 or the maximum."""
    drawn = dice.random()
    if drawn < 0.5:
        return dice.getrandbits(63) | (1 << 63)
    if drawn < 0.8:
        bits = dice.randint(65, 120)
        return dice.getrandbits(bits) | (1 << (bits - 1))
    if drawn < 0.998:
        return dice.randrange(1, 10**12)
    return 0 if drawn < 0.999 else 2 * _MORE_THAN_ALL - 1


def _transactions(dice: Random, logs: int) -> "array[int]":
    found = array("L")
    at = 0
    for log in range(logs):
        if log and dice.random() >= _SAME_TRANSACTION:
            at += 1
        found.append(at)
    return found


def _digest(name: str) -> str:
    return hashlib.blake2b(name.encode(), digest_size=32).hexdigest()
