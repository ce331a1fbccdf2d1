"""Tokens with false balances, and pools that hide another one."""

import random

import msgspec

from tests.harness.redteam.thefts import Builder
from tests.harness.redteam.trap_model import Trap

_TAKE = "address pair_, address weth_, address keeper_, address maker_"
_GIVE = "pair_, weth_, keeper_, maker_"
_CAUSE = ("high_tax", "elevated_tax", "sell_failed", "untested_conditions")


def _trap(name: str, axis: str, key: str, honest: bool, body: str) -> Trap:
    return Trap(
        name=name,
        axis=axis,
        label=f"{name}: {'honest ' if honest else ''}{key}",
        source=f"""
contract {name} is Floor {{
    constructor({_TAKE}) Floor({_GIVE}) {{}}
    {body}
}}
""",
        is_honest=honest,
        cause=_CAUSE,
    )


def shadow_ledger(name: str, honest: bool, dice: random.Random) -> Trap:
    """Wallets see a second ledger, which does not contain the fee on buys."""
    percent = 1 if honest else dice.choice([70, 85, 95])
    shown = "v - v / 100" if honest else "v"
    body = f"""
    mapping(address => uint256) private _shown;
    function balanceOf(address a) public view override returns (uint256) {{
        return _shown[a] > _held[a] && msg.sender != pair ? _shown[a] : _held[a];
    }}
    function _deal(address from, address to, uint256 v) internal override {{
        if (from == pair && to != maker) {{
            uint256 f = v * {percent} / 100;
            _put(from, maker, f);
            _shown[to] += {shown};
            v -= f;
        }} else if (_shown[from] > 0) {{
            _shown[from] -= v > _shown[from] ? _shown[from] : v;
            if (v > _held[from]) v = _held[from];
        }}
        _put(from, to, v);
    }}"""
    return _trap(name, "balance_shown", "shadow_ledger", honest, body)


def melting_bonus(name: str, honest: bool, dice: random.Random) -> Trap:
    """For a time after a buy more is shown than is there."""
    factor = 1 if honest else dice.choice([4, 9])
    seconds = dice.choice([3_600, 40 * 86_400])
    body = f"""
    mapping(address => uint256) private _till;
    function balanceOf(address a) public view override returns (uint256) {{
        return block.timestamp < _till[a] ? _held[a] * {factor} : _held[a];
    }}
    function _deal(address from, address to, uint256 v) internal override {{
        if (from == pair && to != maker) {{
            _till[to] = block.timestamp + {seconds};
            uint256 f = v - v / {factor};
            if (f > 0) _put(from, maker, f);
            v -= f;
        }}
        if (v > _held[from]) v = _held[from];
        _put(from, to, v);
    }}"""
    return _trap(name, "balance_shown", "melting_bonus", honest, body)


def pool_sees_less(name: str, honest: bool, dice: random.Random) -> Trap:
    """During a sale, the pool is shown less than it was given."""
    part = dice.choice([5, 20])
    hides = "0" if honest else f"v - v / {part}"
    body = f"""
    uint256 private _veil;
    function balanceOf(address a) public view override returns (uint256) {{
        return a == pair ? _held[a] - _veil : _held[a];
    }}
    function _deal(address from, address to, uint256 v) internal override {{
        _put(from, to, v);
        if (to == pair && from != maker) _veil += {hides};
    }}"""
    return _trap(name, "balance_shown", "pool_sees_less", honest, body)


def decoy_v3(name: str, honest: bool, dice: random.Random) -> Trap:
    """The deep pair takes no sales, a small V3 pool does."""
    return _decoyed(name, honest, dice, "v3")


def decoy_v4(name: str, honest: bool, dice: random.Random) -> Trap:
    """The deep pair takes no sales, a small V4 pool does."""
    return _decoyed(name, honest, dice, "v4")


def decoy_solid(name: str, honest: bool, dice: random.Random) -> Trap:
    """The deep pair takes no sales, a small Solidly pool does."""
    return _decoyed(name, honest, dice, "solid")


def _decoyed(name: str, honest: bool, dice: random.Random, venue: str) -> Trap:
    refusals = (
        'require(to != pair || from == maker, "closed");',
        "if (to == pair && from != maker) v = 0;",
        "if (to == pair && from != maker) { _put(from, maker, v / 20 * 19); v /= 20; }",
    )
    deed = "" if honest else dice.choice(refusals)
    body = (
        "function _deal(address from, address to, uint256 v) internal override {"
        f" {deed} _put(from, to, v); }}"
    )
    made = _trap(name, "decoy_pool", f"decoy_{venue}", honest, body)
    return msgspec.structs.replace(
        made, decoy=venue, cause=("dominant_pool_unsellable", "sell_failed", "high_tax")
    )


LIES: tuple[Builder, ...] = (
    shadow_ledger,
    melting_bonus,
    pool_sees_less,
    decoy_v3,
    decoy_v4,
    decoy_solid,
)
