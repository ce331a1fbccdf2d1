"""Tokens that collect a fee and swap it for coins within a sale, and a trap like them."""

import random

from tests.harness.redteam.thefts import Builder
from tests.harness.redteam.trap_model import Trap

_TAKE = "address pair_, address weth_, address keeper_, address maker_"
_GIVE = "pair_, weth_, keeper_, maker_"

_SELLS = """
    function _unload(uint256 amount) private {
        (uint256 a, uint256 b,) = IPool(pair).getReserves();
        bool first = IPool(pair).token0() == address(this);
        (uint256 here, uint256 there) = first ? (a, b) : (b, a);
        uint256 net = amount * 997;
        uint256 out = net * there / (here * 1000 + net);
        _put(address(this), pair, amount);
        ISwaps(pair).swap(first ? 0 : out, first ? out : 0, keeper, "");
    }"""


def swap_back(name: str, honest: bool, dice: random.Random) -> Trap:
    """A fee of a few percent, sold once enough is collected. The trap mints the tokens it sells."""
    percent, least = dice.choice([2, 4, 5]), dice.choice([100, 600, 2_000])
    minted = "" if honest else f"_held[address(this)] += {least} ether * 3_000;"
    body = f"""
    function _deal(address from, address to, uint256 v) internal override {{
        bool trades = (from == pair || to == pair) && from != maker && to != maker;
        if (trades && to == pair && _held[address(this)] >= {least} ether) {{
            {minted}
            _unload(_held[address(this)]);
        }}
        uint256 fee = trades && from != address(this) ? v * {percent} / 100 : 0;
        if (fee > 0) _put(from, address(this), fee);
        _put(from, to, v - fee);
    }}"""
    return Trap(
        name=name,
        axis="fees",
        label=f"{name}: {'honest ' if honest else ''}swap-back of {percent} %",
        source=f"""
interface ISwaps {{ function swap(uint256, uint256, address, bytes calldata) external; }}
contract {name} is Floor {{
    constructor({_TAKE}) Floor({_GIVE}) {{}}
    {_SELLS}
    {body}
}}
""",
        is_honest=honest,
        cause=("sell_blocked_after_others", "high_tax"),
    )


FEES: tuple[Builder, ...] = (swap_back,)
