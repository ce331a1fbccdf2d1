"""Launches: honest tokens of many kinds, their owners' powers over buyers, and composed traps."""

import random
from typing import Final, Literal

import msgspec

from tests.harness.redteam.generator import compose
from tests.harness.redteam.trap_model import Act, Liquidity, Trap

_COMPOSED_SHARE: Final = 0.5
"""Share of composed launches. Three quarters of those are traps."""
_IDLE_SHARE: Final = 0.3
"""Share of unused powers, among tokens whose owner has one."""

OUTSIDE_CODE: Final = frozenset({"pool_emptied"})
"""Axes of launches without a cause in the code: plain tokens whose liquidity goes."""

_BURNT_SHARE: Final = 0.5
"""Share of launches with burnt liquidity, among those without a withdrawal.

The maker keeps the rest's. On V4 a contract keeps all.
"""

_TAKE: Final = "address pair_, address weth_, address keeper_, address maker_"
_GIVE: Final = "pair_, weth_, keeper_, maker_"
_DEAL: Final = "function _deal(address from, address to, uint256 v) internal override"
_GATE: Final = 'require(msg.sender == maker, "maker");'


class Kind(msgspec.Struct, frozen=True, kw_only=True):
    """One kind of plain launch."""

    key: str
    axis: str = "plain"
    body: str = ""
    acts: tuple[Act, ...] = ()
    """Transactions of the maker after ordinary buys. Empty: the kind hurts nobody."""
    hurts: bool = False
    """Without an act."""
    venue: str = "v2"
    liquidity: Liquidity | None = None
    """None: any."""


def _act(
    signature: str,
    *given: object,
    to: str = "$home",
    by: Literal["maker", "keeper"] = "maker",
) -> Act:
    return Act(by=by, signature=signature, given=given, to=to)


_HONEST: Final = (
    Kind(key="plain"),
    Kind(key="plain_v4", venue="v4"),
    Kind(
        key="fee",
        body=_DEAL + " { uint256 f = from == pair || to == pair ? v / 50 : 0;"
        " if (f > 0 && from != maker) { _put(from, maker, f); v -= f; } _put(from, to, v); }",
    ),
    Kind(
        key="burning",
        body=_DEAL
        + " { uint256 f = from == maker ? 0 : v / 100; _held[from] -= f; totalSupply -= f;"
        " if (f > 0) emit Transfer(from, address(0), f); _put(from, to, v - f); }",
    ),
    Kind(
        key="wallet_limit",
        body=_DEAL + " { _put(from, to, v);"
        ' require(to == pair || to == maker || _held[to] <= totalSupply / 20, "limit"); }',
    ),
    Kind(
        key="burnable",
        body="function burn(uint256 v) external { _held[msg.sender] -= v; totalSupply -= v;"
        " emit Transfer(msg.sender, address(0), v); }",
    ),
    Kind(
        key="counting",
        body="uint256 public moves; mapping(address => uint256) public lastMove; "
        + _DEAL
        + " { moves++; lastMove[to] = block.timestamp; _put(from, to, v); }",
    ),
    Kind(
        key="capped_tax",
        body=f"uint256 public tax; function setTax(uint256 t) external {{ {_GATE}"
        ' require(t <= 5, "cap"); tax = t; } '
        + _DEAL
        + " { uint256 f = to == pair ? v * tax / 100 : 0;"
        " if (f > 0) { _put(from, maker, f); v -= f; } _put(from, to, v); }",
        acts=(_act("setTax(uint256)", 4),),
    ),
)

_OWNED: Final = (
    Kind(
        key="blocked_at_once",
        axis="sell_blocked",
        body=_DEAL
        + ' { require(to != pair || from == maker, "TRANSFER_FAILED"); _put(from, to, v); }',
        hurts=True,
    ),
    Kind(
        key="blocked_after_blocks",
        axis="sell_blocked_later",
        body="uint256 private immutable _born = block.number; "
        + _DEAL
        + " { require(to != pair || from == maker || block.number < _born + 150);"
        " _put(from, to, v); }",
        hurts=True,
    ),
    Kind(
        key="paused",
        axis="owner_switch",
        body=f"bool public paused; function pause() external {{ {_GATE} paused = true; }} "
        + _DEAL
        + ' { require(!paused || from == maker || from == pair, "paused"); _put(from, to, v); }',
        acts=(_act("pause()"),),
    ),
    Kind(
        key="tax_raised",
        axis="owner_tax",
        body=f"uint256 public tax; function setTax(uint256 t) external {{ {_GATE} tax = t; }} "
        + _DEAL
        + " { uint256 f = to == pair && from != maker ? v * tax / 100 : 0;"
        " if (f > 0) { _put(from, maker, f); v -= f; } _put(from, to, v); }",
        acts=(_act("setTax(uint256)", 97),),
    ),
    Kind(
        key="blacklisted",
        axis="owner_list",
        body="mapping(address => bool) public isBot; function addBot(address a) external {"
        f" {_GATE}"
        " isBot[a] = true; } " + _DEAL + ' { require(!isBot[from], "bot"); _put(from, to, v); }',
        acts=(_act("addBot(address)", "$buyer"),),
    ),
    Kind(
        key="largest_sale",
        axis="owner_limit",
        body="uint256 public most = type(uint256).max; function setMost(uint256 v) external {"
        f" {_GATE} most = v; }} "
        + _DEAL
        + ' { require(to != pair || from == maker || v <= most, "most"); _put(from, to, v); }',
        acts=(_act("setMost(uint256)", 10**9),),
    ),
    Kind(
        key="minted_and_dumped",
        axis="owner_mint",
        body=f"function reward(address to, uint256 v) external {{ {_GATE} _held[to] += v; }}",
        acts=(
            _act("reward(address,uint256)", "$maker", 10**27),
            _act("approve(address,uint256)", "$router", "$unlimited"),
            _act(
                "swapExactTokensForETHSupportingFeeOnTransferTokens"
                "(uint256,uint256,address[],address,uint256)",
                *(10**26, 0, ("$token", "$weth"), "$maker", 2**40),
                to="$router",
            ),
        ),
    ),
    Kind(
        key="pool_emptied",
        axis="pool_emptied",
        acts=(
            _act("transfer(address,uint256)", "$pool", "$liquidity", to="$pool"),
            _act("burn(address)", "$maker", to="$pool"),
        ),
        liquidity="kept",
    ),
    Kind(
        key="pool_emptied_by_another",
        axis="pool_emptied",
        acts=(
            _act("transfer(address,uint256)", "$pool", "$liquidity", to="$pool", by="keeper"),
            _act("burn(address)", "$maker", to="$pool", by="keeper"),
        ),
        liquidity="keepers",
    ),
)

_PROXY: Final = """
contract {name}Next is Behind {{
    constructor({take}) Behind({give}) {{}}
    {deal} {{ require(to != pair || from == maker, "closed"); _put(from, to, v); }}
}}
contract {name} {{
    bytes32 private constant _SLOT =
        bytes32(uint256(keccak256("eip1967.proxy.implementation")) - 1);
    address private immutable _admin;
    address private immutable _next;
    constructor({take}) {{
        _admin = maker_;
        _next = address(new {name}Next({give}));
        address first = address(new Behind({give}));
        _write(first);
        (bool done,) = first.delegatecall(abi.encodeWithSignature("found(address)", maker_));
        require(done);
    }}
    function upgrade() external {{ require(msg.sender == _admin); _write(_next); }}
    function _write(address to) private {{
        bytes32 slot = _SLOT;
        assembly ("memory-safe") {{ sstore(slot, to) }}
    }}
    fallback() external payable {{
        bytes32 slot = _SLOT;
        assembly {{
            calldatacopy(0, 0, calldatasize())
            let done := delegatecall(gas(), sload(slot), 0, calldatasize(), 0, 0)
            returndatacopy(0, 0, returndatasize())
            if iszero(done) {{ revert(0, returndatasize()) }}
            return(0, returndatasize())
        }}
    }}
}}
"""
_SWITCHED: Final = Kind(key="proxy_switched", axis="owner_proxy", acts=(_act("upgrade()"),))

KINDS: Final = (*_HONEST, *_OWNED, _SWITCHED)


def compose_launches(seed: int, count: int) -> list[Trap]:
    """Compose launches, the same for the same seed.

    Plain and composed ones alternate by chance; every plain kind comes in turn.
    """
    dice = random.Random(seed)  # noqa: S311 - a seed makes a run repeatable
    composed = iter(compose(seed, count))
    waiting: list[Kind] = []
    launches: list[Trap] = []
    while len(launches) < count:
        is_burnt = dice.random() < _BURNT_SHARE
        if dice.random() < _COMPOSED_SHARE:
            launches.append(_with_liquidity(next(composed), is_burnt=is_burnt))
            continue
        if not waiting:
            waiting = [*_HONEST, *_HONEST, *_OWNED, _SWITCHED]
            dice.shuffle(waiting)
        is_idle = dice.random() < _IDLE_SHARE
        launch = launch_of(f"L{seed}x{len(launches)}", waiting.pop(), is_idle=is_idle)
        launches.append(_with_liquidity(launch, is_burnt=is_burnt))
    return launches


def _with_liquidity(launch: Trap, *, is_burnt: bool) -> Trap:
    if not is_burnt or launch.axis == "pool_emptied":
        return launch
    return msgspec.structs.replace(
        launch, liquidity="burnt", label=f"{launch.label}, liquidity burnt"
    )


def launch_of(name: str, kind: Kind, *, is_idle: bool = False) -> Trap:
    """A plain launch. `is_idle`: the owner does nothing."""
    acts = () if is_idle else kind.acts
    is_honest = not kind.hurts and (kind.axis == "plain" or not acts)
    if kind is _SWITCHED:
        source = _PROXY.format(name=name, take=_TAKE, give=_GIVE, deal=_DEAL)
    else:
        source = (
            f"contract {name} is Floor {{ constructor({_TAKE}) Floor({_GIVE}) {{}} {kind.body} }}"
        )
    return Trap(
        name=name,
        axis=kind.axis,
        label=f"{name}: {kind.key}{' never used' if kind.acts and not acts else ''}",
        source=source,
        is_honest=is_honest,
        venue="v4" if kind.venue == "v4" else "v2",
        liquidity=kind.liquidity or "kept",
        acts=acts,
    )
