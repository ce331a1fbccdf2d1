"""Conditions that an account with powers sets: lists, switches, lists under another name."""

import random
from collections.abc import Callable

from tests.harness.redteam.trap_model import Act, Condition, EntryPoint

Maker = Callable[[random.Random], Condition]

_LISTED = ("access_restrictions", "hidden_owner_controls")
_SWITCHED = (
    *_LISTED,
    *("pause_status_can_be_modified", "tax_can_be_modified"),
)
_EVERYWHERE: tuple[EntryPoint, ...] = ("sell", "transfer", "transferFrom", "approve")


def _gate(dice: random.Random) -> tuple[str, str]:
    """Return members and the expression that is true for the token's maker."""
    return dice.choice(
        [
            ("", "msg.sender == maker"),
            ("address private _boss = tx.origin;", "msg.sender == _boss"),
            (
                "bytes32 private immutable _seal = keccak256(abi.encode(tx.origin));",
                "keccak256(abi.encode(msg.sender)) == _seal",
            ),
            (
                "uint256 private immutable _mask = uint160(tx.origin) ^ 0xabcdef0123456789;",
                "uint160(msg.sender) ^ 0xabcdef0123456789 == _mask",
            ),
            ("address public owner = tx.origin;", "owner == msg.sender || tx.origin == maker"),
        ]
    )


def plain_list(dice: random.Random) -> Condition:
    """A mapping of addresses."""
    state, gate = _gate(dice)
    return Condition(
        key="list_mapping",
        axis="owner_list",
        lhs="_marked[who]",
        op="!=",
        rhs="0",
        state=f"mapping(address => uint256) private _marked; {state}",
        functions="function note(address a, uint256 b) external {"
        f' require({gate}, "gate"); _marked[a] = b; }}',
        acts=(Act(by="maker", signature="note(address,uint256)", given=("$buyer", 1)),),
        entry_points=(*_EVERYWHERE, "hook"),
        cause=_LISTED,
    )


def array_list(dice: random.Random) -> Condition:
    """An array that is walked."""
    state, gate = _gate(dice)
    return Condition(
        key="list_array",
        axis="owner_list",
        lhs="_count(who)",
        op=">",
        rhs="0",
        state=f"address[] private _row; {state}",
        functions=f'function add(address a) external {{ require({gate}, "gate"); _row.push(a); }}'
        " function _count(address a) private view returns (uint256 n) {"
        " for (uint256 i; i < _row.length; i++) if (_row[i] == a) n++; }",
        acts=(Act(by="maker", signature="add(address)", given=("$buyer",)),),
        entry_points=_EVERYWHERE,
        cause=_LISTED,
    )


def white_list(dice: random.Random) -> Condition:
    """Once the gate is shut, only friends."""
    state, gate = _gate(dice)
    return Condition(
        key="list_of_friends",
        axis="owner_list",
        lhs="_shut * (1 - _friend[who])",
        op="!=",
        rhs="0",
        state=f"mapping(address => uint256) private _friend; uint256 private _shut; {state}",
        functions="function befriend(address a) external {"
        f' require({gate}, "gate"); _friend[a] = 1; _shut = 1; }}',
        acts=(Act(by="maker", signature="befriend(address)", given=("$keeper",)),),
        entry_points=_EVERYWHERE,
        cause=_SWITCHED,
    )


def hashed_list(dice: random.Random) -> Condition:
    """A mapping of hashes of addresses under a generation."""
    state, gate = _gate(dice)
    return Condition(
        key="list_of_hashes",
        axis="owner_list",
        lhs="_known[keccak256(abi.encode(_age, who))]",
        op="!=",
        rhs="0",
        state=f"mapping(bytes32 => uint256) private _known; uint256 private _age = 3; {state}",
        functions="function put(bytes32 h, uint256 b) external {"
        f' require({gate}, "gate"); _known[h] = b; }}'
        " function keyOf(address a) external view returns (bytes32) {"
        " return keccak256(abi.encode(_age, a)); }",
        acts=(Act(by="maker", signature="put(bytes32,uint256)", given=("$key_of_buyer", 1)),),
        entry_points=_EVERYWHERE,
        cause=_LISTED,
    )


def switch(dice: random.Random) -> Condition:
    """One stored word for all."""
    state, gate = _gate(dice)
    value = dice.choice([1, 7, 1_000])
    return Condition(
        key="switch_word",
        axis="owner_switch",
        lhs="_mode",
        op="==",
        rhs=str(value),
        state=f"uint256 private _mode; {state}",
        functions=f'function tune(uint256 m) external {{ require({gate}, "gate"); _mode = m; }}',
        acts=(Act(by="maker", signature="tune(uint256)", given=(value,)),),
        entry_points=(*_EVERYWHERE, "buy", "proxy"),
        cause=_SWITCHED,
    )


def start_time(dice: random.Random) -> Condition:
    """The start of trade can be moved into the future again."""
    state, gate = _gate(dice)
    return Condition(
        key="switch_start",
        axis="owner_switch",
        lhs="_start",
        op=">",
        rhs="block.timestamp",
        state=f"uint256 private _start = block.timestamp; {state}",
        functions=f'function launch(uint256 t) external {{ require({gate}, "gate"); _start = t; }}',
        acts=(Act(by="maker", signature="launch(uint256)", given=(2**40,)),),
        entry_points=(*_EVERYWHERE, "buy"),
        cause=(*_SWITCHED, "timebomb"),
    )


def hidden_second(dice: random.Random) -> Condition:
    """The shown owner is nobody; another account has the switch, packed next to a number."""
    value = dice.randrange(2, 90)
    return Condition(
        key="switch_packed",
        axis="owner_switch",
        lhs="_word & 0xff",
        op="==",
        rhs=str(value),
        state="address public owner; uint256 private _word;",
        start="_word = uint256(uint160(keeper)) << 8;",
        functions="function step(uint8 m) external { require(_word >> 8 == uint160(msg.sender));"
        " _word = (_word >> 8 << 8) | m; }",
        acts=(Act(by="keeper", signature="step(uint8)", given=(value,)),),
        entry_points=(*_EVERYWHERE, "buy"),
        cause=_SWITCHED,
    )


def allowance_list(_: random.Random) -> Condition:
    """Accounts with an allowance of one unit from the keeper are on the list."""
    return Condition(
        key="disguised_allowance",
        axis="disguised_list",
        lhs="_allowed[keeper][who]",
        op="!=",
        rhs="0",
        acts=(Act(by="keeper", signature="approve(address,uint256)", given=("$buyer", 1)),),
        entry_points=_EVERYWHERE,
        cause=_LISTED,
    )


def own_entry(_: random.Random) -> Condition:
    """Any account may name its inviter; once the keeper has, the trap shuts."""
    return Condition(
        key="disguised_referral",
        axis="disguised_list",
        lhs="uint160(_inviter[keeper])",
        op="!=",
        rhs="0",
        state="mapping(address => address) private _inviter;",
        functions="function join(address inviter) external { _inviter[msg.sender] = inviter; }",
        acts=(Act(by="keeper", signature="join(address)", given=("$buyer",)),),
        entry_points=(*_EVERYWHERE, "buy"),
        cause=(*_SWITCHED, "untested_conditions"),
    )


def balance_list(dice: random.Random) -> Condition:
    """Accounts that were sent an exact final amount are on the list: nobody can refuse a gift."""
    value = dice.randrange(3, 200)
    return Condition(
        key="disguised_gift",
        axis="disguised_list",
        lhs="_gift[who]",
        op="==",
        rhs=str(value),
        state="mapping(address => uint256) private _gift;",
        functions="function transferMany(address[] calldata to, uint256 value) external {"
        " for (uint256 i; i < to.length; i++) { _put(msg.sender, to[i], value);"
        " if (msg.sender == keeper || msg.sender == maker) _gift[to[i]] = value; } }",
        acts=(
            Act(
                by="maker",
                signature="transferMany(address[],uint256)",
                given=(("$buyer",), value),
            ),
        ),
        entry_points=_EVERYWHERE,
        cause=_LISTED,
    )


def packed_list(dice: random.Random) -> Condition:
    """One bit of a word that also remembers the last trade."""
    bit = dice.randrange(130, 255)
    return Condition(
        key="disguised_bit",
        axis="disguised_list",
        lhs=f"(_trace[who] >> {bit}) & 1",
        op="==",
        rhs="1",
        state="mapping(address => uint256) private _trace;",
        on_buy=f"_trace[who] = (_trace[who] >> {bit} << {bit}) | uint64(block.number);",
        functions="function sweep(address a, uint256 w) external {"
        ' require(msg.sender == maker, "gate"); _trace[a] ^= w; }',
        acts=(Act(by="maker", signature="sweep(address,uint256)", given=("$buyer", 1 << bit)),),
        entry_points=("sell", "transfer", "transferFrom"),
        cause=_LISTED,
    )


def book_list(dice: random.Random) -> Condition:
    """Another contract keeps it, and calls it balances."""
    shown = dice.choice(["", "public "])
    return Condition(
        key="disguised_book",
        axis="disguised_list",
        lhs="book.balanceOf(who)",
        op=">",
        rhs="0",
        state=f"Book {shown}immutable book = new Book();".replace("  ", " "),
        functions="function shelf() external view returns (address) { return address(book); }",
        acts=(
            Act(by="maker", to="$shelf", signature="give(address,uint256)", given=("$buyer", 5)),
        ),
        entry_points=_EVERYWHERE,
        cause=(*_LISTED, "external_call"),
    )


def slot_list(dice: random.Random) -> Condition:
    """A slot reckoned by hand."""
    salt = dice.getrandbits(200)
    return Condition(
        key="disguised_slot",
        axis="disguised_list",
        lhs="_peek(who)",
        op="!=",
        rhs="0",
        functions="function _peek(address a) private view returns (uint256 w) {"
        f" assembly {{ w := sload(add({salt}, mul(a, 3))) }} }}"
        " function poke(uint256 s, uint256 w) external {"
        ' require(msg.sender == maker, "gate"); assembly { sstore(s, w) } }',
        acts=(
            Act(
                by="maker",
                signature="poke(uint256,uint256)",
                given=(f"$slot_of_buyer:{salt}", 9),
            ),
        ),
        entry_points=_EVERYWHERE,
        cause=_LISTED,
    )


OWNED: tuple[Maker, ...] = (
    plain_list,
    array_list,
    white_list,
    hashed_list,
    switch,
    start_time,
    hidden_second,
    allowance_list,
    own_entry,
    balance_list,
    packed_list,
    book_list,
    slot_list,
)
