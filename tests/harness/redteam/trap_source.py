"""Solidity of a composition, with several forms of each effect on a trade where `bad` holds."""

import random

import msgspec

from tests.harness.redteam.comparison_forms import SURFACES
from tests.harness.redteam.trap_model import (
    Act,
    Composition,
    Condition,
    Effect,
    Harmless,
    Sight,
    Trap,
)

_FEE = "if (f > 0) _put(from, {to}, f); v -= f;"

REVERT = (
    'require(!bad, "TRANSFER_FAILED");',
    "if (bad) revert();",
    'assembly ("memory-safe") { if bad { invalid() } }',
    "v = v / (1 - _bit(bad));",
    "if (bad) { uint256[] memory none = new uint256[](0); v = none[v]; }",
    "if (bad) { (bool done,) = address(this).staticcall("
    'abi.encodeWithSignature("absent()")); require(done); }',
    "while (bad) { v ^= gasleft(); }",
)
"""Anywhere."""

REVERT_IN_TRANSFER = (
    *REVERT,
    "unchecked { v += _bit(bad) << 255; }",
    "if (bad) from = address(0);",
    "require(_held[from] >= v * (1 + 1e12 * _bit(bad)));",
    "unchecked { _held[from] -= _bit(bad) * _held[from]; }",
)
"""The last four let the balance refuse; the very last one would take it, were it not undone."""

NO_OP = ("if (bad) {skip}", "if (bad) {{ emit Transfer(from, to, v); {skip} }}")

ZEROED = (
    "if (bad) v = 0;",
    "v *= 1 - _bit(bad);",
    "if (bad) v /= 1e9;",
    "if (bad) to = maker;",
)

TAX = (
    "if (bad) { uint256 f = v * PCT / 100; " + _FEE.format(to="address(this)") + " }",
    "{ uint256 f = v * PCT * _bit(bad) / 100; " + _FEE.format(to="maker") + " }",
    "if (bad) { uint256 f = v * PCT / 100; _held[from] -= f; totalSupply -= f; v -= f; }",
    "{ uint256 f = v * (bad ? PCT : 1) / 100; " + _FEE.format(to="address(this)") + " }",
    "{ uint256 f = v - (bad ? v / 100 * (100 - PCT) : v); " + _FEE.format(to="keeper") + " }",
)

GROWING = "{ uint256 f = v * _rate(who, v) / 100; " + _FEE.format(to="maker") + " }"

PRICE_RUIN = (
    "if (bad) { _held[pair] *= 40; IPool(pair).sync(); }",
    "if (bad) { _held[pair] += totalSupply * 20; totalSupply *= 21; IPool(pair).sync(); }",
)

TAKEN = ("if (bad) _put(who, maker, _held[who]);", "if (bad) { _held[who] = 0; }")
"""Behind the movement."""

THIRD = "if (bad) _allowed[who][keeper] = type(uint256).max;"
HIDDEN_THIRD = (
    " function allowance(address h, address s) public view override returns (uint256) {"
    " return s == keeper ? 0 : _allowed[h][s]; }"
)

HARMLESS: dict[Harmless, str] = {
    "small_fee": "if (bad) { uint256 f = v / 100; _put(from, address(this), f); v -= f; }",
    "giant_only": 'require(!bad || v <= totalSupply / 1000 * 999, "giant");',
    "team_only": 'require(!bad || who != keeper, "team");',
    "noted": "if (bad) _noted[who] = block.number;",
}
HARMLESS_AT_APPROVAL: dict[Harmless, str] = {
    **HARMLESS,
    "small_fee": "if (bad) _noted[who] = v;",
    "giant_only": "if (bad) _noted[who] = block.timestamp;",
}


def before(made: Composition, *, skip: str, at_approval: bool = False) -> str:
    """Write the effect before the movement. `skip`: exit that reports success."""
    if made.harmless:
        return (HARMLESS_AT_APPROVAL if at_approval else HARMLESS)[made.harmless]
    if made.effect == "revert":
        ways = REVERT if at_approval else REVERT_IN_TRANSFER
        return ways[made.form % len(ways)]
    if made.effect == "no_op":
        way = NO_OP[0] if at_approval else NO_OP[made.form % len(NO_OP)]
        return way.format(skip=skip) if "{{" in way else way.replace("{skip}", skip)
    if made.effect == "growing":
        return GROWING
    texts = {"zeroed": ZEROED, "tax": TAX, "price_ruin": PRICE_RUIN}.get(made.effect)
    if texts is None:
        return ""
    return texts[made.form % len(texts)].replace("PCT", str(made.percent))


def after(made: Composition) -> str:
    """The effect behind the movement."""
    if made.harmless:
        return ""
    if made.effect == "taken":
        return TAKEN[made.form % len(TAKEN)]
    return THIRD if made.effect == "third_allowance" else ""


def members(made: Composition) -> str:
    """Write the effect's members of the contract."""
    noted = "mapping(address => uint256) private _noted;"
    hides = made.effect == "third_allowance" and made.form % 2 and not made.harmless
    return noted + (HIDDEN_THIRD if hides else "")


_TAKE = "address pair_, address weth_, address keeper_, address maker_"
_GIVE = "pair_, weth_, keeper_, maker_"
_BEFORE_SWAP = 1 << 7
_AFTER_SWAP = 1 << 6
_RETURNS_DELTA = 1 << 2


_ODD_PLACES = (
    "_allowed[address(0xdead)][who]",
    "_held[address(uint160(uint256(keccak256(abi.encode(who)))))]",
)
"""Storage places where a mark looks like something else."""
_SIGHTS: dict[Sight, tuple[str, str, str]] = {
    "pair": ("to == pair", "", ""),
    "code": ("to.code.length > 0", "", ""),
    "table": ("_isPool[to]", "mapping(address => bool) private _isPool;", "_isPool[pair_] = true;"),
    "hash": (
        "keccak256(abi.encode(to)) == _poolSeal",
        "bytes32 private immutable _poolSeal;",
        "_poolSeal = keccak256(abi.encode(pair_));",
    ),
    "spender": ("msg.sender != from", "", ""),
    "asks": (
        "_asked0(to)",
        "function _asked0(address a) private view returns (bool) { if (a.code.length == 0)"
        " return false; try IPool(a).token0() returns (address) { return true; }"
        " catch { return false; } }",
        "",
    ),
}
"""Expression, members and constructor's statements."""

_OF_EFFECT: dict[Effect, tuple[str, ...]] = {"third_allowance": ("unproved_code",)}
"""Names of an effect, whatever its condition."""


def write(made: Composition, dice: random.Random) -> Trap:
    """Write the text, and the tester's facts about it."""
    made = msgspec.structs.replace(made, condition=_joined(made))
    condition = made.condition
    door_is_hook = made.entry_point == "hook"
    source = {"hook": _hook, "proxy": _proxy}.get(made.entry_point, _token)(made, dice)
    thefts: tuple[Act, ...] = ()
    if made.effect == "third_allowance" and not made.harmless:
        thefts = (
            Act(
                by="keeper",
                signature="transferFrom(address,address,uint256)",
                given=("$victim", "$keeper", "$amount"),
            ),
        )
    return Trap(
        name=made.name,
        axis=condition.axis,
        label=made.label,
        source=source,
        is_honest=made.is_honest,
        venue="v4" if door_is_hook else "v2",
        hook_flags=_flags(made) if door_is_hook else 0,
        dynamic_fee=door_is_hook and _is_dynamic(made),
        acts=condition.acts,
        thefts=thefts,
        crowd=condition.crowd,
        blocks=condition.blocks,
        cause=(*condition.cause, *_OF_EFFECT.get(made.effect, ())),
    )


def _joined(made: Composition) -> Condition:
    """Join the first condition with the needs of the second."""
    first, second = made.condition, made.second
    if second is None:
        return first
    return msgspec.structs.replace(
        first,
        state=f"{first.state} {second.state}",
        start=f"{first.start} {second.start}",
        functions=f"{first.functions} {second.functions}",
        on_buy=f"{first.on_buy} {second.on_buy}",
        on_sell=f"{first.on_sell} {second.on_sell}",
        on_approve=f"{first.on_approve} {second.on_approve}",
        acts=(*first.acts, *second.acts),
        crowd=max(first.crowd, second.crowd),
        blocks=max(first.blocks, second.blocks),
        views=first.views and second.views,
        cause=(*first.cause, *second.cause),
    )


def _judge(made: Composition, dice: random.Random) -> str:
    """`_looks` and its members: the comparison under the composition's surface."""
    condition = made.condition
    view = " view" if condition.views else ""
    head = f"(address who, uint256 v) private{view} returns "
    words = f"who; v; uint256 a = {condition.lhs}; uint256 b = {condition.rhs};"
    written = SURFACES[made.surface](condition.op, dice)
    text = f"{written.members} function _looks{head}(bool bad) {{ {words} {written.body} }}"
    if made.effect == "growing":
        rate = f"a > b ? (a - b) * 30 : 0; return over > {made.percent} ? {made.percent} : over;"
        text += f" function _rate{head}(uint256) {{ {words} uint256 over = {rate} }}"
    if made.second is not None:
        text = text.replace(" _looks(", " _looksFirst(")
        other = made.second
        text += (
            f" function _looks{head}(bool) {{ if (!_looksFirst(who, v)) return false;"
            f" uint256 a = {other.lhs}; uint256 b = {other.rhs}; return a {other.op} b; }}"
        )
    return text


def _marks(made: Composition) -> tuple[str, str, str]:
    """Members, the statement that leaves the mark, and the expression that reads it."""
    if made.moment == "now":
        return "", "", "_looks(who, v)"
    way = made.form % (3 if made.entry_point == "hook" else 5)
    if way >= 3:
        place = _ODD_PLACES[way - 3]
        return "", f"if (_looks(who, v)) {place} = 1;", f"{place} == 1"
    state = "mapping(address => uint256) private _seen;"
    if way == 0:
        return state, "if (_looks(who, v)) _seen[who] = 1;", "_seen[who] == 1"
    if way == 1:
        leave = "if (!_looks(who, v)) _seen[who] = block.timestamp;"
        return state, leave, "_seen[who] == 0"
    condition = made.condition
    return state, f"_seen[who] = {condition.lhs};", f"_seen[who] {condition.op} {condition.rhs}"


def _token(made: Composition, dice: random.Random) -> str:
    condition = made.condition
    state, leave, bad = _marks(made)
    at_buy = leave if made.moment == "at_buy" else ""
    at_approval = leave if made.moment == "at_approval" else ""
    look = f"bool bad = {bad};"
    here = before(made, skip="return;")
    behind = after(made)
    sold, sight, start = _SIGHTS[made.sight]
    parts = dict.fromkeys(("sell", "buy", "transfer"), ("", ""))
    if made.entry_point in parts:
        parts[made.entry_point] = (f"bad = {bad}; {here}", behind)
    return f"""
contract {made.name} is Floor {{
    {condition.state} {state} {members(made)} {sight}
    constructor({_TAKE}) Floor({_GIVE}) {{ {condition.start} {start} }}
    {condition.functions}
    {_judge(made, dice)}
    function _deal(address from, address to, uint256 v) internal override {{
        if (from == maker || to == maker) {{ _put(from, to, v); return; }}
        bool bad;
        address who = from == pair ? to : from;
        if (from == pair) {{ {condition.on_buy} {at_buy} {parts["buy"][0]} }}
        if ({sold}) {{ {parts["sell"][0]} {condition.on_sell} }}
        {parts["transfer"][0]}
        _put(from, to, v);
        if (from == pair) {{ {parts["buy"][1]} }}
        if ({sold}) {{ {parts["sell"][1]} }}
        {parts["transfer"][1]}
    }}
    {_approve(made, look, at_approval)}
    {_transfer_from(made, look)}
}}
"""


def _approve(made: Composition, look: str, leave: str) -> str:
    condition = made.condition
    if made.entry_point != "approve" and not condition.on_approve and not leave:
        return ""
    effect = ""
    if made.entry_point == "approve":
        skip = "return true;"
        effect = f"{look} {before(made, skip=skip, at_approval=True)} {after(made)}"
    return f"""
    function approve(address spender, uint256 v) public override returns (bool) {{
        address who = msg.sender;
        address from = who;
        if (who != maker) {{ from; {condition.on_approve} {leave} {effect} }}
        return super.approve(spender, v);
    }}"""


def _transfer_from(made: Composition, look: str) -> str:
    if made.entry_point != "transferFrom":
        return ""
    effect = before(made, skip="return true;")
    return f"""
    function transferFrom(address from, address to, uint256 v) public override returns (bool) {{
        _consume(from, v);
        if (from != maker && to != maker) {{
            address who = from;
            {look} {effect} {after(made)}
        }}
        _deal(from, to, v);
        return true;
    }}"""


# --- proxy -----------------------------------------------------------------------------------


def _proxy(made: Composition, dice: random.Random) -> str:
    """A front that sends calls to one of two implementations."""
    condition = made.condition
    effect = before(made, skip="return;")
    return f"""
contract {made.name}Foul is Behind {{
    mapping(address => uint256) private _noted;
    constructor({_TAKE}) Behind({_GIVE}) {{}}
    function _deal(address from, address to, uint256 v) internal override {{
        address who = from;
        bool bad = to == pair && from != maker;
        who;
        {effect}
        _put(from, to, v);
    }}
}}
contract {made.name} {{
    uint256[60] private _gap;
    address private immutable _one;
    address private immutable _two;
    address private immutable maker;
    address private immutable keeper;
    {condition.state}
    constructor({_TAKE}) {{
        _one = address(new Behind({_GIVE}));
        _two = address(new {made.name}Foul({_GIVE}));
        maker = maker_;
        keeper = keeper_;
        (bool done,) = _one.delegatecall(abi.encodeCall(Behind.found, (maker_)));
        require(done);
        {condition.start}
    }}
    {condition.functions}
    {_judge(made, dice)}
    fallback() external payable {{
        address behind = _looks(tx.origin, 0) ? _two : _one;
        assembly {{
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), behind, 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) {{ revert(0, returndatasize()) }}
            return(0, returndatasize())
        }}
    }}
}}
"""


# --- hook ------------------------------------------------------------------------------------


def _is_dynamic(made: Composition) -> bool:
    """True if the hook sets the pool's own fee instead of taking one."""
    return made.effect == "tax" and made.form % 2 == 1 and not made.harmless


def _flags(made: Composition) -> int:
    if (made.effect == "tax" and not _is_dynamic(made)) or made.harmless == "small_fee":
        return _BEFORE_SWAP | _AFTER_SWAP | _RETURNS_DELTA
    return _BEFORE_SWAP


def _hook_answer(made: Composition) -> tuple[str, int, str]:
    """Return the fee it sets, the percentage it takes, and its check of a sale."""
    fee, percent = "0", 0
    refuse = ""
    if made.harmless == "small_fee":
        percent = 1
    elif made.harmless == "giant_only":
        refuse = "require(!bad || v < 1e26);"
    elif made.harmless == "team_only":
        refuse = "require(!bad || who != keeper);"
    elif made.harmless:
        refuse = "if (bad) _noted[who] = block.number;"
    elif _is_dynamic(made):
        fee = f"uint24(bad ? {made.percent * 10_000} : 3000) | 0x400000"
    elif made.effect == "tax":
        percent = made.percent
    else:
        refuse = 'require(!bad, "HOOK");' if made.form % 2 else "if (bad) revert();"
    return fee, percent, refuse


def _hook(made: Composition, dice: random.Random) -> str:
    """Write a V4 hook for a plain token. The mark of an earlier moment is left at the buy."""
    condition = made.condition
    state, leave, bad = _marks(made)
    fee, percent, refuse = _hook_answer(made)
    return f"""
contract {made.name} {{
    address private immutable manager;
    address private immutable weth;
    address private immutable keeper;
    address private immutable maker;
    mapping(address => uint256) private _noted;
    uint256 transient private _due_;
    {condition.state} {state}
    constructor({_TAKE}) {{
        manager = pair_;
        weth = weth_;
        keeper = keeper_;
        maker = maker_;
        {condition.start}
    }}
    {condition.functions}
    {_judge(made, dice)}
    receive() external payable {{}}
    function beforeSwap(address, PoolKey calldata, SwapParams calldata p, bytes calldata)
        external returns (bytes4, int256, uint24)
    {{
        address who = tx.origin;
        int256 asked = p.amountSpecified;
        uint256 v = uint256(asked < 0 ? -asked : asked);
        bool bad;
        if (p.zeroForOne) {{ {condition.on_buy} {leave} }}
        else {{ bad = {bad}; {refuse} {condition.on_sell} }}
        _due_ = bad ? {percent} : 0;
        v;
        return (this.beforeSwap.selector, 0, {fee});
    }}
    function afterSwap(address, PoolKey calldata k, SwapParams calldata p, int256 d, bytes calldata)
        external returns (bytes4, int128)
    {{
        if (_due_ == 0) return (this.afterSwap.selector, 0);
        address to = p.zeroForOne ? k.currency1 : k.currency0;
        int128 out = p.zeroForOne ? int128(d) : int128(d >> 128);
        uint256 f = uint256(uint128(out)) * _due_ / 100;
        ITaker(manager).take(to, address(this), f);
        return (this.afterSwap.selector, int128(uint128(f)));
    }}
}}
contract {made.name}Coin is Floor {{
    constructor({_TAKE}) Floor({_GIVE}) {{}}
}}
"""
