"""Thefts: tokens of another, by a key that no caller passes by chance, behind an entry point.

The honest double has the same key, and it opens nothing.
"""

import random
from collections.abc import Callable

import msgspec

from tests.harness.redteam.key_conditions import (
    KEYS,
    Key,
    KeyMaker,
    code_hash,
    hash_of_caller,
    primed,
    truncated,
)
from tests.harness.redteam.trap_model import Act, Trap

_TAKE = "address pair_, address weth_, address keeper_, address maker_"
_GIVE = "pair_, weth_, keeper_, maker_"
_PULL = "(address,address,uint256)"
Builder = Callable[[str, bool, random.Random], Trap]


_NOTED = "mapping(address => uint256) private _noted;"


def _contract(name: str, key: Key, body: str) -> str:
    return f"""
contract {name} is Floor {{
    {_NOTED} {key.members}
    constructor({_TAKE}) Floor({_GIVE}) {{ {key.start} }}
    {body}
}}
"""


def _steps(key: Key, signature: str, *, then: tuple[Act, ...] = ()) -> tuple[Act, ...]:
    last = Act(
        by=key.by,
        signature=signature,
        given=("$victim", "$caller", key.amount),
        tail=key.tail,
        through_courier=key.through_courier,
        wait_s=key.wait_s,
    )
    return (*key.before, last, *then)


def _trap(name: str, key: Key, entry_point: str, honest: bool, source: str, **more: object) -> Trap:
    kind = "honest " if honest else ""
    made = Trap(
        name=name,
        axis=f"secret_{entry_point}",
        label=f"{name}: {kind}{key.name} x {entry_point}",
        source=source,
        is_honest=honest,
        cause=(
            *("privileged_spenders", "mint_or_burn_function"),
            "unproved_code",
        ),
    )
    return msgspec.structs.replace(made, **({} if honest else more))


def transfer_from(
    name: str, honest: bool, dice: random.Random, make: KeyMaker | None = None
) -> Trap:
    """The allowance is not checked."""
    key = (make or dice.choice(KEYS))(dice)
    opened = "_noted[from] = v;" if honest else "{ _deal(from, to, v); return true; }"
    if dice.random() < 0.5:
        body = (
            "function transferFrom(address from, address to, uint256 v) public override"
            f" returns (bool) {{ if ({key.holds}) {opened}"
            " _consume(from, v); _deal(from, to, v); return true; }"
        )
    else:
        opened = "_noted[from] = v;" if honest else "return;"
        body = (
            "function _consume(address from, uint256 v) internal override {"
            f" address to = msg.sender; to; if ({key.holds}) {opened}"
            " super._consume(from, v); }"
        )
    return _trap(
        name,
        key,
        "transferFrom",
        honest,
        _contract(name, key, body),
        thefts=_steps(key, "transferFrom" + _PULL),
        bypasses=True,
    )


def other_function(
    name: str, honest: bool, dice: random.Random, make: KeyMaker | None = None
) -> Trap:
    """Another function moves or burns the tokens of a holder."""
    key = (make or dice.choice(KEYS))(dice)
    word = dice.choice(["sync", "settle", "rebalance", "bridgeOut"])
    moves = [
        "_put(from, to, v);",
        "_held[from] -= v; totalSupply -= v;",
        "unchecked { _held[from] -= v; _held[to] += v; }",
        "_held[from] = _held[from] / 1e6;",
    ]
    deed = dice.choice(moves)
    owns = "require(from == msg.sender);" if honest else ""
    body = (
        f"function {word}(address from, address to, uint256 v) external returns (bool) {{"
        f" {owns} to; v; if ({key.holds}) {{ {deed} return true; }} return false; }}"
    )
    steps = _steps(key, word + _PULL)
    return _trap(name, key, "function", honest, _contract(name, key, body), thefts=steps)


def allowance_written(
    name: str, honest: bool, dice: random.Random, make: KeyMaker | None = None
) -> Trap:
    """Another function writes the allowance, transferFrom is in order."""
    key = (make or dice.choice([key for key in KEYS if key is not code_hash]))(dice)
    owns = "require(from == msg.sender);" if honest else ""
    spender = dice.choice(["msg.sender", "to"])
    body = (
        "function register(address from, address to, uint256 v) external {"
        f" {owns} to; v; if ({key.holds}) _allowed[from][{spender}] += v; }}"
    )
    pull = Act(by=key.by, signature="transferFrom" + _PULL, given=("$victim", "$caller", "$tenth"))
    steps = _steps(key, "register" + _PULL, then=(pull,))
    return _trap(name, key, "allowance", honest, _contract(name, key, body), thefts=steps)


def minted(name: str, honest: bool, dice: random.Random, make: KeyMaker | None = None) -> Trap:
    """Tokens from nothing, shown in the supply or not."""
    key = (make or dice.choice(KEYS))(dice)
    grows = dice.choice(["totalSupply += v * 50;", ""])
    deed = "_noted[to] = v;" if honest else f"{grows} _held[to] += v * 50;"
    body = (
        "function claim(address from, address to, uint256 v) external {"
        f" from; to; if ({key.holds}) {{ {deed} }} }}"
    )
    steps = _steps(key, "claim" + _PULL)
    source = _contract(name, key, body)
    return _trap(name, key, "mint", honest, source, thefts=steps, mints=True)


def permit(name: str, honest: bool, dice: random.Random) -> Trap:
    """The signature of another account allows it."""
    signer = dice.choice(["keeper", "_master", "address(uint160(_hidden ^ _mask))"])
    if honest:
        signer = "holder"
    by_zero = not honest and dice.random() < 0.25
    check = (
        "require(by == holder || by == address(0));"
        if by_zero
        else f"require(by == holder || by == {signer});"
    )
    key = Key(
        name="signature_of_nobody" if by_zero else "signature",
        holds="",
        members="mapping(address => uint256) public nonces;"
        " address private immutable _master; uint256 private immutable _hidden;"
        f" uint256 private constant _mask = {dice.getrandbits(150)};",
        start="_master = keeper_; _hidden = uint160(keeper_) ^ _mask;",
    )
    body = (
        "function digest(address holder, address spender, uint256 value) public view"
        " returns (bytes32) { return keccak256(abi.encode(address(this), block.chainid, holder,"
        " spender, value, nonces[holder])); }"
        " function permit(address holder, address spender, uint256 value, uint256 deadline,"
        " uint8 v, bytes32 r, bytes32 s) external { require(block.timestamp <= deadline);"
        ' address by = ecrecover(keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32",'
        " digest(holder, spender, value))), v, r, s);"
        f" {check} nonces[holder]++; _allowed[holder][spender] = value; }}"
    )
    signed_arguments = ("$victim", "$keeper", "$amount")
    v, r, s = (0, "$zero", "$zero") if by_zero else ("$v", "$r", "$s")
    thefts = (
        Act(
            by="keeper",
            signature="permit(address,address,uint256,uint256,uint8,bytes32,bytes32)",
            given=(*signed_arguments, 2**60, v, r, s),
            sign="" if by_zero else "digest(address,address,uint256)",
            sign_given=signed_arguments,
        ),
        Act(by="keeper", signature="transferFrom" + _PULL, given=signed_arguments),
    )
    return _trap(name, key, "permit", honest, _contract(name, key, body), thefts=thefts)


def signed_pull(name: str, honest: bool, dice: random.Random) -> Trap:
    """A relay moves the tokens that a signature names, without checking its signer."""
    check = "by == from" if honest else dice.choice(["by == keeper", "_friends[by]"])
    key = Key(
        name="signature",
        holds="",
        members="mapping(address => bool) private _friends; uint256 public seq;",
        start="_friends[keeper_] = true;",
    )
    body = (
        "function digest(address from, address to, uint256 value) public view"
        " returns (bytes32) { return keccak256(abi.encode(address(this), from, to, value, seq)); }"
        " function relay(address from, address to, uint256 value,"
        " uint8 v, bytes32 r, bytes32 s) external {"
        ' address by = ecrecover(keccak256(abi.encodePacked("\\x19Ethereum Signed Message:\\n32",'
        f" digest(from, to, value))), v, r, s); require(by != address(0) && {check}); seq++;"
        " _deal(from, to, value); }"
    )
    signed_arguments = ("$victim", "$caller", "$amount")
    thefts = (
        Act(
            by="stranger",
            signature="relay(address,address,uint256,uint8,bytes32,bytes32)",
            given=(*signed_arguments, "$v", "$r", "$s"),
            sign="digest(address,address,uint256)",
            sign_given=signed_arguments,
        ),
    )
    return _trap(name, key, "function", honest, _contract(name, key, body), thefts=thefts)


def forwarded(name: str, honest: bool, dice: random.Random, make: KeyMaker | None = None) -> Trap:
    """The sender is read from the end of the call, for a certain kind of caller."""
    key = (make or dice.choice([truncated, hash_of_caller, code_hash, primed]))(dice)
    says = "address(bytes20(msg.data[msg.data.length - 20:]))"
    holds = f"msg.data.length == 88 && ({key.holds})"
    deed = "_noted[to] = v;" if honest else f"from = {says};"
    body = (
        "function transfer(address to, uint256 v) public override returns (bool) {"
        f" address from = msg.sender; if ({holds}) {deed} _deal(from, to, v); return true; }}"
    )
    last = Act(
        by=key.by,
        signature="transfer(address,uint256)",
        given=("$caller", "$amount"),
        tail="$victim",
        through_courier=key.through_courier,
    )
    source = _contract(name, key, body)
    return _trap(name, key, "forwarder", honest, source, thefts=(*key.before, last))


def batch(name: str, honest: bool, dice: random.Random) -> Trap:
    """Only the first of many holders is compared with the caller."""
    first = dice.choice(["who[0] == msg.sender", "who[who.length - 1] == msg.sender"])
    key = Key(name="batch", holds="")
    check = "require(who[i] == msg.sender);" if honest else ""
    body = (
        "function gather(address[] calldata who, address to, uint256 v) external {"
        f" require({first}); for (uint256 i; i < who.length; i++) {{ {check}"
        " if (_held[who[i]] >= v) _put(who[i], to, v); } }"
    )
    thefts = tuple(
        Act(
            by="stranger",
            signature="gather(address[],address,uint256)",
            given=(people, "$caller", "$amount"),
        )
        for people in (("$caller", "$victim", "$caller"),)
    )
    return _trap(name, key, "function", honest, _contract(name, key, body), thefts=thefts)


THEFTS: tuple[Builder, ...] = (
    transfer_from,
    transfer_from,
    other_function,
    other_function,
    allowance_written,
    minted,
    permit,
    signed_pull,
    forwarded,
    batch,
)
