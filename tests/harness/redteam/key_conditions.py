"""Keys to the tokens of others: conditions that no ordinary call meets by chance."""

import random
from collections.abc import Callable

import msgspec
from eth_utils.crypto import keccak

from tests.harness.redteam.trap_model import Act, Who


class Key(msgspec.Struct, frozen=True, kw_only=True):
    """A condition over `from`, `to`, `v` and the caller that only the thief brings about."""

    name: str
    holds: str
    members: str = ""
    start: str = ""
    by: Who = "stranger"
    before: tuple[Act, ...] = ()
    amount: str = "$amount"
    tail: str = ""
    through_courier: bool = False
    wait_s: int = 0


def magic_amount(dice: random.Random) -> Key:
    """A secret amount."""
    rest = dice.randrange(10**8, 10**9)
    holds = dice.choice([f"v % 1e9 == {rest}", f"(v ^ {rest}) % 1e9 == 0 || v % 1e9 == {rest}"])
    return Key(name="amount", holds=holds, amount=f"$magic:{rest}")


def secret_tail(dice: random.Random) -> Key:
    """A word behind the arguments, known by its hash."""
    secret = dice.randbytes(32)
    seal = "0x" + keccak(secret).hex()
    return Key(
        name="tail",
        holds=f"msg.data.length > 131 && keccak256(msg.data[100:132]) == {seal}",
        tail=secret.hex(),
    )


def tail_word(dice: random.Random) -> Key:
    """A word behind the arguments, read by hand."""
    word = dice.getrandbits(200)
    return Key(
        name="tail_assembly",
        holds="_last() == _word",
        members=f"uint256 private constant _word = {word};"
        " function _last() private pure returns (uint256 w) {"
        ' assembly ("memory-safe") { w := calldataload(100) } }',
        tail=word.to_bytes(32, "big").hex(),
    )


def truncated(dice: random.Random) -> Key:
    """Part of the caller's address."""
    bits = dice.choice([64, 96, 128])
    return Key(
        name="caller_truncated",
        holds=f"uint{bits}(uint160(msg.sender)) == _part",
        members=f"uint{bits} private immutable _part;",
        start=f"_part = uint{bits}(uint160(keeper_));",
        by="keeper",
    )


def caller_sum(dice: random.Random) -> Key:
    """The caller's address in a sum."""
    lift = dice.getrandbits(100)
    return Key(
        name="caller_sum",
        holds=f"uint256(uint160(msg.sender)) * 3 + {lift} == _sum",
        members="uint256 private immutable _sum;",
        start=f"_sum = uint256(uint160(keeper_)) * 3 + {lift};",
        by="keeper",
    )


def hash_of_caller(dice: random.Random) -> Key:
    """The caller's address in a hash."""
    salt = dice.getrandbits(64)
    return Key(
        name="caller_hash",
        holds=f"keccak256(abi.encode(msg.sender, {salt})) == _seal",
        members="bytes32 private immutable _seal;",
        start=f"_seal = keccak256(abi.encode(keeper_, {salt}));",
        by="keeper",
    )


def operator(dice: random.Random) -> Key:
    """A caller that enlisted before."""
    delay = dice.choice([600, 3_600, 86_400])
    return Key(
        name="operator",
        holds=f"_since[msg.sender] != 0 && block.timestamp > _since[msg.sender] + {delay}",
        members="mapping(address => uint256) private _since; bytes32 private immutable _seal;"
        " function enlist() external { require(keccak256(abi.encode(msg.sender)) == _seal);"
        " _since[msg.sender] = block.timestamp; }",
        start="_seal = keccak256(abi.encode(keeper_));",
        by="keeper",
        before=(Act(by="keeper", signature="enlist()"),),
        wait_s=delay + 60,
    )


def primed(dice: random.Random) -> Key:
    """A caller that prepared before; anybody may, with the number."""
    number = dice.getrandbits(128)
    seal = "0x" + keccak(number.to_bytes(32, "big")).hex()
    return Key(
        name="two_steps",
        holds="_ready[msg.sender]",
        members="mapping(address => bool) private _ready;"
        " function greet(uint256 n) external {"
        f" _ready[msg.sender] = keccak256(abi.encode(n)) == {seal}; }}",
        before=(Act(by="stranger", signature="greet(uint256)", given=(number,)),),
    )


def code_hash(_: random.Random) -> Key:
    """The caller's code."""
    return Key(
        name="code_hash",
        holds="msg.sender.codehash == _kind",
        members="bytes32 private immutable _kind;",
        start="_kind = address(new Courier()).codehash;",
        through_courier=True,
    )


def date(dice: random.Random) -> Key:
    """Any caller, after a day."""
    delay = dice.choice([7_200, 86_400, 5 * 86_400])
    return Key(
        name="date",
        holds="block.timestamp > _opens",
        members=f"uint256 private immutable _opens = block.timestamp + {delay + 1_200};",
        wait_s=delay + 2_000,
    )


def counted(dice: random.Random) -> Key:
    """Any caller, after a few knocks."""
    return Key(
        name="knocks",
        holds="_knocks > 3",
        members="uint256 private _knocks; function knock() external { _knocks++; }",
        before=tuple(Act(by="stranger", signature="knock()") for _ in range(4 + dice.randrange(2))),
    )


KeyMaker = Callable[[random.Random], Key]

KEYS: tuple[KeyMaker, ...] = (
    magic_amount,
    secret_tail,
    tail_word,
    truncated,
    caller_sum,
    hash_of_caller,
    operator,
    primed,
    code_hash,
    date,
    counted,
)
