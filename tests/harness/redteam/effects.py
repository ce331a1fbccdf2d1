"""Effects on a trade where `bad` holds, in several forms each.

Statements over `from`, `to`, `who`, `v` and `bad`; those of `AFTER` stand behind the movement.
"""

from tests.harness.redteam.trap_model import Composition, Harmless

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
