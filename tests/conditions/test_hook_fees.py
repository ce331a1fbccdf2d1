"""The oracle for fees that hooks set: a keeper really raises the fee of a pool, or cannot."""

from collections.abc import Iterator

import pytest

from analysis.pipeline.chain_context import ChainContext
from assay.demo.concentrated import pool_key
from tests.harness.chain.contexts import judge
from tests.harness.chain.transactions import Chain
from tests.harness.redteam.placed_traps import Placed, compile_traps, keeper_of, place_traps
from tests.harness.redteam.trap_model import Trap

AFTER_INITIALIZE, BEFORE_SWAP = 1 << 12, 1 << 7

_SOURCE = """
struct Key { address c0; address c1; uint24 fee; int24 spacing; address hooks; }
interface IFees { function updateDynamicLPFee(Key memory, uint24) external; }
contract {name}Coin is Floor {
    constructor(address p, address w, address k, address m) Floor(p, w, k, m) {}
}
contract {name} {
    IFees private immutable _pools;
    address private immutable _keeper;
    uint24 private _fee = 3000;

    constructor(address pools, address, address keeper_, address) {
        _pools = IFees(pools);
        _keeper = keeper_;
    }

    function afterInitialize(address, Key calldata k, uint160, int24) external returns (bytes4) {
        if (k.fee == 0x800000) _pools.updateDynamicLPFee(k, 3000);
        return this.afterInitialize.selector;
    }
    {functions}
}
"""
_TUNED = """
    function tune(Key calldata k, uint24 fee) external {
        require(msg.sender == _keeper, "keeper");
        {bound}
        _pools.updateDynamicLPFee(k, fee);
    }
"""
_OVERRIDDEN = """
    struct Swap { bool zeroForOne; int256 amount; uint160 limit; }

    function tune(Key calldata, uint24 fee) external {
        require(msg.sender == _keeper, "keeper");
        _fee = fee;
    }

    function beforeSwap(address, Key calldata, Swap calldata, bytes calldata)
        external view returns (bytes4, int256, uint24)
    {
        return (this.beforeSwap.selector, 0, _fee | 0x400000);
    }
"""
_BOUND = 'require(fee <= 30000, "too high");'


def trap(name: str, functions: str, *, is_dynamic: bool = True, flags: int = 0) -> Trap:
    source = _SOURCE.replace("{name}", name).replace("{functions}", functions)
    return Trap(
        name=name,
        axis="hook",
        label=name,
        source=source,
        is_honest=False,
        venue="v4",
        hook_flags=AFTER_INITIALIZE | flags,
        dynamic_fee=is_dynamic,
    )


TRAPS = (
    trap("RaisedFee", _TUNED.replace("{bound}", "")),
    trap("ReturnedFee", _OVERRIDDEN, flags=BEFORE_SWAP),
    trap("BoundedFee", _TUNED.replace("{bound}", _BOUND)),
    trap("FixedFee", _TUNED.replace("{bound}", ""), is_dynamic=False),
)


@pytest.fixture
def placed(chain: Chain) -> Iterator[dict[str, Placed]]:
    artifacts = chain.artifacts | compile_traps(TRAPS)
    yield {one.trap.name: one for one in place_traps(chain.node, chain.world, artifacts, TRAPS)}


@pytest.mark.parametrize(
    ("name", "can_rise"),
    [("RaisedFee", True), ("ReturnedFee", True), ("BoundedFee", False), ("FixedFee", False)],
)
async def test_a_fee_that_a_hook_can_raise_is_a_tax_that_can_change(
    chain: Chain, context: ChainContext, placed: dict[str, Placed], name: str, *, can_rise: bool
) -> None:
    token = placed[name].token
    report = await judge(context, token.address)
    assert report.static.tax_can_be_modified is can_rise
    powers = [power for power in report.powers if power.check == "tax_can_be_modified"]
    assert bool(powers) is can_rise
    key = pool_key(token.pool, token.address)
    tune = "tune((address,address,uint24,int24,address),uint24)"
    was_set = chain.send(keeper_of(chain.node), placed[name].home, tune, key, 900_000).success
    assert was_set is can_rise
